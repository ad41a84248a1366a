"""A table of keys and values, of which some pages may be damaged.

A plain scan stops at the first bad page. What lies behind it is reached by stepping over row ids; a `.backup` beside
the file stands in for rows that cannot be read.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Self

from aix_importers.cursor.copies import state_of
from aix_importers.cursor.database import Database, as_bytes, opened, table_names

TABLE = "cursorDiskKV"
_LONGEST_STEP = 64
_PIECE = 5_000
_OWNERS = f"""
select substr(key, :at, instr(substr(key, :at), ':') - 1), count(*), sum(rowid), max(rowid) from {TABLE}
where key >= cast(:low as text) and key < cast(:high as text) and instr(substr(key, :at), ':') > 1 group by 1
"""  # noqa: S608


class KeyValues:
    """The keys and values of a database."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._stack = ExitStack()
        self._spare: Database | None = None
        self.is_damaged = False

    def __enter__(self) -> Self:
        self.database = self._stack.enter_context(opened(self.path))
        try:
            self.tables = table_names(self.database)
        except sqlite3.DatabaseError:
            self._stack.close()
            raise
        backup = f"{self.path}.backup"
        if Path(backup).exists():
            with suppress(sqlite3.Error):
                spare = self._stack.enter_context(opened(backup))
                if TABLE in table_names(spare):
                    self._spare = spare
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def keys(self, prefix: str) -> Iterator[tuple[bytes, int]]:
        """Go through the keys that begin so, in their order, each with the id of its row."""
        if TABLE not in self.tables:
            return
        found: list[tuple[bytes, int]] = []
        try:
            yield from _keys(self.database, prefix)
        except sqlite3.DatabaseError:
            self.is_damaged = True
            found = self._keys_elsewhere(prefix)
        # Some were given before the damage was met: whoever asked takes a key once.
        yield from found

    def owners(self, prefix: str) -> list[tuple[bytes, int, str]]:
        """Return what stands between the first two colons of keys that begin so, how often, and a mark of these rows.

        Only the index is read. A row that is written anew gets a greater id, so that the mark changes.
        """
        if TABLE not in self.tables:
            return []
        low, high = prefix.encode(), _end_of(prefix)
        try:
            rows = self.database.rows(_OWNERS, {"low": low, "high": high, "at": len(prefix) + 1})
            return [(owner, number, f"{total}:{last}") for owner, number, total, last in rows if owner]
        except sqlite3.DatabaseError:
            self.is_damaged = True
        listed: dict[bytes, dict[bytes, int]] = {}
        for key, row in self.keys(prefix):
            owner, colon, _ = key[len(low) :].partition(b":")
            if colon and owner:
                listed.setdefault(owner, {})[key] = row
        return [(owner, len(keys), f"{sum(keys.values())}:{max(keys.values())}") for owner, keys in listed.items()]

    def _keys_elsewhere(self, prefix: str) -> list[tuple[bytes, int]]:
        if self._spare is not None:
            with suppress(sqlite3.DatabaseError):
                return list(_keys(self._spare, prefix))
        salvaged = _salvaged_keys(self.path, state_of(self.path))
        low, high = prefix.encode(), _end_of(prefix)
        ordered = sorted(key for key in salvaged if low <= key < high)
        return [(key, salvaged[key]) for key in ordered]

    def get(self, key: str) -> bytes | None:
        """Return the value of a key; nothing where there is none, or it is NULL, or lies on a bad page."""
        if TABLE not in self.tables:
            return None
        try:
            return _get(self.database, key)
        except sqlite3.DatabaseError:
            self.is_damaged = True
        return self.spare(key) if self._spare is not None else self._salvage(key)

    def spare(self, key: str) -> bytes | None:
        """Return what the backup has for a key."""
        if self._spare is None:
            return None
        with suppress(sqlite3.DatabaseError):
            return _get(self._spare, key)
        return None

    def _salvage(self, key: str) -> bytes | None:
        row = _salvaged_keys(self.path, state_of(self.path)).get(key.encode("utf-8", "surrogateescape"))
        if row is None:
            return None
        try:
            [(value,)] = self.database.rows(f"select value from {TABLE} where rowid = ?", (row,))  # noqa: S608
        except (sqlite3.DatabaseError, ValueError):
            return None
        return as_bytes(value)

    def item(self, key: str) -> bytes | None:
        """Return what the editor's own table of items has for a key."""
        if "ItemTable" not in self.tables:
            return None
        try:
            found = self.database.rows("select value from ItemTable where key = ?", (key,))
        except sqlite3.DatabaseError:
            self.is_damaged = True
            return None
        return as_bytes(found[0][0]) if found else None


def _get(database: Database, key: str) -> bytes | None:
    # As bytes: a key may be no UTF-8.
    given = key.encode("utf-8", "surrogateescape")
    found = database.rows(f"select value from {TABLE} where key = cast(? as text)", (given,))  # noqa: S608
    return as_bytes(found[0][0]) if found else None


def _end_of(prefix: str) -> bytes:
    """Return the first key behind all that begin so: prefixes end with a colon."""
    data = prefix.encode()
    return data[:-1] + bytes([data[-1] + 1])


def _keys(database: Database, prefix: str) -> Iterator[tuple[bytes, int]]:
    """Read keys from the index, a piece at a time: nobody who wants to write has to wait long."""
    low, high = prefix.encode(), _end_of(prefix)
    while True:
        piece = database.rows(
            f"select key, rowid from {TABLE} where key >= cast(? as text) and key < cast(? as text)"  # noqa: S608
            f" order by key limit {_PIECE}",
            (low, high),
        )
        yield from ((key, row) for key, row in piece if isinstance(key, bytes))
        if len(piece) < _PIECE:
            return
        low = piece[-1][0] + b"\0"


@lru_cache(maxsize=2)  # one conversation after the other is read of one file
def _salvaged_keys(path: str, state: str) -> dict[bytes, int]:  # noqa: ARG001
    """Return the keys of all rows that can still be reached, with the ids of their rows."""
    found: dict[bytes, int] = {}
    with opened(path) as database:
        connection = database.connection  # as a stream: what came before a bad page counts
        last = _last_row(connection)
        at, step = -1, 1
        while at <= last:
            try:
                rows = connection.execute(
                    f"select rowid, key from {TABLE} where rowid > ? order by rowid",  # noqa: S608
                    (at,),
                )
                for row, key in rows:
                    at, step = row, 1
                    if isinstance(key, bytes):
                        found[key] = row
                break
            except sqlite3.DatabaseError:
                at += step
                step = min(2 * step, _LONGEST_STEP)
    return found


def _last_row(connection: sqlite3.Connection) -> int:
    """Return the greatest id of a row, or one that is certainly greater."""
    with suppress(sqlite3.DatabaseError):
        [(last,)] = connection.execute(f"select max(rowid) from {TABLE}").fetchall()  # noqa: S608
        return int(last or 0)
    [(pages,)] = connection.execute("pragma page_count").fetchall()
    return int(pages) * _LONGEST_STEP
