"""Every row of the ledger for an exporter: session by session and turn by turn, then the rows of no session.

A turn shared by several sessions comes once, with the session that owns it. Rows are fetched for many turns at a time:
as many as fit into a bounded amount of memory.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING

from aix.exporting import Row, RowsByTable, SessionRows
from aix.schema import TABLES
from aix.schema.extensions import IMPORT_TABLES
from aix.schema.sql import quote_name, quote_text
from aix.store.manifest import PRICE_TABLES
from aix.store.nodes import is_derived

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger

_SESSIONS_AT_A_TIME = 200
_TURNS_AT_A_TIME = 500
_CHARACTERS_AT_A_TIME = 8_000_000

_TURN_COLUMNS = {
    "turns": "id",
    "threads": "turn_id",
    "turn_context": "turn_id",
    "session_turns": "turn_id",
    "messages": "turn_id",
    "tool_calls": "turn_id",
    "requests": "turn_id",
    "compactions": "turn_id",
}
"""By table: the column that names the turn of a row."""
_DETAILS = {
    "message_facts": ("message_id", "messages"),
    "message_files": ("message_id", "messages"),
    "message_lints": ("message_id", "messages"),
    "message_codeblocks": ("message_id", "messages"),
    "tool_call_facts": ("call_id", "tool_calls"),
    "permission_decisions": ("call_id", "tool_calls"),
}
"""By table: the column that names the message or call of a row, and the table of that."""
_SESSION_COLUMNS = {"sessions": "label", "session_context": "label", "session_aliases": "session_label"}
_ORDERS = {
    "messages": '"sequence", id',
    "tool_calls": '"sequence", id',
    "requests": "seq nulls last, requested_at, id",
    "message_codeblocks": "idx",
}
_LONG_COLUMNS = {"threads": ("ancestry",)}
_MARKS = "inferred_values"
_LEFT_OUT = {*PRICE_TABLES, *(table.name for table in IMPORT_TABLES), "embeddings"}
"""Bookkeeping of this ledger, and what can be computed from its texts."""

_NO_TURN = "(turn_id is null or turn_id not in (select id from turns))"
_NO_SESSION = "(session_label is null or session_label not in (select label from sessions))"
_OWN_SESSIONS = """
select label from sessions where thread_id not in ({following})
  or label in (select session_label from v_turn_owner where turn_id not in ({following}))
order by created_at, label
"""
_LOGS = "select distinct session_label from session_turns where session_label in (select unnest($owners))"
# The turns of a session that is exported alone: those of its log, and those that lead to its head.
_TURNS_OF_ONE = """
select $label as session_label, turn_id from session_turns where session_label = $label
union select $label, turn_id from v_session_turns where session_label = $label
"""
_TURNS_OF_SESSIONS = "select session_label, turn_id from v_turn_owner where session_label in (select unnest($labels))"
_TURNS_OF_NONE = """
select null as session_label, t.id as turn_id from turns t
left join v_turn_owner o on o.turn_id = t.id
where (o.session_label is null or o.session_label not in (select label from sessions))
  and t.id not in ({following})
"""
_PLAN = """
with own as ({own}),
text_size as (
  select m.turn_id, sum(coalesce(f.text_chars, 0) + coalesce(f.thinking_chars, 0)) as characters
  from messages m join message_facts f on f.message_id = m.id
  where m.turn_id in (select turn_id from own) group by m.turn_id
),
call_size as (
  select c.turn_id, sum(coalesce(f.params_bytes, 0) + coalesce(f.result_bytes, 0)) as characters
  from tool_calls c join tool_call_facts f on f.call_id = c.id
  where c.turn_id in (select turn_id from own) group by c.turn_id
)
select own.session_label, own.turn_id, cast(coalesce(x.characters, 0) + coalesce(y.characters, 0) as bigint)
from own join turns t on t.id = own.turn_id left join sessions s on s.label = own.session_label
left join threads h on h.turn_id = t.id
left join text_size x on x.turn_id = t.id left join call_size y on y.turn_id = t.id
order by s.created_at, s.label, t.started_at, h.depth, t.id
"""
_MARKED_KEYS = """
select unnest(['turns', 'threads', 'turn_context', 'compactions']) as table_name, id as row_key, id as owner
from turns where {turns}
union all
select unnest(['messages', 'message_facts']), id, turn_id from messages where {rows}
union all
select unnest(['tool_calls', 'tool_call_facts', 'permission_decisions']), id, turn_id from tool_calls where {rows}
union all
select 'requests', id, turn_id from requests where {rows}
"""
_MARKED_SESSION_KEYS = f"""
select unnest(['sessions', 'session_context']) as table_name, label as row_key, label as owner
from sessions where {{sessions}}
union all
select 'session_aliases', alias, session_label from session_aliases where {{rows}}
union all
select 'requests', id, session_label from requests where {_NO_TURN} and {{rows}}
"""
_SELECTED = "in (select unnest($owners))"


class LedgerRows:
    """The rows of a ledger that an exporter gets, without sessions of turns that follow, or those of one session."""

    def __init__(self, ledger: "Ledger", following: str, label: str | None, change: Callable[[str, Row], Row]) -> None:
        self._ledger = ledger
        self._following = following
        self._label = label
        self._change = change
        """Makes a row of a table one that is given out."""

    def sessions(self) -> Iterator[SessionRows]:
        """Go through the sessions in the order in which they began, and then the turns of no session."""
        if self._label is not None:
            yield from self._sessions([self._label], _TURNS_OF_ONE, {"label": self._label})
            return
        labels = (label for (label,) in self._ledger.sql(_OWN_SESSIONS.format(following=self._following)))
        while some := list(islice(labels, _SESSIONS_AT_A_TIME)):
            yield from self._sessions(some, _TURNS_OF_SESSIONS, {"labels": some})
        of_none = _TURNS_OF_NONE.format(following=self._following)
        yield SessionRows({}, False, (rows for _, rows in self._turns(of_none, {})))

    def others(self, without: Iterable[str]) -> Iterator[tuple[str, Row]]:
        """Go through the rows that belong to no session, but for some tables."""
        if self._label is not None:
            return
        conversation = {*_TURN_COLUMNS, *_DETAILS, *_SESSION_COLUMNS, _MARKS}
        for name, condition in _stray_rows():
            yield from self._table(name, condition)
        for name, table in TABLES.items():
            if name not in {*conversation, *_LEFT_OUT, *without} and not is_derived(table):
                yield from self._table(name, "true")

    def _sessions(self, labels: list[str], own_turns: str, parameters: Mapping[str, object]) -> Iterator[SessionRows]:
        rows = self._rows_of_sessions(labels)
        logs = {label for (label,) in self._ledger.sql(_LOGS, {"owners": labels})}
        turns = groupby(self._turns(own_turns, parameters), itemgetter(0))
        current = next(turns, None)
        for label in labels:
            has_log = label in logs or self._label is not None
            if current is None or current[0] != label:
                yield SessionRows(rows[label], has_log, iter(()))
            else:
                yield SessionRows(rows[label], has_log, (own for _, own in current[1]))
                current = next(turns, None)

    def _rows_of_sessions(self, labels: Sequence[str]) -> Mapping[str, RowsByTable]:
        found: dict[str, dict[str, list[Row]]] = {label: {} for label in labels}
        for name, column in _SESSION_COLUMNS.items():
            self._fetch(
                found, name, f"select {column} as owner, {_columns(name)} from {name} where {column} {_SELECTED}"
            )
        condition = f"{_NO_TURN} and session_label {_SELECTED}"
        self._fetch(
            found, "requests", f"select session_label as owner, {_columns('requests')} from requests where {condition}"
        )
        keys = _MARKED_SESSION_KEYS.format(sessions=f"label {_SELECTED}", rows=f"session_label {_SELECTED}")
        self._fetch(found, _MARKS, _marks(keys))
        return found

    def _turns(self, own_turns: str, parameters: Mapping[str, object]) -> Iterator[tuple[str | None, RowsByTable]]:
        planned = self._ledger.sql(_PLAN.format(own=own_turns), dict(parameters))
        for some in _bounded(planned):
            rows = self._rows_of_turns([turn_id for _, turn_id in some])
            for label, turn_id in some:
                yield label, rows.pop(turn_id)

    def _rows_of_turns(self, turns: Sequence[str]) -> dict[str, RowsByTable]:
        found: dict[str, dict[str, list[Row]]] = {turn_id: {} for turn_id in turns}
        for name, column in _TURN_COLUMNS.items():
            condition = f"{column} {_SELECTED}"
            if name == "session_turns" and self._label is not None:
                condition += f" and session_label = {quote_text(self._label)}"
            self._fetch(found, name, f"select {column} as owner, {_columns(name)} from {name} where {condition}")
        for name, (column, holder) in _DETAILS.items():
            self._fetch(
                found,
                name,
                f"select h.turn_id as owner, {_columns(name, 'd')} from {name} d join {holder} h on h.id = d.{column}"
                f" where h.turn_id {_SELECTED}",
            )
        self._fetch(found, _MARKS, _marks(_MARKED_KEYS.format(turns=f"id {_SELECTED}", rows=f"turn_id {_SELECTED}")))
        return dict(found)

    def _fetch(self, found: dict[str, dict[str, list[Row]]], name: str, select: str) -> None:
        order = _ORDERS.get(name) or ", ".join(map(quote_name, TABLES[name].key))
        result = self._ledger.sql(f"select * from ({select}) order by {order}", {"owners": list(found)})
        columns = result.columns[1:]
        for owner, *values in result:
            row = dict(zip(columns, values, strict=True))
            alone = row if self._label is None else self._alone(name, row)
            found[owner].setdefault(name, []).append(self._change(name, alone))

    def _alone(self, table: str, row: Row) -> Row:
        """Return a row of a session that is exported alone, without links to what stays behind."""
        if table == "tool_calls" and row["spawned_session_label"] != self._label:
            return {**row, "spawned_session_label": None}
        if table == "sessions":
            return {**row, "parent_turn_id": None, "spawn_tool_call_id": None}
        return row

    def _table(self, name: str, condition: str) -> Iterator[tuple[str, Row]]:
        key = ", ".join(map(quote_name, TABLES[name].key))
        sql = f"select {_columns(name)} from {name} where {condition} order by {key}"
        result = self._ledger.sql(sql)
        for values in result:
            yield name, self._change(name, dict(zip(result.columns, values, strict=True)))


def _stray_rows() -> Iterator[tuple[str, str]]:
    """Go through tables of conversations, each with the condition of rows that no turn and no session has."""
    for name, column in _TURN_COLUMNS.items():
        if name == "requests":
            yield name, f"{_NO_TURN} and {_NO_SESSION}"
        elif name != "turns":
            yield name, f"{column} not in (select id from turns)"
    for name, (column, holder) in _DETAILS.items():
        yield name, f"{column} not in (select id from {holder} where turn_id in (select id from turns))"
    for name, column in _SESSION_COLUMNS.items():
        if name != "sessions":
            yield name, f"{column} not in (select label from sessions)"
    in_turns, in_sessions = "turn_id in (select id from turns)", "session_label in (select label from sessions)"
    keys = (
        f"{_MARKED_KEYS.format(turns='true', rows=in_turns)} union all"
        f" {_MARKED_SESSION_KEYS.format(sessions='true', rows=in_sessions)}"
    )
    yield _MARKS, f"(table_name, row_key) not in (select (table_name, row_key) from ({keys}))"


def _marks(keys: str) -> str:
    return (
        f"select k.owner, {_columns(_MARKS, 'i')} from {_MARKS} i"
        f" join ({keys}) k on k.table_name = i.table_name and k.row_key = i.row_key"
    )


def _columns(name: str, alias: str = "") -> str:
    prefix = f"{alias}." if alias else ""
    left_out = _LONG_COLUMNS.get(name, ())
    return ", ".join(f"{prefix}{quote_name(each)}" for each in TABLES[name].column_names if each not in left_out)


def _bounded(planned: Iterable[tuple[str | None, str, int]]) -> Iterator[list[tuple[str | None, str]]]:
    """Put turns together as long as their texts are not too long."""
    some: list[tuple[str | None, str]] = []
    characters = 0
    for label, turn_id, size in planned:
        if some and (len(some) == _TURNS_AT_A_TIME or characters + size > _CHARACTERS_AT_A_TIME):
            yield some
            some, characters = [], 0
        some.append((label, turn_id))
        characters += size
    if some:
        yield some
