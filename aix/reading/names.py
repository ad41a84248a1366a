"""Names of sessions and turns as people type them, resolved to labels and ids; ids of anything else.

Only columns of ids and names are read, never a text, so that a lookup is quick however much the ledger holds. The
other way, each session has a shortest name by which it is found.
"""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING

from aix.errors import (
    AmbiguousEndingError,
    AmbiguousIdError,
    AmbiguousNameError,
    UnknownIdError,
    UnknownSessionError,
    UnknownThingError,
)
from aix.query.views import create_library_views, library_views, with_foundations
from aix.schema.entities import NODES, VIEW_OF_NODES, entity_key, entity_tables
from aix.schema.model import Type
from aix.schema.sql import quote_name

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
SESSION_LOOKUPS = {
    "label": "select label from sessions where label = $1",
    "alias": "select session_label from session_aliases where alias = $1",
    "end of the label": f"select distinct label from ({NAMES_OF_SESSIONS}) where name = $1 order by 1 limit 6",  # noqa: S608
}
"""By the part of a session that a name can be: SQL that gives the labels of such sessions."""
SESSION_BEGINNING = f"select distinct label from ({NAMES_OF_SESSIONS}) where starts_with(name, $1) order by 1 limit 6"  # noqa: S608
TURN_LOOKUPS = {
    "id": "select id from turns where id = $1",
    "thread key": "select turn_id from threads where thread_key = $1",
    "answer's id": "select id from turns where response_message_id = $1 order by 1 limit 6",
}
"""By the part of a turn that a name can be: SQL that gives the ids of such turns."""
TURN_BEGINNING = "select id from turns where starts_with(id, $1) order by 1 limit 6"
SHORTEST_TURN_BEGINNING = 4
_OTHER_IDS = {word: table for word, table in entity_tables().items() if table.name not in ("sessions", "turns")}
"""Tables of other things that have an id, by the word for one."""
_CLAIMED = {"dag_events", "program_events"}
"""Tables whose rows have a second id, which their source gave them."""
KINDS_OF_TABLES = {table.name: word for word, table in entity_tables().items()}
TABLES_OF_IDS = (*TABLES_OF_NAMES, *(table.name for table in _OTHER_IDS.values()))
_NEAR_SESSIONS = """
    select name from (select label as name from sessions union select alias from session_aliases)
    order by jaro_winkler_similarity(name, $1) desc, name limit 3
"""
_NAMED_BY_PEOPLE = ("program", "node", "user", "agent", "conversation")
"""Things whose ids people know by heart; those of messages and events are too many to look for one that is near."""
_REFERENCE = re.compile(r"@\((.+)\)")
_CUT = "…"
_SHORTEST = 8
_LONGEST_WORD = 12
_DIGIT = re.compile(r"\d")


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
    """Return the label of a session by its label, an alias, or the beginning of either that no other session has.

    `…` and the end of a name stand for the session whose name a table shows so.
    """
    found = _look_up_session(connection, name)
    if found is None:
        raise UnknownSessionError(Kind.SESSION, name, _near_sessions(connection, name))
    return found


def find_session_or_turn(connection: "duckdb.DuckDBPyConnection", name: str) -> Named:
    """Return the session of that name, else the turn.

    A turn is found by its id, its thread key, the id of the message that answers it, or the beginning of its id.
    """
    label = _look_up_session(connection, name)
    if label is not None:
        return Named(Kind.SESSION, label)
    turn_id = _look_up_turn(connection, name)
    if turn_id is not None:
        return Named(Kind.TURN, turn_id)
    raise UnknownSessionError("session or turn", name, _near_sessions(connection, name))


def find_anything(connection: "duckdb.DuckDBPyConnection", name: str) -> tuple[str, str]:
    """Return the table and the key of the session or turn of that name, else of anything that has it as its id.

    `KIND:ID`, such as `program:ada`, says of which kind it is. Eight characters of an id or more are enough where no
    other id begins so. The id of a node is its own, or with its kind, as `Message/m-1`. `@(ID)`, as people refer to a
    program, is `program:ID`.
    """
    if reference := _REFERENCE.fullmatch(name):
        name = f"program:{reference[1]}"
    kind, _, key = name.partition(":")
    if kind in _OTHER_IDS and (found := _with_id(connection, kind, key) or _implied_node(connection, kind, key)):
        return _only(name, found)
    if kind in _OTHER_IDS and (begun := _with_beginning(connection, [kind], key)):
        return begun
    label = _look_up_session(connection, name)
    if label is not None:
        return "sessions", label
    turn_id = _look_up_turn(connection, name)
    if turn_id is not None:
        return "turns", turn_id
    found = [each for kind in _OTHER_IDS for each in _with_id(connection, kind, name)]
    if found:
        return _only(name, found)
    if begun := _with_beginning(connection, _OTHER_IDS, name):
        return begun
    if kind in _OTHER_IDS:
        raise UnknownIdError(kind, key, (_OTHER_IDS[kind].name,))
    raise UnknownThingError(name, _near_things(connection, name))


def _only(name: str, found: list[tuple[str, str]]) -> tuple[str, str]:
    if len(found) > 1:
        raise AmbiguousIdError(name, tuple(sorted(f"{KINDS_OF_TABLES[table]}:{key}" for table, key in found)))
    return found[0]


def _with_id(connection: "duckdb.DuckDBPyConnection", kind: str, key: str) -> list[tuple[str, str]]:
    """Return the table and id of each row of a kind that has the id: nodes of several kinds may."""
    table = _OTHER_IDS[kind]
    if not key or not is_text(key):
        return []
    own = quote_name(table.key[0])
    if table is NODES:
        lookups = [f"node_id = $1 or {entity_key(table)} = $1"]
    elif table.column(table.key[0]).type is Type.BIGINT:
        lookups = [f"{own} = try_cast($1 as bigint)"]
    else:
        lookups = [f"{own} = $1", *(["claimed_event_id = $1"] if table.name in _CLAIMED else [])]
    for lookup in lookups:
        select = f"select distinct {entity_key(table)} from {table.name} where {lookup} order by 1 limit 6"  # noqa: S608
        if found := connection.execute(select, [key]).fetchall():
            return [(table.name, str(each)) for (each,) in found]
    return []


def _with_beginning(connection: "duckdb.DuckDBPyConnection", kinds: Iterable[str], name: str) -> tuple[str, str] | None:
    """Return the table and id of the only row of these kinds whose id begins so; short beginnings find nothing."""
    beginning = name.rstrip(_CUT)
    if len(beginning) < _SHORTEST or not is_text(beginning):
        return None
    found: list[tuple[str, str]] = []
    for table in (_OTHER_IDS[kind] for kind in kinds):
        id_ = entity_key(table)
        own = "node_id" if table is NODES else quote_name(table.key[0])
        if table is not NODES and table.column(table.key[0]).type is Type.BIGINT:
            continue
        lookup = f"starts_with({own}, $1) or starts_with({id_}, $1)"
        select = f"select distinct {id_} from {table.name} where {lookup} order by 1 limit 6"  # noqa: S608
        found += [(table.name, str(each)) for (each,) in connection.execute(select, [beginning]).fetchall()]
    if len(found) > 1:
        raise AmbiguousNameError("id", name, tuple(f"{KINDS_OF_TABLES[table]}:{key}" for table, key in found))
    return found[0] if found else None


def _implied_node(connection: "duckdb.DuckDBPyConnection", kind: str, key: str) -> list[tuple[str, str]]:
    """Return the nodes of that id that events alone imply: these take longer to find than rows."""
    if kind != KINDS_OF_TABLES[NODES.name] or not key or not is_text(key):
        return []
    create_library_views(connection, with_foundations([VIEW_OF_NODES], library_views()))
    id_ = entity_key(NODES)
    select = f"select distinct {id_} from {VIEW_OF_NODES} where node_id = $1 or {id_} = $1 order by 1 limit 6"  # noqa: S608
    return [(NODES.name, each) for (each,) in connection.execute(select, [key]).fetchall()]


def _look_up_session(connection: "duckdb.DuckDBPyConnection", name: str) -> str | None:
    """Return the label of a session by a name, or by `…` and the end of one, as tables shorten names."""
    ending = name.lstrip(_CUT) if name.startswith(_CUT) else ""
    if not ending:
        return _look_up(connection, Kind.SESSION, name, (*SESSION_LOOKUPS.values(), SESSION_BEGINNING))
    names = connection.execute(NAMES_OF_SESSIONS).fetchall()
    shown = [label for label, short in short_names(names).items() if short.endswith(ending)]
    found = shown or sorted({label for whole, label in names if whole.endswith(ending)})
    if len(found) > 1:
        raise AmbiguousEndingError(Kind.SESSION, name, tuple(found))
    return found[0] if found else None


def _look_up_turn(connection: "duckdb.DuckDBPyConnection", name: str) -> str | None:
    by_beginning = (TURN_BEGINNING,) if len(name) >= SHORTEST_TURN_BEGINNING else ()
    return _look_up(connection, Kind.TURN, name, (*TURN_LOOKUPS.values(), *by_beginning))


def _look_up(connection: "duckdb.DuckDBPyConnection", kind: str, name: str, lookups: tuple[str, ...]) -> str | None:
    if not name or not is_text(name):  # the empty name is the beginning of every other
        return None
    for lookup in lookups:
        found = [key for (key,) in connection.execute(lookup, [name]).fetchall()]
        if len(found) > 1:
            raise AmbiguousNameError(kind, name, tuple(found))
        if found:
            return str(found[0])
    return None


def _near_sessions(connection: "duckdb.DuckDBPyConnection", name: str) -> tuple[str, ...]:
    text = name if is_text(name) else ""
    return tuple(near for (near,) in connection.execute(_NEAR_SESSIONS, [text]).fetchall())


def _near_things(connection: "duckdb.DuckDBPyConnection", name: str) -> tuple[str, ...]:
    tables = (_OTHER_IDS[word] for word in _NAMED_BY_PEOPLE)
    ids = " union ".join(
        f"select {quote_name('node_id' if table is NODES else table.key[0])} as name from {table.name}"  # noqa: S608
        for table in tables
    )
    names = f"select name from ({NAMES_OF_SESSIONS}) union {ids}"  # noqa: S608
    nearest = f"select name from ({names}) order by jaro_winkler_similarity(name, $1) desc, name limit 3"  # noqa: S608
    text = name if is_text(name) else ""
    return tuple(near for (near,) in connection.execute(nearest, [text]).fetchall())


def is_text(name: str) -> bool:
    """Whether a name is text that DuckDB takes."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def short_names(names: Iterable[tuple[str, str]], labels: Container[str] | None = None) -> dict[str, str]:
    """Return for every session the shortest beginning of one of its names that means no other, not below 8 characters.

    The names are those of all sessions: name and label, labels and aliases. With `labels`, only these get one. One of
    at most 12 characters without a digit stays whole. A name without the origin that the label begins with comes first,
    and none is cut within it.

    >>> short_names([("log:5b1f03ab-1", "A"), ("5b1f03ab-1", "A"), ("log:5b1f03ab-2", "B"), ("5b1f03ab-2", "B")])
    {'A': '5b1f03ab-1', 'B': '5b1f03ab-2'}
    >>> short_names([("agent-log:desk/run-1", "agent-log:desk/run-1"), ("run-1", "agent-log:desk/run-1")])
    {'agent-log:desk/run-1': 'run-1'}
    >>> short_names([("agent-log:travel-planner", "agent-log:travel-planner")])
    {'agent-log:travel-planner': 'agent-log:travel-p'}
    """
    if labels is not None:  # to look at all of them takes longer than many an answer
        names = list(names)
        least = {name[: _hidden(name, label) + _SHORTEST] for name, label in names if label in labels}
        names = [pair for pair in names if pair[0].startswith(tuple(least))]
    # Of all names of other sessions, one beside a run of names of one session has most in common with its members.
    runs = [(label, [name for name, _ in run]) for label, run in groupby(sorted(names), key=lambda pair: pair[1])]
    shortest: dict[str, tuple[bool, int, str]] = {}
    for place, (label, run) in enumerate(runs):
        if labels is not None and label not in labels:
            continue
        before = runs[place - 1][1][-1] if place else ""
        after = runs[place + 1][1][0] if place + 1 < len(runs) else ""
        for name in run:
            if name in (before, after) and name != label:  # it means two sessions
                continue
            hidden = _hidden(name, label)
            needed = 1 + max(_common_length(name, before), _common_length(name, after))
            is_whole = len(name) <= _LONGEST_WORD and not _DIGIT.search(name)
            found = name if is_whole else name[: max(needed, hidden + _SHORTEST)]
            rank = (hidden > 0, len(found), found)
            shortest[label] = min(shortest.get(label, rank), rank)
    return {label: found for label, (_, _, found) in shortest.items()}


def _hidden(name: str, label: str) -> int:
    """Return the length of the origin that a label begins with, where a name begins with it too; else 0."""
    origin = label[: label.find(":") + 1]
    return len(origin) if name.startswith(origin) else 0


def _common_length(one: str, other: str) -> int:
    """Return how many characters two names have in common at their beginnings."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[:middle] == other[:middle]:
            least = middle
        else:
            most = middle - 1
    return least
