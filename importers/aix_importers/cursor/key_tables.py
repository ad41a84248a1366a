"""Tables of keys and values, in the form that Cursor gives them and in other forms."""

import re
import sqlite3
from collections.abc import Mapping
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from aix_importers.cursor.database import Database
from aix_importers.cursor.keys import COMPOSER_PREFIX, end_of

KEY, VALUE = "key", "value"
_PLAIN_NAME = re.compile("[A-Za-z_][A-Za-z_0-9]*")
_MOST_WORK_OF_VIEW = 20
"""For counting the rows of a view, in millions of SQLite's instructions: some 0.2 s, and tens of thousands of rows."""


class KeyTable(Struct, frozen=True):
    """How a table of keys and values is asked."""

    name: str
    source: str = ""
    """SQL that gives the columns `key` and `value`; empty where the table cannot be read."""
    row: str = "0"
    """SQL for the id of a row; 0 where rows have no ids."""
    oddity: str | None = None
    """How the table differs from Cursor's, in a sentence."""

    @property
    def has_rows(self) -> bool:
        """Whether rows have ids."""
        return self.row != "0"


def key_table(database: Database, name: str, kinds: Mapping[str, str]) -> KeyTable | None:
    """Return the form of a table; nothing where the database has no table or view of that name.

    `kinds` says of every name whether it is a table or a view.
    """
    kind = kinds.get(name) or next((kind for each, kind in kinds.items() if each.lower() == name.lower()), None)
    if kind is None:
        return None
    try:
        if kind == "table" and _is_plain(database, name):
            return KeyTable(name, name, "rowid")
        return _form(database, name, is_view=kind == "view")
    except sqlite3.DatabaseError as error:
        return KeyTable(name, oddity=f"{name} cannot be read: {error}.")


def _is_plain(database: Database, name: str) -> bool:
    try:
        database.rows(f"select rowid, key, value from {name} limit 0")  # noqa: S608
    except sqlite3.OperationalError:
        return False
    return True


def renamed_table(database: Database, missing: str, kinds: Mapping[str, str]) -> KeyTable | None:
    """Return another table of a database that holds the keys of conversations; nothing where there is none."""
    for name in sorted(kinds):
        table = key_table(database, name, kinds) if _PLAIN_NAME.fullmatch(name) else None
        if table is None or not table.source:
            continue
        low, high = COMPOSER_PREFIX, end_of(COMPOSER_PREFIX)
        sql = f"select 1 from {table.source} where key >= ? and key < ? limit 1"  # noqa: S608
        with suppress(sqlite3.DatabaseError):
            if database.rows(sql, (low, high)):
                reason = f"The database has no table {missing}; {name}, which has keys of conversations, was read."
                return replace(table, oddity=reason)
    return None


def _form(database: Database, name: str, *, is_view: bool) -> KeyTable:
    columns = [_lower(column) for _, column, *_ in database.rows(f"pragma table_info({name})")]
    if len(columns) < 2:
        return KeyTable(name, oddity=f"{name} cannot be read: it has {len(columns)} columns.")
    key = columns.index(KEY) if KEY in columns else 0
    value = columns.index(VALUE) if VALUE in columns else max(set(range(len(columns))) - {key})
    is_named = columns[key] == KEY and columns[value] == VALUE
    if is_view:  # it may take forever, or refer to what is gone
        database.rows(f"select count(*) from {name}", most_work=_MOST_WORK_OF_VIEW)  # noqa: S608
    oddity = f"{name} is a view and not a table; what it shows was read." if is_view else None
    if is_named:
        return KeyTable(name, name, oddity=oddity)
    numbered = ", ".join(f"c{number}" for number in range(len(columns)))
    rows = f"with t({numbered}) as (select * from {name})"  # noqa: S608
    key, value = _columns_of_conversations(database, rows, len(columns)) or (key, value)
    source = f"({rows} select c{key} as key, c{value} as value from t)"  # noqa: S608
    database.rows(f"select key, value from {source} limit 1")  # noqa: S608
    listed = ", ".join(columns)
    oddity = f"{name} has the columns {listed}: {columns[key]} was read as key, and {columns[value]} as value."
    return KeyTable(name, source, oddity=oddity)


def _columns_of_conversations(database: Database, rows: str, count: int) -> tuple[int, int] | None:
    """Return the places of keys and values by what stands in them; nothing where there are no keys of conversations."""
    ends = (COMPOSER_PREFIX, end_of(COMPOSER_PREFIX))
    for key in range(count):
        found = database.rows(f"{rows} select * from t where c{key} >= ? and c{key} < ? limit 1", ends)  # noqa: S608
        if found:
            others = [place for place in range(count) if place != key]
            return key, next((place for place in others if _is_object(found[0][place])), max(others))
    return None


def _is_object(value: object) -> bool:
    return isinstance(value, bytes) and value.lstrip()[:1] == b"{"


def _lower(name: object) -> str:
    written = name.decode("utf-8", "backslashreplace") if isinstance(name, bytes) else str(name)
    return written.lower()
