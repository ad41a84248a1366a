"""One compaction in detail: the context before, the summary, the first requests after, as text, Markdown or JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from aix.errors import NotCompactionError
from aix.output.formats import fenced, prose_line
from aix.output.humanise import (
    counted,
    dollars,
    in_words,
    local_time,
    one_line,
    short_count,
    short_duration,
    short_turn,
    signed_count,
    signed_dollars,
)
from aix.output.paragraphs import Paragraph
from aix.output.terminal import ACCENT
from aix.output.text import to_json
from aix.output.transcript.forms import folded_paragraphs, plain
from aix.output.transcript.model import Excerpt, View, fold
from aix.reading.search import COUNTED, names_of_sessions

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
_BREAK_EVEN = "compaction_impact/break_even"
_SUMMARY_LINES = 40
_SUMMARY_COLUMNS = 600
_PARTS_SHOWN = 30
_FILES_SHOWN = 12
_BEGINNING_CHARACTERS = 72
_NAME_CHARACTERS = 200
_NOT_SAID = "unknown"
_TRIGGERS = {None: "the log does not say", "context_limit": "the context was full", "manual": "the user asked for it"}
_EVIDENCE = {"boundary": "the log marks it", "summary_only": "the log holds nothing of it but the summary"}


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
    balance: dict[str, Any] | None
    """Its row of `compaction_impact/break_even`: cost, savings and whether it paid back."""
    files: tuple[SummarisedFile, ...]

    @property
    def kept(self) -> tuple[Part, ...]:
        """The turns that were left as they were."""
        return tuple(part for part in self.before if part.is_kept)


def find_compaction(ledger: "Ledger", turn_id: str) -> "Result":
    """Return the one row of the compaction that this turn is."""
    found = ledger.own_sql(_COMPACTION, [turn_id])
    if not found.rows():
        near = tuple(near for (near,) in ledger.own_sql(_NEAR, [turn_id]))
        raise NotCompactionError(turn_id, near)
    return found


def read_detail(ledger: "Ledger", found: "Result", *, limit: int) -> Detail:
    """Read what stands around the compaction that was found, the summary up to a limit."""
    [row] = found.dicts()
    turn = row["turn_id"]
    [stored] = ledger.own_sql(_SUMMARY, {"turn": turn, "limit": limit}).dicts()
    parts = ledger.context(turn).dicts()
    before = _parts_before(
        [part for part in parts if part["turn_id"] not in (None, turn)], stored["first_kept_turn_id"]
    )
    summarised = [part.turn_id for part in before if not part.is_kept]
    label = row["session_label"]
    requests = ledger.own_sql(_REQUESTS, {"turn": turn, "count": FIRST_REQUESTS})
    return Detail(
        row,
        names_of_sessions(ledger, [label])[label] if label else None,
        before,
        next((part["tokens"] for part in parts if part["part"] == "unlogged"), None),
        Excerpt(stored["summary"], stored["characters"]),
        tuple(LaterRequest(**each) for each in requests.dicts()),
        _balance(ledger, turn, label),
        tuple(SummarisedFile(**each) for each in ledger.own_sql(_FILES, {"turn": turn, "turns": summarised}).dicts()),
    )


def _balance(ledger: "Ledger", turn: str, label: str | None) -> dict[str, Any] | None:
    rows = ledger.query(_BREAK_EVEN, **({"session": label} if label else {})).dicts()
    return next((row for row in rows if row["turn_id"] == turn), None)


def _parts_before(rows: Sequence[dict[str, Any]], first_kept: str | None) -> tuple[Part, ...]:
    parts = []
    is_kept = False
    for row in rows:
        is_kept = is_kept or row["turn_id"] == first_kept
        parts.append(Part(**{name: row[name] for name in _OF_PART}, is_kept=is_kept))
    return tuple(parts)


@dataclass(frozen=True, slots=True)
class _Block:
    heading: str
    lines: tuple[tuple[str, str], ...] = ()
    """Pairs of a statement and how it is known."""
    quote: Excerpt | None = None


def detail_paragraphs(detail: Detail, view: View) -> Iterator[Paragraph]:
    """Give a compaction paragraph by paragraph."""
    yield Paragraph(_title(detail), "bold", "≡ ")
    for block in _blocks(detail, view):
        yield Paragraph()
        yield Paragraph(block.heading, f"bold {ACCENT}", "── ")
        for text, basis in block.lines:
            yield Paragraph(text, "", "  ", tail=f" ({basis})" if basis else "")
        if block.quote is not None:
            yield from folded_paragraphs(block.quote, view.limits(_SUMMARY_LINES, _SUMMARY_COLUMNS), "  │ ", "dim")


def detail_markdown(detail: Detail, view: View) -> Iterator[str]:
    """Give a compaction line by line."""
    yield f"# {prose_line(_title(detail))}"
    for block in _blocks(detail, view):
        yield from ("", f"## {prose_line(block.heading)}", "")
        for text, basis in block.lines:
            yield f"- {prose_line(text)}{f' *({prose_line(basis)})*' if basis else ''}"
        if block.quote is not None:
            yield from fenced(fold(block.quote, view.limits(_SUMMARY_LINES, _SUMMARY_COLUMNS)))


def detail_json(detail: Detail) -> str:
    """Give a compaction as one object."""
    return to_json(plain(detail))


def _title(detail: Detail) -> str:
    row = detail.compaction
    return f"compaction {row['turn_id']} · {one_line(detail.session_name or _NOT_SAID, _NAME_CHARACTERS)}"


def _blocks(detail: Detail, view: View) -> Iterator[_Block]:
    row = detail.compaction
    yield _Block("facts", tuple(_facts(detail, view.zone)))
    yield _Block(f"context before · {_tokens(row['tokens_before'])}", tuple(_before_lines(detail, view)))
    size = f"{counted(row['summary_chars'] or 0, 'character')}, {_tokens(row['summary_tokens'])}"
    yield _Block(f"summary · {size}", quote=detail.summary)
    if detail.kept:
        kept = tuple(_part_line(part, view.zone) for part in detail.kept)
        yield _Block(f"kept · {counted(len(kept), 'turn')}", kept)
    yield _Block(f"context after · {_tokens(row['tokens_after'])}", tuple(_after(detail, view.zone)))
    if detail.files:
        yield _Block("files of the summarised turns", tuple(_files(detail, view)))


def _facts(detail: Detail, zone: tzinfo) -> Iterator[tuple[str, str]]:
    row = detail.compaction
    yield f"when: {local_time(row['compacted_at'], zone)}", ""
    subagent = ", a subagent" if row["is_subagent"] else ""
    yield f"session: {one_line(row['session_label'] or _NOT_SAID, _NAME_CHARACTERS)}{subagent}", ""
    if row["project"]:
        yield f"project: {one_line(row['project'], _NAME_CHARACTERS)}", ""
    yield f"why: {in_words(row['trigger'] or _NOT_SAID)}", _TRIGGERS.get(row["trigger"], "")
    yield f"known by: {in_words(row['evidence'])}", _EVIDENCE.get(row["evidence"], "")
    yield "where: " + ("it interrupted a task, which went on" if row["is_mid_task"] else "between two turns"), ""
    yield f"model: {one_line(row['model'], _NAME_CHARACTERS)}", "that of the request before" * row["is_model_inferred"]
    yield f"tokens before: {_exact(row['tokens_before'])}", _before_basis(detail)
    yield f"tokens after: {_exact(row['tokens_after'])}", _after_basis(detail)
    if row["messages_tokens_after"] is not None:
        yield f"messages alone after: {_exact(row['messages_tokens_after'])}", "stated by the log"
    yield f"turns summarised: {_exact(row['turns_summarized'])}", "history not on disk" * row["is_unresolved"]
    yield f"turns kept: {row['kept_turns']}", ""
    if row["duration_ms"] is not None:
        bound = "at most: it includes what the user waited" if row["is_duration_upper_bound"] else "stated by the log"
        yield f"took: {short_duration(row['duration_ms'])}", bound
    estimated = "estimated from its length" if row["is_summary_estimated"] else "reported by the summarising call"
    yield f"tokens of the summary: {_exact(row['summary_tokens'])}", estimated
    if row["summariser_requests"]:
        cost = "no price" if row["summariser_cost_usd"] is None else dollars(row["summariser_cost_usd"])
        yield f"summarising call: {cost}", "computed from its own log"
    else:
        yield "summarising call: in no log", ""
    yield f"since then: {counted(row['turns_after'], 'turn')}, {counted(row['requests_after'], 'request')}", ""
    if detail.balance is not None:
        yield _balance_line(detail.balance)
    if row["next_compaction_turn_id"]:
        yield f"next compaction: {row['next_compaction_turn_id']}", local_time(row["next_compacted_at"], zone)


def _balance_line(balance: dict[str, Any]) -> tuple[str, str]:
    """Say whether it paid back: the cost of the compaction against what a smaller context saved."""
    net = balance["net_usd"]
    saved = balance["saved_per_request_usd"]
    if net is None or saved is None:
        return "paid back: unknown", "a price or a size is missing"
    outcome = f"{'yes' if net >= 0 else 'no'}, {signed_dollars(net)}"
    return (
        f"paid back: {outcome}; it cost {dollars(balance['total_usd'])}, each request saved {dollars(saved)}",
        "estimated",
    )


def _before_basis(detail: Detail) -> str:
    row = detail.compaction
    if row["tokens_before"] is None:
        return "in no log"
    return "stated by the log" if row["tokens_before_basis"] == "stated" else "of the last request before it"


def _after_basis(detail: Detail) -> str:
    bases = {
        "reported": "reported by the first request after it",
        "reported_later": "reported by the next request, which comes after another compaction",
        "stated": "stated by the log; no request after it",
    }
    return bases.get(detail.compaction["tokens_after_basis"], "in no log")


def _before_lines(detail: Detail, view: View) -> Iterator[tuple[str, str]]:
    shown = detail.before if view.is_full else detail.before[-_PARTS_SHOWN:]
    if len(shown) < len(detail.before):
        yield f"… {counted(len(detail.before) - len(shown), 'earlier turn')}", "--full shows all"
    for part in shown:
        yield _part_line(part, view.zone)
    if not detail.before:
        yield "no turn of it is in a log", ""
    if detail.unlogged_tokens is not None:
        yield f"{_tokens(detail.unlogged_tokens)} in no log", "computed: system prompt, tools, what estimates miss"


def _part_line(part: Part, zone: tzinfo) -> tuple[str, str]:
    facts = [
        local_time(part.started_at, zone),
        short_turn(part.turn_id),
        "summary" if part.part == "summary" else "",
        "kept" if part.is_kept else "",
        _tokens(part.tokens),
        counted(part.tool_calls, "call") if part.tool_calls else "",
        one_line(part.beginning, _BEGINNING_CHARACTERS) if part.beginning else "",
    ]
    return " · ".join(fact for fact in facts if fact), part.basis or ""


def _after(detail: Detail, zone: tzinfo) -> Iterator[tuple[str, str]]:
    for request in detail.after:
        yield _request_line(request, zone), "reported"
    more = detail.compaction["requests_after"] - FIRST_REQUESTS
    if more > 0:
        yield f"… {counted(more, 'more request')}", ""
    if not detail.after:
        yield "no request after it is in a log", ""


def _request_line(request: LaterRequest, zone: tzinfo) -> str:
    kinds = {
        "uncached": request.input_tokens,
        "from cache": request.cache_read_tokens,
        "to cache": request.cache_write_tokens,
    }
    parts = ", ".join(f"{short_count(count)} {kind}" for kind, count in kinds.items() if count)
    facts = [
        local_time(request.requested_at, zone),
        short_turn(request.turn_id),
        _tokens(request.context_tokens) + (f": {parts}" if parts else ""),
        f"{short_count(request.output_tokens)} out" if request.output_tokens is not None else "",
        dollars(request.cost_usd) if request.cost_usd is not None else "",
        one_line(request.model or "", _BEGINNING_CHARACTERS),
    ]
    return " · ".join(fact for fact in facts if fact)


def _files(detail: Detail, view: View) -> Iterator[tuple[str, str]]:
    for is_named, words in ((True, "named in the summary"), (False, "not named")):
        files = [file for file in detail.files if file.is_named is is_named]
        shown = files if view.is_full else files[:_FILES_SHOWN]
        more = [f"{len(files) - len(shown)} more"] if len(shown) < len(files) else []
        names = [one_line(file.path, _NAME_CHARACTERS) + (" (written)" if file.is_written else "") for file in shown]
        if files:
            yield f"{words}: {', '.join([*names, *more])}", ""


def _tokens(count: int | None) -> str:
    return "unknown tokens" if count is None else f"{signed_count(count)} tokens"


def _exact(count: int | None) -> str:
    return _NOT_SAID if count is None else f"{count:,}"
