"""One compaction with all that is known around it: the context before, the summary, and the first requests after."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from aix.errors import NotCompactionError
from aix.output.transcript.batch import fetch
from aix.output.transcript.model import Excerpt
from aix.reading.compaction_search import COUNTED, names_of_sessions

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger
    from aix.reading.result import Result

FIRST_REQUESTS = 5
_OF_PART = ("part", "turn_id", "started_at", "beginning", "tool_calls", "tokens", "basis")
_COMPACTION = f"select * from {COUNTED} where turn_id = $1"  # noqa: S608 - made of a name
_NEAR = """
    select c.turn_id
    from v_turn_owner o
    join v_turn_owner n on n.session_label = o.session_label
    join compactions c on c.turn_id = n.turn_id
    where o.turn_id = $1
    order by c.turn_id limit 3
"""
_SUMMARY = """
    select left(summary, $limit) as summary, length(summary) as characters, first_kept_turn_id
    from compactions where turn_id = $turn
"""
_REQUESTS = """
    select
      r.request_id, r.turn_id, r.requested_at, r.model, r.context_tokens, r.input_tokens, r.cache_read_tokens,
      r.cache_write_tokens, r.output_tokens, r.cost_usd
    from v_compaction_requests k
    join v_requests r on r.request_id = k.request_id
    where k.compaction_turn_id = $turn and k.place <= $count
    order by k.place
"""
_FILES = """
    with written as (
      select f.file_path
      from messages m
      join message_files f on f.message_id = m.id
      where m.turn_id in (select unnest($turns)) and f.kind = 'written'
      group by f.file_path
    )
    select coalesce(p.relative_path, i.item) as path, w.file_path is not null as is_written, i.is_named
    from v_compaction_items i
    join turns t on t.id = i.compaction_turn_id
    left join file_paths p on p.file_path = i.item and p.workspace_path = t.workspace_path
    left join written w on w.file_path = i.item
    where i.compaction_turn_id = $turn and i.kind = 'file'
    order by i.is_named desc, path
"""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a context: a summary, or a turn."""

    part: str
    """Where it stands in the context before: summary, kept by the compaction before, or later."""
    turn_id: str
    started_at: int
    beginning: str | None
    """The first words of the prompt, else of the answer, or of the summary."""
    tool_calls: int
    tokens: int | None
    basis: str | None
    is_kept: bool
    """Whether it was left as it was; else the new summary stands for it."""


@dataclass(frozen=True, slots=True)
class LaterRequest:
    """A request after the compaction."""

    request_id: str
    turn_id: str
    requested_at: int
    model: str | None
    context_tokens: int | None
    input_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None


@dataclass(frozen=True, slots=True)
class SummarisedFile:
    """A file of the turns that were summarised."""

    path: str
    is_written: bool
    is_named: bool
    """Whether the summary names it."""


@dataclass(frozen=True, slots=True)
class Detail:
    """A compaction and what stands around it."""

    compaction: dict[str, Any]
    """Its row of the list."""
    session_name: str | None
    """Name of its session: the title, else the first prompt."""
    before: tuple[Part, ...]
    unlogged_tokens: int | None
    """Tokens of the context beyond the parts before it: system prompt, tools, and what estimates miss."""
    summary: Excerpt
    after: tuple[LaterRequest, ...]
    files: tuple[SummarisedFile, ...]

    @property
    def kept(self) -> tuple[Part, ...]:
        """The turns that were left as they were."""
        return tuple(part for part in self.before if part.is_kept)


def find_compaction(ledger: "Ledger", turn_id: str) -> "Result":
    """Return the one row of the compaction that this turn is."""
    found = ledger.sql(_COMPACTION, [turn_id])
    if not found.rows():
        near = tuple(near for (near,) in ledger.sql(_NEAR, [turn_id]))
        raise NotCompactionError(turn_id, near)
    return found


def read_detail(ledger: "Ledger", found: "Result", *, limit: int) -> Detail:
    """Read what stands around the compaction that was found, the summary up to a limit."""
    [values] = found.rows()
    row = dict(zip(found.columns, values, strict=True))
    turn = row["turn_id"]
    [stored] = fetch(ledger, _SUMMARY, {"turn": turn, "limit": limit})
    context = ledger.context(turn)
    parts = [dict(zip(context.columns, part, strict=True)) for part in context]
    before = _before([part for part in parts if part["turn_id"] not in (None, turn)], stored["first_kept_turn_id"])
    summarised = [part.turn_id for part in before if not part.is_kept]
    label = row["session_label"]
    return Detail(
        row,
        names_of_sessions(ledger, [label])[label] if label else None,
        before,
        next((part["tokens"] for part in parts if part["part"] == "unlogged"), None),
        Excerpt(stored["summary"], stored["characters"]),
        tuple(LaterRequest(**each) for each in fetch(ledger, _REQUESTS, {"turn": turn, "count": FIRST_REQUESTS})),
        tuple(SummarisedFile(**each) for each in fetch(ledger, _FILES, {"turn": turn, "turns": summarised})),
    )


def _before(rows: Sequence[dict[str, Any]], first_kept: str | None) -> tuple[Part, ...]:
    parts = []
    is_kept = False
    for row in rows:
        is_kept = is_kept or row["turn_id"] == first_kept
        parts.append(Part(**{name: row[name] for name in _OF_PART}, is_kept=is_kept))
    return tuple(parts)
