"""Cursor's permission rules: what they decide about a call."""

from aix_importers.cursor.permissions.dialect import CursorRules

__all__ = ["CursorRules"]
