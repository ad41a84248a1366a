"""The keys and values of a database, of which some pages may be damaged.

A plain scan stops at the first bad page. Rows behind it are reached by their ids; a `.backup` beside the file stands in
for rows that cannot be read, for a table of conversations that cannot be, and for a database that cannot be opened.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from functools import lru_cache
from pathlib import Path
from typing import Self

from msgspec import Struct

from aix_importers.cursor.database import PYTHON_ERRORS, Database, as_bytes, error_text, opened, state_of, table_kinds
from aix_importers.cursor.key_tables import KeyTable, end_of, key_table, renamed_table

_ERRORS = (sqlite3.Error, *PYTHON_ERRORS)
_FIRST_ROW, _LAST_ROW = -(2**63), 2**63 - 1
_MOST_GAPS = 10_000
_LARGEST_CHECKED = 16 * 2**20
_MOST_CHECKS = 256
TABLE = "cursorDiskKV"
ITEMS = "ItemTable"
_PIECE = 5_000


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


class KeyValues(ExitStack):
    """The keys and values of a database."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self._backup = f"{path}.backup"
        self._spare: Database | None = None
        self._spare_table: KeyTable | None = None
        self._owners: dict[str, list[tuple[bytes, int, str]]] = {}
        self.is_damaged = False
        self.main_error: str | None = None
        """Why the backup is read in place of the database."""
        self.table_error: str | None = None
        """Why the table of conversations is that of the backup, in a sentence."""

    def __enter__(self) -> Self:
        try:
            self.database, kinds = self._open_main()
            self.tables = kinds.keys()
            self.items = key_table(self.database, ITEMS, kinds)
            self.disk = key_table(self.database, TABLE, kinds) or renamed_table(self.database, TABLE, kinds)
            self.disk_database, self._disk_path = self.database, self.path
            if self._spare is not None and (error := self._damage_of_table()):
                self.table_error = error
                self.disk, self.disk_database, self._disk_path = self._spare_table, self._spare, self._backup
            self._disk_state, self._state = state_of(self._disk_path), state_of(self.path)
            tables = filter(None, (self.disk, self.items))
            self._uses_index = {table.name: self.check(table).is_whole for table in tables}
        except BaseException:
            self.close()
            raise
        return self

    def _open_main(self) -> tuple[Database, dict[str, str]]:
        """Open the database, or its backup if that cannot be done; return its tables and views too."""
        self._open_spare()
        try:
            database = self.enter_context(opened(self.path))
            return database, table_kinds(database)
        except sqlite3.Error as error:
            spare, self._spare = self._spare, None
            if spare is None:
                raise
            self.main_error = error_text(error)
            self.path = self._backup
            return spare, table_kinds(spare)

    def _damage_of_table(self) -> str | None:
        """Return why the table of conversations cannot be read; nothing where it can, or was never there."""
        if self.disk is not None and (self.disk.source or not self.database.schema_error):
            return None if self.disk.source else self.disk.oddity
        error = self.database.schema_error
        return f"{TABLE} cannot be read: {error}." if error else None

    def _open_spare(self) -> None:
        if Path(self._backup).exists():
            with suppress(sqlite3.Error):
                spare = self.enter_context(opened(self._backup))
                self._spare_table = key_table(spare, TABLE, table_kinds(spare))
                if self._spare_table is not None and self._spare_table.source:
                    self._spare = spare

    def check(self, table: KeyTable) -> IndexCheck:
        """Return whether the index of a table can be relied upon."""
        if table is self.items:
            return check_index(self.database, table, self.path, self._state)
        return check_index(self.disk_database, table, self._disk_path, self._disk_state)

    def keys(self, prefix: str) -> Iterator[tuple[bytes, int]]:
        """Go through the keys that begin so, in their order, each with the id of its row."""
        table = self.disk
        if table is None or not table.source:
            return
        if self._uses_index[table.name]:
            try:
                yield from _keys(self.disk_database, table, prefix)
                return
            except sqlite3.DatabaseError:
                self.is_damaged = True
        # Some were given before the damage was met: whoever asked takes a key once.
        yield from self._keys_elsewhere(prefix)

    def owners(self, prefix: str) -> list[tuple[bytes, int, str]]:
        """Return what stands between the first two colons of keys that begin so, how often, and a mark of these rows.

        Only the index is read. A row that is rewritten gets a greater id, so that the mark changes.
        """
        if prefix not in self._owners:
            self._owners[prefix] = self._read_owners(prefix)
        return self._owners[prefix]

    def _read_owners(self, prefix: str) -> list[tuple[bytes, int, str]]:
        table = self.disk
        if table is None or not table.source:
            return []
        if self._uses_index[table.name]:
            try:
                given = {"low": prefix, "high": end_of(prefix), "at": len(prefix) + 1}
                rows = self.disk_database.rows(_owners_sql(table), given)
                mark = "" if table.has_rows else f":{self._disk_state}"
                return [(owner, number, f"{total}:{last}{mark}") for owner, number, total, last in rows if owner]
            except sqlite3.DatabaseError:
                self.is_damaged = True
        listed: dict[bytes, dict[bytes, int]] = {}
        for key, row in self.keys(prefix):
            owner, colon, _ = key[len(prefix.encode()) :].partition(b":")
            if colon and owner:
                listed.setdefault(owner, {})[key] = row
        return [(owner, len(keys), f"{sum(keys.values())}:{max(keys.values())}") for owner, keys in listed.items()]

    def salvaged(self) -> dict[bytes, int]:
        """Return all keys that can be reached without relying on the index, with the ids of their rows."""
        if self.disk is None or not self.disk.has_rows:
            return {}
        return salvaged_keys(self._disk_path, self._disk_state, self.disk.name)

    def _keys_elsewhere(self, prefix: str) -> list[tuple[bytes, int]]:
        low, high = (each.encode("utf-8", "surrogateescape") for each in (prefix, end_of(prefix)))
        found = {key: row for key, row in self.salvaged().items() if low <= key < high}
        if self._spare is not None and self._spare_table is not None:
            with suppress(sqlite3.DatabaseError):
                found = dict(_keys(self._spare, self._spare_table, prefix)) | found
        return sorted(found.items())

    def get(self, key: str) -> bytes | None:
        """Return the value of a key; nothing where the key is missing, or its value is NULL or lies on a bad page."""
        table = self.disk
        if table is None or not table.source:
            return None
        if self._uses_index[table.name]:
            try:
                return _get(self.disk_database, table, key)
            except sqlite3.DatabaseError:
                self.is_damaged = True
        found = self._salvage(key)
        return found if found is not None else self.spare(key)

    def spare(self, key: str) -> bytes | None:
        """Return what the backup has for a key."""
        if self._spare is None or self._spare_table is None:
            return None
        with suppress(sqlite3.DatabaseError):
            return _get(self._spare, self._spare_table, key)
        return None

    def _salvage(self, key: str) -> bytes | None:
        row = self.salvaged().get(key.encode("utf-8", "surrogateescape"))
        if row is None or self.disk is None:
            return None
        try:
            [(value,)] = self.disk_database.rows(f"select value from {self.disk.name} where rowid = ?", (row,))  # noqa: S608
        except (sqlite3.DatabaseError, ValueError):
            self.is_damaged = True
            return None
        return as_bytes(value)

    def item(self, key: str) -> bytes | None:
        """Return what the editor's own table of items has for a key."""
        found = self.item_row(key)
        return as_bytes(found[0]) if found else None

    def item_row(self, key: str) -> tuple[object] | None:
        """Return the row of an item, whose value may be NULL; nothing where there is no such row."""
        table = self.items
        if table is None or not table.source:
            return None
        for database, column in ((self.database, "key"), (self.database, "cast(+key as text)"), (self._spare, "key")):
            if database is None or (column == "key" and not self._uses_index[ITEMS]):
                continue
            with suppress(sqlite3.DatabaseError):
                found = database.rows(f"select value from {table.source} where {column} = ?", (key,))  # noqa: S608
                return found[-1] if found else None
            self.is_damaged = True
        return None


def _owners_sql(table: KeyTable) -> str:
    return f"""
        select substr(key, :at, instr(substr(key, :at), ':') - 1), count(*), sum({table.row}), max({table.row})
        from {table.source} where key >= :low and key < :high and instr(substr(key, :at), ':') > 1 group by 1
    """  # noqa: S608


def _get(database: Database, table: KeyTable, key: str) -> bytes | None:
    found = database.rows(f"select value from {table.source} where key = cast(? as text)", (given_key(key),))  # noqa: S608
    return as_bytes(found[-1][0]) if found else None


def given_key(key: str) -> str | bytes:
    """Return a key as a query takes it: as bytes where it is not UTF-8."""
    try:
        key.encode()
    except UnicodeEncodeError:
        return key.encode("utf-8", "surrogateescape")
    return key


def _keys(database: Database, table: KeyTable, prefix: str) -> Iterator[tuple[bytes, int]]:
    """Read keys from the index, a piece at a time: nobody who wants to write has to wait long."""
    low, high = given_key(prefix), given_key(end_of(prefix))
    while True:
        piece = database.rows(
            f"select key, {table.row} from {table.source} where key >= cast(? as text) and key < cast(? as text)"  # noqa: S608
            f" order by key limit {_PIECE}",
            (low, high),
        )
        yield from ((key, row) for key, row in piece if isinstance(key, bytes))
        if len(piece) < _PIECE:
            return
        low = given_key(piece[-1][0].decode("utf-8", "surrogateescape") + "\0")
