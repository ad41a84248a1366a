"""Which files are Cursor's, and which conversations they hold."""

import sqlite3
from collections.abc import Iterator, Sequence

from aix.importing import Candidate, Source
from aix_importers.cursor.database import MAGIC
from aix_importers.cursor.listing import list_sources
from aix_importers.cursor.permission_files import RULE_FILES, holds_rules
from aix_importers.cursor.stores import NAME as STORE_NAME
from aix_importers.cursor.stores import store_source
from aix_importers.cursor.tracking import NAME as TRACKING_NAME
from aix_importers.cursor.tracking import tracking_sources
from aix_importers.cursor.transcripts import SUFFIXES
from aix_importers.recognition import PROGRAM_FILES, Family, is_below_cursor_folder, may_hold_lines, recognise

_HEAD_BYTES = 4_096


def find_sources(files: Sequence[Candidate], importer: str) -> Iterator[Source]:
    """Go through the conversations in the files that are Cursor's, and the files with permission rules."""
    for file in files:
        if file.claimed_by not in (None, importer):
            continue
        name = file.name
        if name.endswith((".vscdb", ".db")):
            if file.head(len(MAGIC)) == MAGIC:
                yield from _in_database(file, name)
        elif name in RULE_FILES:
            if importer in (file.claimed_by, file.was_claimed_by) or holds_rules(file.head()):
                yield Source(file.path, may_hold_secrets=True)
        elif name.lower().endswith(SUFFIXES) and (file.claimed_by or _is_transcript(file, name.lower())):
            yield Source(file.path)


def _in_database(file: Candidate, name: str) -> Iterator[Source]:
    if name.endswith(".vscdb"):
        yield from _listed(file)
    elif name == STORE_NAME:
        store = store_source(file.path)
        if store is not None:
            yield store
    elif name == TRACKING_NAME:
        yield from tracking_sources(file.path)


def _listed(file: Candidate) -> list[Source]:
    try:
        return list(list_sources(file.path))
    except (sqlite3.Error, OSError):
        # Reading it will say what is wrong with it.
        return [Source(file.path, stamp=f"{file.size_bytes}:{file.mtime_ns}")]


def _is_transcript(file: Candidate, name: str) -> bool:
    """Whether a file is a transcript: by its folder, and by how it begins.

    All JSON lines there are transcripts, unless their records are those of another tool.
    """
    if not is_below_cursor_folder(file.path):
        return False
    if may_hold_lines(name):
        family = recognise(file.path).family
        is_unknown = family is None and file.size_bytes > 0 and name not in PROGRAM_FILES
        return is_unknown or family is Family.CURSOR
    head = file.head(_HEAD_BYTES).lstrip(b"\xef\xbb\xbf\0 \r\n\t")
    return head.startswith((b"user:", b"assistant:")) if name.endswith(".txt") else head.startswith(b"[")
