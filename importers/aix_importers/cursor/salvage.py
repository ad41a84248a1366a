"""Keys of a damaged table: those of its index and those of its rows, as far as either can be read."""

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache

from msgspec import Struct

from aix_importers.cursor.connections import PYTHON_ERRORS, error_text
from aix_importers.cursor.database import Database, opened
from aix_importers.cursor.key_tables import KeyTable

_ERRORS = (sqlite3.Error, *PYTHON_ERRORS)
_FIRST_ROW, _LAST_ROW = -(2**63), 2**63 - 1
_MOST_GAPS = 10_000
_LARGEST_CHECKED = 16 * 2**20
_MOST_CHECKS = 256


class IndexCheck(Struct, frozen=True):
    """Whether the index of a table has the keys of the table."""

    differing: int = 0
    """Keys that only the index has, or only the table."""
    odd_keys: int = 0
    """Keys that are bytes and not text: a search for a text does not find them."""
    error: str | None = None

    @property
    def is_whole(self) -> bool:
        """Whether every key can be found by the index."""
        return not self.differing and not self.odd_keys and self.error is None


_CHECKS: dict[tuple[str, str, str], IndexCheck] = {}
"""By path, state and table."""


def check_index(database: Database, table: KeyTable, path: str, state: str) -> IndexCheck:
    """Compare the index of a table with the table, unless the database is large; for each state it is done once."""
    if not table.has_rows:
        return IndexCheck()
    place = path, state, table.name
    if place not in _CHECKS:
        if len(_CHECKS) >= _MOST_CHECKS:
            _CHECKS.clear()
        try:
            _CHECKS[place] = _compared(database, table.name)
        except sqlite3.DatabaseError as error:
            _CHECKS[place] = IndexCheck(error=error_text(error))
    return _CHECKS[place]


def _compared(database: Database, name: str) -> IndexCheck:
    [(odd,)] = database.rows(f"select count(*) from {name} where key >= x''")  # noqa: S608
    if database.size_bytes > _LARGEST_CHECKED:
        return IndexCheck(odd_keys=odd)
    indexed = {key for (key,) in database.rows(f"select key from {name} order by key")}  # noqa: S608
    stored = {key for (key,) in database.rows(f"select key from {name} not indexed")}  # noqa: S608
    return IndexCheck(len(indexed ^ stored), odd)


@lru_cache(maxsize=2)  # one conversation after the other is read of one file
def salvaged_keys(path: str, state: str, name: str) -> dict[bytes, int]:  # noqa: ARG001
    """Return the keys of all rows of a table that can still be reached, with the ids of the rows."""
    found: dict[bytes, int] = {}
    with opened(path) as database:
        for sql in (f"select rowid, key from {name} order by key", f"select rowid, key from {name} order by key desc"):  # noqa: S608
            with suppress(*_ERRORS):
                for row, key in database.connection.execute(sql):
                    if isinstance(key, bytes):
                        found.setdefault(key, row)
        found.update(_stored(database, name))
    return found


def _stored(database: Database, name: str) -> Iterator[tuple[bytes, int]]:
    """Go through the rows of a table by their ids, and over gaps that cannot be read."""
    at = _FIRST_ROW
    for _ in range(_MOST_GAPS):
        try:
            rows = database.connection.execute(
                f"select rowid, key from {name} not indexed where rowid > ? order by rowid",  # noqa: S608
                (at,),
            )
            for row, key in rows:  # as a stream: rows before a bad page count
                at = max(at, row)
                if isinstance(key, bytes):
                    yield key, row
        except _ERRORS:
            behind = _behind_gap(database, name, at)
            if behind is None:
                return
            at = behind
        else:
            return


def _behind_gap(database: Database, name: str, at: int) -> int | None:
    """Return the least row id behind which a row can be read again, as far as bisection finds it."""
    step = 1
    while not _is_readable(database, name, at + step):
        step *= 2
        if at + step >= _LAST_ROW:
            return None
    low, high = at + step // 2, at + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _is_readable(database, name, middle) else (middle, high)
    return high


def _is_readable(database: Database, name: str, row: int) -> bool:
    try:
        database.rows(f"select key from {name} not indexed where rowid > ? order by rowid limit 1", (row,))  # noqa: S608
    except sqlite3.DatabaseError:
        return False
    return True
