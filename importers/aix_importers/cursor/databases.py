"""The conversations and settings in a database of Cursor."""

import os
import sqlite3
from collections.abc import Iterator

from aix.importing import Source
from aix_importers.cursor.ai_tracking_db import tracking_sources
from aix_importers.cursor.copies import state_of
from aix_importers.cursor.default_paths import STORE_FILE, TRACKING_FILE
from aix_importers.cursor.keys import DATABASE, source_key
from aix_importers.cursor.listing import list_sources
from aix_importers.cursor.stores import store_source


def sources_or_problem(path: str) -> list[Source]:
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
    elif name == STORE_FILE:
        store = store_source(path)
        if store is not None:
            yield store
    elif name == TRACKING_FILE:
        yield from tracking_sources(path)
