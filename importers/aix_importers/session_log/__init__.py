"""The importer of session logs: JSON lines, one `SessionLogEntry` each, and the programs they refer to."""

from aix_importers.session_log.importer import SessionLogImporter

__all__ = ["SessionLogImporter"]
