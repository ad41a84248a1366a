"""Transcripts fetched from a ledger, a few turns at a time.

A session may have thousands of turns and megabytes in one result. So the sizes come first; then turns are fetched in
batches of bounded size, each text up to a limit.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aix.output.transcript.batch import Batch, cost_of, fetch, tokens_of
from aix.output.transcript.model import Cost, Header, Turn
from aix.query.packs import find_query
from aix.reading.conversation import PLACES_OF_SESSION
from aix.reading.names import Kind

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger

WHOLE = 2**32 - 1
"""A limit that no text of DuckDB exceeds."""
_BATCH_BYTES = 4 * 2**20
_BATCH_TURNS = 2_000
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


@dataclass(frozen=True)
class Transcript:
    """A session or a single turn, ready to be gone through once."""

    header: Header | None
    """None for a single turn, which may stand in several sessions."""
    turns: Iterator[Turn]


def read_transcript(ledger: "Ledger", name: str, *, limit: int = WHOLE, last: int | None = None) -> Transcript:
    """Read the session or turn of that name, each text up to a limit, and of a session the last turns only."""
    named = ledger.find(name)
    if named.kind is Kind.TURN:
        depth = ledger.sql("select depth from threads where turn_id = $1", [named.key]).rows()
        return Transcript(None, _read_turns(ledger, [((depth[0][0] if depth else None) or 1, named.key)], limit))
    places = [(place, turn_id) for place, turn_id in ledger.sql(PLACES_OF_SESSION, [named.key])]
    wanted = places if last is None else places[-last:]
    return Transcript(_read_header(ledger, named.key), _read_turns(ledger, wanted, limit))


def _read_header(ledger: "Ledger", label: str) -> Header:
    sessions = find_query("overview/sessions").sql
    [row] = fetch(ledger, f"select * from (\n{sessions}\n) where label = $label", {"label": label})  # noqa: S608
    return Header(
        row["label"],
        row["title"],
        row["origin"],
        row["project"],
        row["workspace_path"],
        row["parent_session_label"],
        row["created_at"],
        row["updated_at"],
        row["status"],
        row["turns"],
        row["failed_turns"],
        row["models"],
        tokens_of(row),
        cost_of(row),
        _cost_of_subagents(ledger, label),
    )


def _cost_of_subagents(ledger: "Ledger", label: str) -> Cost | None:
    if not ledger.sql("select 1 from sessions where parent_session_label = $1 limit 1", [label]).rows():
        return None
    [row] = fetch(ledger, _COST_OF_SUBAGENTS, {"label": label})
    return cost_of(row)


def _read_turns(ledger: "Ledger", places: Sequence[tuple[int, str]], limit: int) -> Iterator[Turn]:
    turn_ids = [turn_id for _, turn_id in places]
    sizes = dict(ledger.sql(_SIZES, {"turns": turn_ids, "limit": limit}).rows()) if turn_ids else {}
    costs = {row["turn_id"]: cost_of(row) for row in fetch(ledger, _COSTS, {"turns": turn_ids})} if turn_ids else {}
    for batch in _batches(places, sizes):
        yield from Batch(ledger, {turn_id: place for place, turn_id in batch}, limit, costs).turns()


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
