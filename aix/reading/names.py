"""Names of sessions and turns as people type them, resolved to labels and ids.

Only columns of ids and names are read, never a text, so that a lookup is quick however much the ledger holds. The
other way, each session has a shortest name by which it is found.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING

from aix.errors import AmbiguousNameError, UnknownSessionError

if TYPE_CHECKING:
    import duckdb

TABLES_OF_SESSIONS = ("sessions", "session_aliases")
TABLES_OF_NAMES = (*TABLES_OF_SESSIONS, "turns", "threads")
NAMES_OF_SESSIONS = """
    select label as name, label from sessions
    union all select alias, session_label from session_aliases
    union all
    select regexp_extract(label, '[/~]([^/~]+)$', 1), label from sessions where regexp_matches(label, '[/~][^/~]+$')
"""
"""Every name of each session: its label, its aliases, and the end of a label that begins with another session's."""
_SESSION_LOOKUPS = (
    "select label from sessions where label = $1",
    "select session_label from session_aliases where alias = $1",
    f"select distinct label from ({NAMES_OF_SESSIONS}) where starts_with(name, $1) order by 1 limit 6",  # noqa: S608
)
_TURN_LOOKUPS = (
    "select id from turns where id = $1",
    "select turn_id from threads where thread_key = $1",
    "select id from turns where response_message_id = $1 order by 1 limit 6",
)
_TURN_PREFIX_LOOKUP = "select id from turns where starts_with(id, $1) order by 1 limit 6"
_SHORTEST_TURN_PREFIX = 4
_NEAR_SESSIONS = """
    select name from (select label as name from sessions union select alias from session_aliases)
    order by jaro_winkler_similarity(name, $1) desc, name limit 3
"""
_SHORTEST = 8


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


def short_names(names: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return for every session the shortest beginning of one of its names that means no other, not below 8 characters.

    The names are those of all sessions: name and label, labels and aliases.

    >>> short_names([("log:5b1f03ab-1", "A"), ("5b1f03ab-1", "A"), ("log:5b1f03ab-2", "B"), ("5b1f03ab-2", "B")])
    {'A': '5b1f03ab-1', 'B': '5b1f03ab-2'}
    """
    # Of all names of other sessions, one beside a run of names of one session has most in common with its members.
    runs = [(label, [name for name, _ in run]) for label, run in groupby(sorted(names), key=lambda pair: pair[1])]
    shortest: dict[str, str] = {}
    for place, (label, run) in enumerate(runs):
        before = runs[place - 1][1][-1] if place else ""
        after = runs[place + 1][1][0] if place + 1 < len(runs) else ""
        for name in run:
            needed = 1 + max(_common_length(name, before), _common_length(name, after))
            found = name[: max(needed, _SHORTEST)]
            shortest[label] = min(shortest.get(label, found), found, key=lambda text: (len(text), text))
    return shortest


def _common_length(one: str, other: str) -> int:
    for length, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return length
    return min(len(one), len(other))
