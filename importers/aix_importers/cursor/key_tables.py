"""Keys of conversations, and the tables of keys and values that hold them, in Cursor's form and in others."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from urllib.parse import quote, unquote

from msgspec import Struct
from msgspec.structs import replace

from aix_importers.cursor.database import Database, error_text
from aix_importers.cursor.values import json_value

COMPOSER_PREFIX = "composerData:"
BUBBLE_PREFIX = "bubbleId:"
CONTEXT_PREFIX = "messageRequestContext:"
CHATS_ITEM = "workbench.panel.aichat.view.aichat.chatdata"
COMPOSERS_ITEM = "composer.composerData"
HEADERS_ITEM = "composer.composerHeaders"
SETTINGS_ITEM = "src.vs.platform.reactivestorage.browser.reactiveStorageServiceImpl.persistentStorage.applicationUser"
_PLAIN = "-_.~:@ "
KEY, VALUE = "key", "value"
_OF_CONVERSATIONS = (COMPOSER_PREFIX.encode(), BUBBLE_PREFIX.encode())
_MOST_SHOWN = 80
_MOST_JUDGED = 10_000
"""Rows by which the columns of keys and values are found."""
_LARGEST_SCANNED = 16 * 2**20
_MOST_WORK_OF_VIEW = 20
"""For counting the rows of a view, in millions of SQLite's instructions: some 0.2 s, and tens of thousands of rows."""


class SourceKind(StrEnum):
    """Kind of a source in a database, which its key begins with."""

    COMPOSER = "composer"
    INLINE = "inline"
    CHAT = "chat"
    SETTINGS = "settings"
    LEFTOVERS = "leftovers"
    STORE = "store"
    TRACKING = "tracking"
    DATABASE = "database"


def end_of(prefix: str) -> str:
    """Return the first key behind all that begin so.

    >>> end_of("bubbleId:")
    'bubbleId;'
    """
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)


def source_key(kind: SourceKind, session_id: str = "") -> str:
    r"""Return the key of a source; old ids hold line ends.

    >>> source_key(SourceKind.COMPOSER, "task-call_1\nfc_2"), parse_key("composer:task-call_1%0Afc_2")
    ('composer:task-call_1%0Afc_2', ('composer', 'task-call_1\nfc_2'))
    """
    return f"{kind}:{quote(session_id, safe=_PLAIN, errors='surrogatepass')}"


def parse_key(key: str) -> tuple[str, str]:
    """Return the kind of a source and the id of its conversation."""
    kind, _, session_id = key.partition(":")
    return kind, unquote(session_id, errors="surrogatepass")


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
    return None if kind is None else _table(database, name, is_view=kind == "view")


def renamed_table(database: Database, missing: str, kinds: Mapping[str, str]) -> KeyTable | None:
    """Return the first table, of any name, that has keys of conversations; None where no table has them."""
    for name, kind in sorted(kinds.items()):
        if not name.isprintable():
            continue
        written = '"{}"'.format(name.replace('"', '""'))
        table = _table(database, written, is_view=kind == "view")
        if not table.source:
            continue
        if _holds_conversations(database, table):
            shown = name[:_MOST_SHOWN]
            reason = f"The database has no table {missing}; {shown}, which has keys of conversations, was read."
            return replace(table, oddity=reason)
    return None


def _holds_conversations(database: Database, table: KeyTable) -> bool:
    with suppress(sqlite3.DatabaseError):
        sql = f"select 1 from {table.source} where key >= ? and key < ? limit 1"  # noqa: S608
        if database.rows(sql, (COMPOSER_PREFIX, end_of(COMPOSER_PREFIX))):
            return True
    if table.has_rows:  # its index may be damaged
        with suppress(sqlite3.DatabaseError):
            found = database.rows(f"select key from {table.name} not indexed limit {_MOST_JUDGED}")  # noqa: S608
            return any(isinstance(key, bytes) and key.startswith(_OF_CONVERSATIONS) for (key,) in found)
    return False


def _table(database: Database, name: str, *, is_view: bool) -> KeyTable:
    try:
        if not is_view and _is_plain(database, name):
            return KeyTable(name, name, "rowid")
        return _form(database, name, is_view=is_view)
    except sqlite3.DatabaseError as error:
        return KeyTable(name, oddity=f"{name} cannot be read: {error_text(error)}.")


def _is_plain(database: Database, name: str) -> bool:
    try:
        database.rows(f"select rowid, key, value from {name} limit 0")  # noqa: S608
    except sqlite3.OperationalError:
        return False
    return True


def _form(database: Database, name: str, *, is_view: bool) -> KeyTable:
    columns = [column.lower() for column in database.columns(f"select * from {name} limit 0")]  # noqa: S608
    if len(columns) < 2:
        return KeyTable(name, oddity=f"{name} cannot be read: it has {len(columns)} columns.")
    if is_view:  # it may take forever, or refer to what is gone
        database.rows(f"select count(*) from {name}", most_work=_MOST_WORK_OF_VIEW)  # noqa: S608
    if KEY in columns and VALUE in columns:
        oddity = f"{name} is a view and not a table; the rows that it shows were read." if is_view else None
        return KeyTable(name, name, oddity=oddity)
    numbered = ", ".join(f"c{number}" for number in range(len(columns)))
    rows = f"with t({numbered}) as (select * from {name})"  # noqa: S608
    key, value = _columns_of_conversations(database, rows, columns)
    source = f"({rows} select c{key} as key, c{value} as value from t)"  # noqa: S608
    if database.size_bytes > _LARGEST_SCANNED and not _has_index(database, source):
        reason = f"{name} is not read: it has other columns than Cursor's and no index, and the database is large."
        return KeyTable(name, oddity=reason)
    listed = ", ".join(columns)[:_MOST_SHOWN]
    named = (columns[place][:_MOST_SHOWN] for place in (key, value))
    return KeyTable(name, source, oddity=f"{name} has the columns {listed}; read as key and value: {', '.join(named)}.")


def _columns_of_conversations(database: Database, rows: str, columns: Sequence[str]) -> tuple[int, int]:
    """Return the places of keys and values: by their names, or else by what stands in them."""
    places = range(len(columns))
    keys = [columns.index(KEY)] if KEY in columns else places
    begin = [f"substr(c{place}, 1, {_MOST_SHOWN})" for place in places]
    found = database.rows(f"{rows} select {', '.join(begin)} from t limit {_MOST_JUDGED}")  # noqa: S608
    for key in keys:
        of_key = [row for row in found if isinstance(row[key], bytes) and row[key].startswith(_OF_CONVERSATIONS)]
        objects = [place for place in places if place != key and any(_is_object(row[place]) for row in of_key)]
        if objects:
            return key, columns.index(VALUE) if VALUE in columns else objects[0]
    return keys[0], columns.index(VALUE) if VALUE in columns else max(set(places) - {keys[0]})


def _is_object(value: object) -> bool:
    return isinstance(value, bytes) and (json_value(value) or b"").lstrip()[:1] == b"{"


def _has_index(database: Database, source: str) -> bool:
    """Whether a key is found without going through all rows."""
    plan = database.rows(f"explain query plan select 1 from {source} where key = ''")  # noqa: S608
    return any(b"SEARCH" in step for *_, step in plan)
