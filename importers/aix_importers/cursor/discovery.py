"""Which files are Cursor's, and which conversations they hold."""

import sqlite3
from collections.abc import Iterator, Sequence

from aix.importing import Candidate, Source
from aix_importers.cursor.database import MAGIC
from aix_importers.cursor.listing import list_sources


def find_sources(files: Sequence[Candidate], importer: str) -> Iterator[Source]:
    """Go through the conversations in the files that are Cursor's."""
    for file in files:
        if file.claimed_by not in (None, importer):
            continue
        if file.name.endswith(".vscdb") and file.head(len(MAGIC)) == MAGIC:
            yield from _listed(file)


def _listed(file: Candidate) -> list[Source]:
    try:
        return list(list_sources(file.path))
    except (sqlite3.Error, OSError):
        # Reading it will say what is wrong with it.
        return [Source(file.path, stamp=f"{file.size_bytes}:{file.mtime_ns}")]
