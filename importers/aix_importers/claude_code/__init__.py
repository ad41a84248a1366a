"""The importer of Claude Code: sessions, subagents and side calls, in JSON lines."""

from aix_importers.claude_code.importer import ClaudeCodeImporter

__all__ = ["ClaudeCodeImporter"]
