"""The importer of Claude Code: transcripts in JSON lines, their side files, and settings."""
