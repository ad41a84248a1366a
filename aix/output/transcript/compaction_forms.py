"""A compaction in detail, as text, Markdown or JSON: the same blocks in each, and nothing of a log acts in any."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import tzinfo

from aix.output.humanise import counted, dollars, local_time, one_line, short_count, short_duration, signed_count
from aix.output.markdown import fenced, prose_line
from aix.output.paragraphs import Paragraph
from aix.output.text import to_json
from aix.output.transcript.compaction import FIRST_REQUESTS, Detail, LaterRequest, Part
from aix.output.transcript.folding import fold
from aix.output.transcript.json_form import plain
from aix.output.transcript.model import Excerpt
from aix.output.transcript.view import View

_SUMMARY_LINES = 40
_SUMMARY_COLUMNS = 600
_PARTS_SHOWN = 30
_FILES_SHOWN = 12
_TURN_CHARACTERS = 8
_BEGINNING_CHARACTERS = 72
_NAME_CHARACTERS = 200
_NOT_SAID = "unknown"
_EVIDENCE = {"boundary": "the log marks it", "summary_only": "the log holds nothing of it but the summary"}


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
        yield Paragraph(block.heading, "bold blue", "── ")
        for text, basis in block.lines:
            yield Paragraph(text, "", "  ", tail=f" ({basis})" if basis else "")
        if block.quote is not None:
            folded = fold(block.quote, view.limits(_SUMMARY_LINES, _SUMMARY_COLUMNS))
            for line in folded.lines:
                yield Paragraph(line, "dim", "  │ ", is_quote=True)
            if folded.hidden:
                yield Paragraph(f"… {folded.hidden}", "dim", "  │ ")


def detail_markdown(detail: Detail, view: View) -> Iterator[str]:
    """Give a compaction line by line."""
    yield f"# {prose_line(_title(detail))}"
    for block in _blocks(detail, view):
        yield from ("", f"## {prose_line(block.heading)}", "")
        for text, basis in block.lines:
            yield f"- {prose_line(text)}{f' *({prose_line(basis)})*' if basis else ''}"
        if block.quote is not None:
            folded = fold(block.quote, view.limits(_SUMMARY_LINES, _SUMMARY_COLUMNS))
            yield from fenced([*folded.lines, *([f"… {folded.hidden}"] if folded.hidden else [])])


def detail_json(detail: Detail) -> str:
    """Give a compaction as one object."""
    return to_json(plain(detail))


def _title(detail: Detail) -> str:
    row = detail.compaction
    return f"compaction {row['turn_id']} · {one_line(detail.session_name or _NOT_SAID, _NAME_CHARACTERS)}"


def _blocks(detail: Detail, view: View) -> Iterator[_Block]:
    row = detail.compaction
    yield _Block("facts", tuple(_facts(detail, view.zone)))
    yield _Block(f"context before · {_tokens(row['tokens_before'])}", tuple(_before(detail, view)))
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
    yield f"trigger: {row['trigger'] or _NOT_SAID}", "" if row["trigger"] else "the log does not say"
    yield f"evidence: {row['evidence']}", _EVIDENCE.get(row["evidence"], "")
    yield "where: " + ("mid-task, it cut a turn that went on" if row["is_mid_task"] else "between two turns"), ""
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
    if row["next_compaction_turn_id"]:
        yield f"next compaction: {row['next_compaction_turn_id']}", local_time(row["next_compacted_at"], zone)


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


def _before(detail: Detail, view: View) -> Iterator[tuple[str, str]]:
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
        part.turn_id[:_TURN_CHARACTERS],
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
        request.turn_id[:_TURN_CHARACTERS],
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
