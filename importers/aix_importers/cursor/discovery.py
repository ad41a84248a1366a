"""Which files are Cursor's, and which conversations they hold."""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from aix.importing import Candidate, Source
from aix_importers.cursor.copies import state_of
from aix_importers.cursor.database import MAGIC
from aix_importers.cursor.keys import DATABASE, source_key
from aix_importers.cursor.listing import list_sources
from aix_importers.cursor.permission_files import RULE_FILES, holds_rules
from aix_importers.cursor.places import is_place_of_editor
from aix_importers.cursor.stores import NAME as STORE_NAME
from aix_importers.cursor.stores import is_place_of_store, store_source
from aix_importers.cursor.tracking import NAME as TRACKING_NAME
from aix_importers.cursor.tracking import tracking_sources
from aix_importers.cursor.transcripts import SUFFIXES
from aix_importers.cursor.workspaces import DATABASE as WORKSPACE_DATABASE
from aix_importers.recognition import (
    CURSOR_FOLDER,
    PROGRAM_FILES,
    Family,
    is_below_cursor_folder,
    may_hold_lines,
    recognise,
)

_HEAD_BYTES = 4_096
_SETTINGS_BYTES = 2**20


def find_sources(files: Sequence[Candidate], importer: str) -> Iterator[Source]:
    """Go through the conversations in the files that are Cursor's, and the files with permission rules."""
    for file in files:
        if file.claimed_by not in (None, importer):
            continue
        name = file.name
        if name.endswith((".vscdb", ".db")):
            if file.head(len(MAGIC)) == MAGIC or _is_place_of_database(file.path, name):
                yield from _isolated(file.path)
        elif name in RULE_FILES:
            if importer in (file.claimed_by, file.was_claimed_by) or holds_rules(file.head(_SETTINGS_BYTES)):
                yield Source(file.path, may_hold_secrets=True)
        elif name.lower().endswith(SUFFIXES) and (file.claimed_by or _is_transcript(file, name.lower())):
            yield Source(file.path)


def _is_place_of_database(path: str, name: str) -> bool:
    """Whether a file that is not a database lies where Cursor keeps one."""
    if name == WORKSPACE_DATABASE:
        return is_place_of_editor(path)
    return (name == STORE_NAME and is_place_of_store(path)) or name == TRACKING_NAME


def _isolated(path: str) -> list[Source]:
    """Return the sources in a database; if it cannot be read, one that becomes a problem, so that it hides no other."""
    try:
        return list(database_sources(path))
    except (sqlite3.Error, OSError):
        return [Source(path, source_key(DATABASE), stamp=state_of(path), may_hold_secrets=True)]


def database_sources(path: str) -> Iterator[Source]:
    """Go through the conversations and settings in a database.

    Raises:
        sqlite3.Error: It is damaged, or not a database.
        OSError: It, or a file beside it, cannot be read.
    """
    name = os.path.basename(path)  # noqa: PTH119
    if name.endswith(".vscdb"):
        yield from list_sources(path)
    elif name == STORE_NAME:
        store = store_source(path)
        if store is not None:
            yield store
    elif name == TRACKING_NAME:
        yield from tracking_sources(path)


def _is_transcript(file: Candidate, name: str) -> bool:
    """Whether a file is a transcript: by its folder, and by how it begins.

    All files where Cursor keeps transcripts are its own, unless their records are those of another tool.
    """
    if not is_below_cursor_folder(file.path):
        return False
    if may_hold_lines(name):
        family = recognise(file.path).family
        return family is Family.CURSOR or (family is None and name not in PROGRAM_FILES)
    head = file.head(_HEAD_BYTES).lstrip(b"\xef\xbb\xbf\0 \r\n\t")
    is_recognised = head.startswith((b"user:", b"assistant:") if name.endswith(".txt") else b"[")
    return is_recognised or _is_place_of_transcript(file.path)


def _is_place_of_transcript(path: str) -> bool:
    """Whether a file lies just where Cursor keeps transcripts, not only somewhere below that folder."""
    *_, third, second, folder, _name = ("", "", "", *Path(path).parts)
    return CURSOR_FOLDER in (folder, second) or (third == CURSOR_FOLDER and folder == "subagents")
