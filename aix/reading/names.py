"""Names of sessions and turns as people type them, resolved to labels and ids.

Only columns of ids and names are read, never a text, so that a lookup is quick however much the ledger holds.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from aix.errors import AmbiguousNameError, UnknownSessionError

if TYPE_CHECKING:
    import duckdb

TABLES_OF_SESSIONS = ("sessions", "session_aliases")
TABLES_OF_NAMES = (*TABLES_OF_SESSIONS, "turns", "threads")
_SESSION_LOOKUPS = (
    "select label from sessions where label = $1",
    "select session_label from session_aliases where alias = $1",
    """
    select label from sessions where starts_with(label, $1)
    union select session_label from session_aliases where starts_with(alias, $1)
    order by 1 limit 5
    """,
)
_TURN_LOOKUPS = (
    "select id from turns where id = $1",
    "select turn_id from threads where thread_key = $1",
    "select id from turns where response_message_id = $1 order by 1 limit 5",
)
_TURN_PREFIX_LOOKUP = "select id from turns where starts_with(id, $1) order by 1 limit 5"
_SHORTEST_TURN_PREFIX = 4
_NEAR_SESSIONS = """
    select name from (select label as name from sessions union select alias from session_aliases)
    order by jaro_winkler_similarity(name, $1) desc, name limit 3
"""


class Kind(StrEnum):
    """The kinds of things that a name can stand for."""

    SESSION = "session"
    TURN = "turn"


@dataclass(frozen=True)
class Named:
    """The session (by label) or turn (by id) that a name stands for."""

    kind: Kind
    key: str


def find_session(connection: "duckdb.DuckDBPyConnection", name: str) -> str:
    """Return the label of a session by its label, an alias, or the beginning of either that no other session has."""
    found = _look_up(connection, Kind.SESSION, name, _SESSION_LOOKUPS)
    if found is None:
        raise UnknownSessionError(Kind.SESSION, name, _near_sessions(connection, name))
    return found


def find_session_or_turn(connection: "duckdb.DuckDBPyConnection", name: str) -> Named:
    """Return the session of that name, else the turn.

    A turn is found by its id, its thread key, the id of the message that answers it, or the beginning of its id.
    """
    label = _look_up(connection, Kind.SESSION, name, _SESSION_LOOKUPS)
    if label is not None:
        return Named(Kind.SESSION, label)
    turn_id = _look_up_turn(connection, name)
    if turn_id is not None:
        return Named(Kind.TURN, turn_id)
    raise UnknownSessionError("session or turn", name, _near_sessions(connection, name))


def _look_up_turn(connection: "duckdb.DuckDBPyConnection", name: str) -> str | None:
    by_prefix = (_TURN_PREFIX_LOOKUP,) if len(name) >= _SHORTEST_TURN_PREFIX else ()
    return _look_up(connection, Kind.TURN, name, (*_TURN_LOOKUPS, *by_prefix))


def _look_up(connection: "duckdb.DuckDBPyConnection", kind: Kind, name: str, lookups: tuple[str, ...]) -> str | None:
    if not name or not _is_text(name):  # the empty name is the beginning of every other
        return None
    for lookup in lookups:
        found = [key for (key,) in connection.execute(lookup, [name]).fetchall()]
        if len(found) > 1:
            raise AmbiguousNameError(kind, name, tuple(found))
        if found:
            return str(found[0])
    return None


def _near_sessions(connection: "duckdb.DuckDBPyConnection", name: str) -> tuple[str, ...]:
    text = name if _is_text(name) else ""
    return tuple(near for (near,) in connection.execute(_NEAR_SESSIONS, [text]).fetchall())


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
