"""Derived columns: what follows from the other rows of a family.

The SQL reads the tables `current_<table>`, which hold all rows of the families at hand, and says once more what
`aix.schema` describes. Nothing here depends on the order in which rows came.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain

import duckdb
import pyarrow as pa

from aix.derived.tree import LARGEST, Tree, Turn
from aix.ids import h63
from aix.schema import TABLES, Join
from aix.schema.arrow import arrow_schema

COLUMNS_READ = {
    "turns": ("id", "parent_turn_id", "turn_type", "started_at"),
    "threads": ("turn_id", "persona_id", "system_prompt_hash", "thread_key"),
    "turn_context": (
        *("turn_id", "continues_turn_id", "is_interrupted", "ended_at", "stated_model", "stated_provider"),
    ),
    "sessions": ("label", "thread_id", "status", "updated_at", "is_subagent", "task_status"),
    "session_turns": ("session_label", "turn_id"),
    "messages": ("id", "turn_id", "role", "created_at"),
    "message_facts": ("message_id", "position", "is_query", "is_response", "is_error"),
    "tool_calls": ("id", "turn_id", "tool_name", "sequence", "completed_at", "status", "result_json", "error"),
    "permission_decisions": ("call_id", "class", "raw_target", "outcome"),
    "requests": (
        *("id", "turn_id", "seq", "requested_at", "model", "provider"),
        *("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"),
    ),
    "compactions": ("turn_id", "summarized_through_turn_id"),
}
"""By table: the columns from which others follow."""
_LONG_TEXTS = ("result_json", "error")
"""Of these, nothing matters but whether there is one."""

DERIVED_TABLES = {table.name for table in TABLES.values() if any(column.join is Join.DERIVED for column in table)}
"""Tables with rows or columns that follow from other rows."""

_BATCH_BYTES = 8 * 2**20

_MESSAGES = """
create temp table derived_messages as
select m.place, m.id, m.turn_id, m.role, m.created_at,
  coalesce(f.is_error, false) as is_error,
  coalesce(f.is_query, m.role = 'user') as is_query,
  m.role = 'assistant' and coalesce(f.is_response, true) as is_response,
  row_number() over (partition by m.turn_id order by f.position nulls last, m.created_at, m.id) - 1 as sequence
from current_messages m left join current_message_facts f on f.message_id = m.id
"""

_TURN_MESSAGES = """
create temp table turn_messages as
select turn_id,
  bool_or(role = 'assistant') as is_answered,
  arg_max(id, sequence + case when is_response then 1000000000000 else 0 end)
    filter (where role = 'assistant') as response_message_id,
  coalesce(arg_max(is_error, sequence) filter (where role = 'assistant' or is_error), false) as ends_in_error,
  coalesce(arg_max(role, sequence) filter (where role in ('assistant', 'tool')) = 'tool', false) as ends_in_result,
  string_agg(cast(to_json(id) as varchar), ',' order by sequence) filter (where is_query) as queries,
  max(created_at) as last_at
from derived_messages group by turn_id
"""

_CALLS = """
create temp table turn_calls as
with calls as (
  select c.turn_id, c.id, c.tool_name, c.sequence, c.completed_at, d.class, d.raw_target,
    coalesce(d.outcome, case c.status when 'completed' then 'ran' when 'failed' then 'failed' end) as outcome,
    c.status in ('completed', 'failed') and (c.has_result_json or c.has_error) as is_resolved
  from current_tool_calls c left join current_permission_decisions d on d.call_id = c.id
),
uses as (
  select turn_id, min(sequence) as first_sequence, min(id) as first_id,
    '{"tool":' || to_json(tool_name) || ',"class":' || coalesce(to_json(class), 'null')
    || ',"target":' || coalesce(to_json(raw_target), 'null') || ',"n":' || count(*)
    || ',"ok":' || count(*) filter (where outcome = 'ran')
    || ',"failed":' || count(*) filter (where outcome = 'failed')
    || ',"denied":' || count(*) filter (where outcome like 'denied%' or outcome = 'not_granted')
    || ',"calls":[' || string_agg(cast(to_json(id) as varchar), ',' order by sequence, id) || ']}' as use
  from calls group by turn_id, tool_name, class, raw_target
),
used as (select turn_id, string_agg(use, ',' order by first_sequence, first_id) as uses from uses group by turn_id)
select c.turn_id, count(*) as calls, bool_or(not c.is_resolved) as has_open_call, max(c.completed_at) as last_at,
  any_value(u.uses) as uses
from calls c join used u on u.turn_id = c.turn_id group by c.turn_id
"""

_REQUESTS = """
create temp table turn_requests as
select turn_id,
  try_cast(sum(input_tokens) as bigint) as input_tokens,
  try_cast(sum(output_tokens) as bigint) as output_tokens,
  try_cast(sum(cache_read_tokens) as bigint) as cached_input_tokens,
  try_cast(sum(cache_write_tokens) as bigint) as cache_write_tokens,
  try_cast(sum(reasoning_tokens) as bigint) as reasoning_tokens,
  try_cast(sum(coalesce(input_tokens, 0)::hugeint + coalesce(output_tokens, 0) + coalesce(cache_read_tokens, 0)
    + coalesce(cache_write_tokens, 0)) filter (where coalesce(input_tokens, output_tokens, cache_read_tokens,
    cache_write_tokens) is not null) as bigint) as total_tokens,
  first(model order by seq desc nulls last, requested_at desc, id desc) filter (where model is not null) as model,
  case when count(model) > 0
    then first(provider order by seq desc nulls last, requested_at desc, id desc) filter (where model is not null)
    else first(provider order by seq desc nulls last, requested_at desc, id desc) filter (where provider is not null)
    end as provider
from current_requests where turn_id is not null group by turn_id
"""

_RELATIVES = """
create temp table turn_relatives as
with children as (
  select parent_turn_id as id, count(*) as children, count(*) filter (where turn_type = 'compaction') as compactions
  from current_turns where parent_turn_id is not null group by parent_turn_id
),
continuations as (
  select c.continues_turn_id as id, arg_min(t.id, (t.started_at, t.id)) as continued_by_turn_id
  from current_turn_context c join current_turns t on t.id = c.turn_id
  where c.continues_turn_id is not null group by c.continues_turn_id
),
tasks as (
  select thread_id as id, max(task_status) as task_status from current_sessions
  where is_subagent = 1 and task_status in ('completed', 'failed') group by thread_id
)
select t.id, coalesce(c.children, 0) as children, n.continued_by_turn_id, k.task_status,
  coalesce(c.compactions, 0) > 0 and n.id is not null as is_cut,
  coalesce(c.children, 0) - case when n.id is not null then coalesce(c.compactions, 0) else 0 end > 0 as is_followed
from current_turns t
left join children c on c.id = t.id left join continuations n on n.id = t.id left join tasks k on k.id = t.id
"""

# A turn is cut when a compaction came before its answer; the answer is then in the turn that continues it. A task that
# is known to have ended tells how the last turn of its subagent ended, which the subagent's own log may not show.
_TURNS = """
create temp table derived_turns as
with facts as (
  select t.place, t.id, t.started_at, t.turn_type, r.*exclude (id), q.*exclude (turn_id),
    coalesce(x.is_interrupted, false) as is_interrupted, x.ended_at, x.stated_model, x.stated_provider,
    coalesce(m.is_answered, false) as is_answered, coalesce(m.ends_in_error, false) as ends_in_error,
    coalesce(m.ends_in_result, false) as ends_in_result, m.response_message_id, m.queries,
    coalesce(c.calls, 0) as calls, coalesce(c.has_open_call, false) as has_open_call, c.uses,
    m.last_at as last_message_at, c.last_at as last_call_at
  from current_turns t join turn_relatives r on r.id = t.id
  left join current_turn_context x on x.turn_id = t.id left join turn_messages m on m.turn_id = t.id
  left join turn_calls c on c.turn_id = t.id left join turn_requests q on q.turn_id = t.id
),
seen as (
  select *, case
    when turn_type = 'compaction' then 'completed'
    when is_interrupted or ends_in_error then 'failed'
    when (is_followed or is_cut) and has_open_call then 'failed'
    when is_followed and not is_answered then 'failed'
    when is_followed or is_cut then 'completed'
    when not is_answered then 'pending'
    when has_open_call or ends_in_result then 'streaming'
    else 'completed' end as seen_status
  from facts
),
judged as (
  select *, case
    when seen_status not in ('pending', 'streaming') or task_status is null then seen_status
    when task_status = 'completed' and has_open_call then seen_status
    else task_status end as status
  from seen
)
select place, id, status,
  case when status in ('completed', 'failed')
    then greatest(ended_at, last_message_at, last_call_at, started_at) end as completed_at,
  coalesce(model, stated_model) as model, coalesce(provider, stated_provider) as provider,
  '[' || coalesce(uses, '') || ']' as permissions_used,
  input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, total_tokens,
  '[' || coalesce(queries, '') || ']' as query_message_ids,
  case when turn_type <> 'compaction' then response_message_id end as response_message_id,
  cast(children > 0 as bigint) as has_children, cast(calls as bigint) as tool_call_count
from judged
"""


@dataclass(frozen=True)
class Derived:
    """The derived columns of the tables that have some, in the order of their rows; and whole derived rows."""

    columns: dict[str, pa.Table]
    tree: Tree
    history: pa.RecordBatch
    stated_threads: dict[str, dict[str, object]]
    """By turn: what is said, not derived, of its thread."""


def _without_texts(rows: pa.Table) -> pa.Table:
    for name in _LONG_TEXTS:
        if name in rows.column_names:
            place = rows.column_names.index(name)
            rows = rows.set_column(place, f"has_{name}", rows.column(name).is_valid())
    return rows


def derive(connection: duckdb.DuckDBPyConnection, rows: Mapping[str, Iterable[pa.Table]]) -> Derived:
    """Compute all derived columns from rows, which are given by table, in pieces and each with its columns read.

    What is used up is let go of at once: of a long conversation it is much.
    """
    with _current(connection, rows, "messages", "message_facts"):
        connection.execute(_MESSAGES)
    connection.execute(_TURN_MESSAGES)
    messages = _fetch(connection, "select sequence from derived_messages order by place")
    connection.execute("drop table derived_messages")
    with _current(connection, rows, "tool_calls", "permission_decisions"):
        connection.execute(_CALLS)
    with _current(connection, rows, "requests"):
        connection.execute(_REQUESTS)
    with _current(connection, rows, "turns", "turn_context", "sessions", "session_turns", "threads", "compactions"):
        connection.execute(_RELATIVES)
        connection.execute(_TURNS)
        connection.execute("drop table turn_messages; drop table turn_calls; drop table turn_requests")
        tree = _read_tree(connection)
        columns = {
            "turns": _fetch(connection, "select * from derived_turns order by place"),
            "messages": messages,
            "turn_context": _turn_context(connection, tree),
            "compactions": _compactions(connection, tree),
        }
        connection.execute("drop table derived_turns; drop table turn_relatives")
        return Derived(columns, tree, _history(connection, tree), _stated_threads(connection))


@contextmanager
def _current(
    connection: duckdb.DuckDBPyConnection, rows: Mapping[str, Iterable[pa.Table]], *names: str
) -> Iterator[None]:
    """Let a connection see rows of tables as `current_<table>`, each row with its place among them.

    As Arrow and not as a view of files: every statement would open those again, which takes longer than the statement.
    """
    for name in names:
        empty = arrow_schema(TABLES[name]).empty_table().select(COLUMNS_READ[name])
        pieces = chain([empty], rows.get(name, ()))  # one by one: the texts of all would be too much
        table = pa.concat_tables([_without_texts(piece) for piece in pieces])
        numbers = pa.array(range(len(table)), pa.int64())
        connection.register(f"current_{name}", table.append_column("place", numbers))
    yield
    for name in names:
        connection.unregister(f"current_{name}")


def _stated_threads(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[str, object]]:
    rows = _fetch(connection, "select turn_id, persona_id, system_prompt_hash, thread_key from current_threads")
    return {row["turn_id"]: row for row in rows.to_pylist()}


def thread_rows(stated: dict[str, dict[str, object]], tree: Tree) -> Iterator[pa.RecordBatch]:
    """Go through the rows of `threads`, one per turn, in batches of bounded size."""
    rows: list[dict[str, object]] = []
    ends, texts = array("i", [0]), bytearray()
    for turn_id, ancestry in tree.ancestries():
        place = tree.places[turn_id]
        own = {"turn_id": turn_id, "total_tokens": place.total_tokens, "depth": place.depth}
        rows.append({**stated.pop(turn_id, {}), **own})
        texts += ancestry
        texts += b"]"
        ends.append(len(texts))
        if len(texts) > _BATCH_BYTES:
            yield _thread_batch(rows, ends, texts)
            rows, ends, texts = [], array("i", [0]), bytearray()
    yield _thread_batch(rows, ends, texts)
    yield pa.RecordBatch.from_pylist(list(stated.values()), arrow_schema(TABLES["threads"]))


def _thread_batch(rows: list[dict[str, object]], ends: "array[int]", texts: bytearray) -> pa.RecordBatch:
    """Return rows with their ancestries, which are given as an array of Arrow has them."""
    schema = arrow_schema(TABLES["threads"])
    place = schema.get_field_index("ancestry")
    ancestries = pa.Array.from_buffers(pa.string(), len(rows), [None, pa.py_buffer(ends), pa.py_buffer(texts)])
    return pa.RecordBatch.from_pylist(rows, schema).set_column(place, schema.field(place), ancestries)


def _fetch(connection: duckdb.DuckDBPyConnection, query: str) -> pa.Table:
    return connection.sql(query).to_arrow_table()


def _read_tree(connection: duckdb.DuckDBPyConnection) -> Tree:
    rows = connection.execute(
        "select t.id, t.parent_turn_id, t.started_at, t.turn_type = 'compaction', d.total_tokens"
        " from current_turns t join derived_turns d on d.id = t.id"
    ).fetchall()
    return Tree(Turn(*row) for row in rows)


def _turn_context(connection: duckdb.DuckDBPyConnection, tree: Tree) -> pa.Table:
    rows = connection.execute(
        "select c.turn_id, r.continued_by_turn_id from current_turn_context c"
        " left join turn_relatives r on r.id = c.turn_id order by c.place"
    ).fetchall()
    places = [tree.places.get(turn_id) for turn_id, _ in rows]
    return pa.table(
        {
            "root_turn_id": pa.array([place and place.root_id for place in places], pa.string()),
            "continued_by_turn_id": pa.array([continued for _, continued in rows], pa.string()),
        }
    )


def _compactions(connection: duckdb.DuckDBPyConnection, tree: Tree) -> pa.Table:
    rows = connection.execute(
        "select turn_id, summarized_through_turn_id from current_compactions order by place"
    ).fetchall()
    return pa.table({"turns_summarized": pa.array([_turns_summarized(tree, *row) for row in rows], pa.int64())})


def _turns_summarized(tree: Tree, turn_id: str, through: str) -> int | None:
    """Count the turns after the compaction before this one, through the last that the summary covers."""
    if through == turn_id or through not in tree.ancestors(turn_id):
        return None
    return max(0, tree.places[through].depth - tree.places[turn_id].last_compaction_depth)


def _history(connection: duckdb.DuckDBPyConnection, tree: Tree) -> pa.RecordBatch:
    own_turns: dict[str, set[str]] = {}
    for label, turn_id in connection.execute("select session_label, turn_id from current_session_turns").fetchall():
        own_turns.setdefault(label, set()).add(turn_id)
    rows = [
        {
            "id": h63("session_history", label, turn_id, changed_at),
            "session_label": label,
            "thread_id": turn_id,
            "changed_at": changed_at,
        }
        for label, head, status, updated_at in connection.execute(
            "select label, thread_id, status, updated_at from current_sessions"
        ).fetchall()
        for turn_id, changed_at in _movements(
            tree, head, updated_at, _heads(tree, head, own_turns.get(label, set()), is_active=status == "active")
        )
    ]
    return pa.RecordBatch.from_pylist(rows, arrow_schema(TABLES["session_history"]))


def _heads(tree: Tree, head: str, own_turns: set[str], *, is_active: bool) -> set[str]:
    """Return the turns that were the head once; a branch that was left behind has no log of its own, only its end."""
    return {*tree.ancestors(head), *own_turns} if is_active or own_turns else {head}


def _movements(tree: Tree, head: str, updated_at: int, heads: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Go through the heads a session had, each since its turn began, the last one being the head it has."""
    times = {turn_id: tree.turns[turn_id].started_at for turn_id in heads if turn_id in tree.turns}
    if head not in times:
        return
    yield from times.items()
    latest_other = max((time for turn_id, time in times.items() if turn_id != head), default=None)
    if latest_other is not None and latest_other >= times[head]:
        yield head, max(updated_at, min(latest_other + 1, LARGEST))
