"""Transcripts fetched from a ledger, a few turns at a time.

A session may have thousands of turns and megabytes in one result. So the sizes come first; then turns are fetched in
batches of bounded size, each text up to a limit.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aix.output.transcript.model import Call, Compaction, Cost, Excerpt, File, Header, Message, Subagent, Tokens, Turn
from aix.query.packs import find_query
from aix.reading.conversation import PLACES_OF_SESSION
from aix.reading.names import Kind

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger

WHOLE = 2**32 - 1
"""A limit that no text of DuckDB exceeds."""
ALL = slice(None)
"""All turns of a session."""
_BATCH_BYTES = 4 * 2**20
_BATCH_TURNS = 2_000
_NO_COST = Cost(None, None, 0)
"""The cost of a turn without requests."""
_TURNS = """
    select t.id, t.turn_type, t.status, case when i.row_key is null then t.started_at end as started_at,
      case when i.row_key is null then t.completed_at end as completed_at, t.model, t.input_tokens, t.output_tokens,
      t.cached_input_tokens, t.cache_write_tokens, t.total_tokens, t.tool_call_count, t.workspace_path,
      coalesce(c.is_interrupted, false) as is_interrupted
    from turns t left join turn_context c on c.turn_id = t.id
    left join inferred_values i
      on i.table_name = 'turns' and i.row_key = t.id and i.column_name = 'started_at' and i.basis = 'undated'
    where t.id in (select unnest($turns))
"""
_MESSAGES = """
    select m.turn_id, m.id, m.role, m.source, m.created_at, coalesce(f.is_error, false) as is_error,
      left(m.content, $limit) as content, length(m.content) as content_characters,
      left(m.thinking, $limit) as thinking, length(m.thinking) as thinking_characters
    from messages m left join message_facts f on f.message_id = m.id
    where m.turn_id in (select unnest($turns))
    order by m.turn_id, m.sequence, m.id
"""
_HAS_CHATS = "select 1 from chat_participants limit 1"
_AUTHORS = """
    select message_id, author_name from v_chat_messages where turn_id in (select unnest($turns))
"""
_CALLS = """
    select c.turn_id, c.message_id, c.id, c.tool_name, c.status, c.started_at, c.completed_at,
      left(c.params_json, $limit) as params, length(c.params_json) as params_characters,
      left(c.result_json, $limit) as result, length(c.result_json) as result_characters,
      left(c.error, $limit) as error, length(c.error) as error_characters,
      c.spawned_session_label,
      case when starts_with(d.outcome, 'denied_') and not coalesce(d.is_inferred, false) then true end as is_denied
    from tool_calls c left join permission_decisions d on d.call_id = c.id
    where c.turn_id in (select unnest($turns))
    order by c.turn_id, c.sequence, c.started_at, c.id
"""
_FILES = """
    select f.message_id, f.kind, f.file_path, f.line_start, f.line_end
    from message_files f join messages m on m.id = f.message_id
    where m.turn_id in (select unnest($turns))
    order by f.message_id, f.kind, f.file_path, f.line_start
"""
_SUBAGENTS = """
    select parent_turn_id as turn_id, label, spawn_tool_call_id, task_description
    from sessions
    where parent_turn_id in (select unnest($turns))
    order by created_at, label
"""
_COMPACTIONS = """
    select turn_id, left(summary, $limit) as summary, length(summary) as summary_characters,
      tokens_before, tokens_after, turns_summarized, "trigger"
    from compactions
    where turn_id in (select unnest($turns))
"""
_SIZES = """
    select turn_id, cast(sum(size) as bigint) as size from (
      select turn_id, least(coalesce(strlen(content), 0), $limit) + least(coalesce(strlen(thinking), 0), $limit) as size
      from messages where turn_id in (select unnest($turns))
      union all
      select turn_id, least(coalesce(strlen(params_json), 0), $limit) + least(coalesce(strlen(result_json), 0), $limit)
        + least(coalesce(strlen(error), 0), $limit)
      from tool_calls where turn_id in (select unnest($turns))
    ) group by turn_id
"""
_SUMS_OF_COST = """
    sum(r.cost_usd) as cost_usd, sum(r.cost_estimated_usd) as cost_estimated_usd,
    count(case when r.has_usage and r.cost_usd is null then 1 end) as unpriced_requests
"""
_COSTS = f"""
    select r.turn_id, {_SUMS_OF_COST} from v_requests r
    where r.turn_id in (select unnest($turns)) group by r.turn_id
"""  # noqa: S608 - made of the text above
_COST_OF_SUBAGENTS = f"""
    select {_SUMS_OF_COST}
    from v_subagents d
    join v_turn_owner o on o.session_label = d.session_label
    join v_requests r on r.turn_id = o.turn_id
    where d.ancestor_label = $label
"""  # noqa: S608

_Row = dict[str, Any]


@dataclass(frozen=True)
class Transcript:
    """A session or a single turn, ready to be gone through once."""

    header: Header | None
    """None for a single turn, which may stand in several sessions."""
    turns: Iterator[Turn]


def read_transcript(ledger: "Ledger", name: str, *, limit: int = WHOLE, part: slice = ALL) -> Transcript:
    """Read the session or turn of that name, each text up to a limit, and of a session a part of its turns."""
    named = ledger.find(name)
    if named.kind is Kind.TURN:
        depth = ledger.own_sql("select depth from threads where turn_id = $1", [named.key]).rows()
        return Transcript(None, read_turns(ledger, [((depth[0][0] if depth else None) or 1, named.key)], limit))
    places = [(place, turn_id) for place, turn_id in ledger.own_sql(PLACES_OF_SESSION, [named.key])]
    return Transcript(_read_header(ledger, named.key), read_turns(ledger, places[part], limit))


def _read_header(ledger: "Ledger", label: str) -> Header:
    sessions = find_query("overview/sessions").sql
    [row] = ledger.own_sql(f"select * from (\n{sessions}\n) where label = $label", {"label": label}).dicts()  # noqa: S608
    return Header(
        **_picked(row, "label", "title", "origin", "project", "workspace_path", "parent_session_label"),
        **_picked(row, "created_at", "updated_at", "status", "turns", "failed_turns", "models"),
        tokens=_tokens_of(row),
        cost=_cost_of(row),
        subagent_cost=_cost_of_subagents(ledger, label),
    )


def _cost_of_subagents(ledger: "Ledger", label: str) -> Cost | None:
    if not ledger.own_sql("select 1 from sessions where parent_session_label = $1 limit 1", [label]).rows():
        return None
    [row] = ledger.own_sql(_COST_OF_SUBAGENTS, {"label": label}).dicts()
    return _cost_of(row)


def read_turns(ledger: "Ledger", places: Sequence[tuple[int, str]], limit: int) -> Iterator[Turn]:
    """Go through turns, given by their place and id, each text up to a limit."""
    turn_ids = [turn_id for _, turn_id in places]
    sizes = dict(ledger.own_sql(_SIZES, {"turns": turn_ids, "limit": limit}).rows()) if turn_ids else {}
    priced = ledger.own_sql(_COSTS, {"turns": turn_ids}).dicts() if turn_ids else []
    costs = {row["turn_id"]: _cost_of(row) for row in priced}
    for batch in _batches(places, sizes):
        yield from _Batch(ledger, {turn_id: place for place, turn_id in batch}, limit, costs).turns()


def _batches(places: Sequence[tuple[int, str]], sizes: Mapping[str, int]) -> Iterator[list[tuple[int, str]]]:
    batch: list[tuple[int, str]] = []
    held = 0
    for place, turn_id in places:
        size = sizes.get(turn_id, 0)
        if batch and (held + size > _BATCH_BYTES or len(batch) == _BATCH_TURNS):
            yield batch
            batch, held = [], 0
        batch.append((place, turn_id))
        held += size
    if batch:
        yield batch


class _Batch:
    """A few turns, each with everything that belongs to it."""

    def __init__(self, ledger: "Ledger", numbers: Mapping[str, int], limit: int, costs: Mapping[str, Cost]) -> None:
        wanted = {"turns": list(numbers)}
        limited = wanted | {"limit": limit}
        self._numbers = numbers
        self._costs = costs
        self._turns = ledger.own_sql(_TURNS, wanted).dicts()
        self._messages = _grouped(ledger.own_sql(_MESSAGES, limited).dicts(), "turn_id")
        # The view stands on many others, and most ledgers have no chats.
        has_chats = bool(ledger.own_sql(_HAS_CHATS).rows())
        self._authors: dict[str, str | None] = dict(ledger.own_sql(_AUTHORS, wanted).rows()) if has_chats else {}
        self._calls = _grouped(ledger.own_sql(_CALLS, limited).dicts(), "turn_id")
        self._files = _grouped(ledger.own_sql(_FILES, wanted).dicts(), "message_id")
        self._subagents = _grouped(ledger.own_sql(_SUBAGENTS, wanted).dicts(), "turn_id")
        self._compactions = {row["turn_id"]: row for row in ledger.own_sql(_COMPACTIONS, limited).dicts()}

    def turns(self) -> Iterator[Turn]:
        """Go through the turns in their order."""
        for row in sorted(self._turns, key=lambda row: self._numbers[row["id"]]):
            yield self._turn(row)

    def _turn(self, row: _Row) -> Turn:
        turn_id = row["id"]
        messages = self._messages[turn_id]
        calls = self._calls[turn_id]
        known = {message["id"] for message in messages}
        by_message = _grouped((call for call in calls if call["message_id"] in known), "message_id")
        tasks = {spawned["label"]: spawned["task_description"] for spawned in self._subagents[turn_id]}
        spawning = {spawned["spawn_tool_call_id"]: spawned["label"] for spawned in self._subagents[turn_id]}
        named = {_spawned_label(call, spawning) for call in calls}

        def make_call(call: _Row) -> Call:
            label = _spawned_label(call, spawning)
            return _call(call, None if label is None else Subagent(label, tasks.get(label)))

        return Turn(
            number=self._numbers[turn_id],
            **_picked(row, "id", "turn_type", "status", "is_interrupted", "started_at", "completed_at"),
            **_picked(row, "model", "workspace_path"),
            tokens=_tokens_of(row),
            cost=self._costs.get(turn_id, _NO_COST),
            tool_call_count=row["tool_call_count"] or 0,
            messages=tuple(
                Message(
                    **_picked(message, "id", "role", "source", "created_at", "is_error"),
                    content=_excerpt(message, "content"),
                    thinking=_excerpt(message, "thinking"),
                    calls=tuple(map(make_call, by_message[message["id"]])),
                    files=tuple(
                        File(file["kind"], file["file_path"], file["line_start"], file["line_end"])
                        for file in self._files[message["id"]]
                    ),
                    author=self._authors.get(message["id"]),
                )
                for message in messages
            ),
            calls=tuple(make_call(call) for call in calls if call["message_id"] not in known),
            subagents=tuple(Subagent(label, task) for label, task in tasks.items() if label not in named),
            compaction=_compaction(self._compactions.get(turn_id)),
        )


def _call(row: _Row, subagent: Subagent | None) -> Call:
    return Call(
        **_picked(row, "id", "tool_name", "status", "started_at", "completed_at", "is_denied"),
        params=_excerpt(row, "params") or Excerpt("", 0),
        result=_excerpt(row, "result"),
        error=_excerpt(row, "error"),
        subagent=subagent,
    )


def _spawned_label(call: _Row, spawning: Mapping[str, str]) -> str | None:
    label: str | None = call["spawned_session_label"] or spawning.get(call["id"])
    return label


def _compaction(row: _Row | None) -> Compaction | None:
    if row is None:
        return None
    return Compaction(
        summary=_excerpt(row, "summary") or Excerpt("", 0),
        **_picked(row, "tokens_before", "tokens_after", "turns_summarized", "trigger"),
    )


def _tokens_of(row: _Row) -> Tokens:
    return Tokens(
        input=row["input_tokens"],
        output=row["output_tokens"],
        cached_input=row["cached_input_tokens"],
        cache_write=row["cache_write_tokens"],
        total=row["total_tokens"],
    )


def _cost_of(row: _Row) -> Cost:
    return Cost(row["cost_usd"], row["cost_estimated_usd"], row["unpriced_requests"])


def _picked(row: _Row, *names: str) -> _Row:
    return {name: row[name] for name in names}


def _excerpt(row: _Row, name: str) -> Excerpt | None:
    return None if row[name] is None else Excerpt(row[name], row[f"{name}_characters"])


def _grouped(rows: Iterable[_Row], name: str) -> defaultdict[str, list[_Row]]:
    groups: defaultdict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        groups[row[name]].append(row)
    return groups


if TYPE_CHECKING:
    from aix.reading.ledger import Ledger
