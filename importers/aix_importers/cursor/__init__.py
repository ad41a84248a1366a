"""The importer of Cursor: chats and agents of the editor and of its command line, of every storage generation."""

from aix_importers.cursor.importer import CursorImporter

__all__ = ["CursorImporter"]
