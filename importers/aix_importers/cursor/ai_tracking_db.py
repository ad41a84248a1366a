"""The database in which Cursor counts lines of code: it names conversations, and the models that wrote for them."""

import sqlite3
from collections.abc import Iterator
from hashlib import blake2b

from msgspec import Struct

from aix.importing import Source
from aix_importers.cursor.database import Database, opened, table_names
from aix_importers.cursor.key_tables import SourceKind, source_key
from aix_importers.cursor.records import known_model


class Tracked(Struct, frozen=True, gc=False):
    """Facts that the database notes about a conversation."""

    title: str | None = None
    model: str | None = None


def tracking_sources(path: str) -> Iterator[Source]:
    """Go through the conversations that the database names.

    Raises:
        sqlite3.Error: It cannot be read.
    """
    with opened(path) as database:
        for session_id, tracked in _tracked(database, None).items():
            stamp = blake2b(repr(tracked).encode("utf-8", "replace"), digest_size=16).hexdigest()
            yield Source(path, source_key(SourceKind.TRACKING, session_id), stamp=stamp)


def read_tracked(path: str, session_id: str) -> Tracked:
    """Return what is noted of a conversation.

    Raises:
        sqlite3.Error: The database cannot be read.
    """
    with opened(path) as database:
        return _tracked(database, session_id).get(session_id, Tracked())


def _tracked(database: Database, session_id: str | None) -> dict[str, Tracked]:
    if database.schema_error:
        raise sqlite3.DatabaseError(database.schema_error)
    tables = table_names(database)
    found: dict[str, Tracked] = {}
    if "ai_code_hashes" in tables:
        for name, model in _rows(database, "ai_code_hashes", ("conversationId", "max(model)"), session_id):
            if written := _text(name):
                found[written] = Tracked(None, known_model(_text(model)))
    if "conversation_summaries" in tables:
        listed = ("conversationId", "max(title)", "max(model)")
        for name, title, model in _rows(database, "conversation_summaries", listed, session_id):
            if written := _text(name):
                before = found.get(written, Tracked())
                found[written] = Tracked(_text(title), known_model(_text(model)) or before.model)
    return found


def _rows(
    database: Database, table: str, columns: tuple[str, ...], session_id: str | None
) -> Iterator[tuple[object, ...]]:
    only = "" if session_id is None else " and conversationId = ?"
    given = () if session_id is None else (session_id,)
    sql = f"select {', '.join(columns)} from {table} where conversationId <> ''{only} group by conversationId"  # noqa: S608
    try:
        yield from database.rows(sql, given)
    except sqlite3.OperationalError:  # older versions have no column for the model
        if "max(model)" in columns:
            without = tuple("null" if column == "max(model)" else column for column in columns)
            yield from _rows(database, table, without, session_id)


def _text(value: object) -> str | None:
    return value.decode("utf-8", "replace") or None if isinstance(value, bytes) else None
