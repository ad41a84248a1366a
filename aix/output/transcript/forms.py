"""The forms of a transcript: text for a terminal or a plain file, Markdown, and JSON with every text whole."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass

from aix.output.formats import fenced, prose_line
from aix.output.humanise import short_turn
from aix.output.paragraphs import Paragraph
from aix.output.terminal import ACCENT, CAUTION
from aix.output.text import to_json
from aix.output.transcript.model import LEFT_OUT_WHEN_NULL, Call, Excerpt, Fold, Header, Message, Turn, View, fold
from aix.output.transcript.source import Transcript
from aix.output.transcript.wording import (
    call_outcome,
    call_result,
    call_subject,
    compaction_text,
    files_text,
    readable_content,
    readable_error,
    readable_params,
    sender,
    session_facts,
    session_title,
    subagent_text,
    tool_name,
    turn_facts,
    turn_trouble,
)

_TEXT_PROSE_LINES = 60
_PROSE_COLUMNS = 4_000
_THINKING_LINES = 8
_SUMMARY_LINES = 8
_TEXT_RESULT_LINES = 4
_RESULT_COLUMNS = 200
_MARKDOWN_PROSE_LINES = 200
_MARKDOWN_RESULT_LINES = 10
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`]*)$")


def paragraphs(transcript: Transcript, view: View) -> Iterator[Paragraph]:
    """Give a transcript paragraph by paragraph."""
    if transcript.header is not None:
        yield from _header(transcript.header, view)
    for turn in transcript.turns:
        yield from _turn_paragraphs(view.of(turn), view)


def _header(header: Header, view: View) -> Iterator[Paragraph]:
    if header.title:
        yield Paragraph(session_title(header), "bold")
    for fact in session_facts(header, view.zone):
        yield Paragraph(fact, "dim")


def _turn_paragraphs(turn: Turn, view: View) -> Iterator[Paragraph]:
    yield Paragraph()
    yield Paragraph(
        f"{turn.number} · {turn_facts(turn, view.zone)}",
        "bold red" if turn_trouble(turn) else f"bold {ACCENT}",
        "── ",
        tail=f" · {short_turn(turn.id)}",
    )
    if turn.compaction is not None:
        yield Paragraph()
        yield Paragraph(compaction_text(turn.compaction), CAUTION, "≡ ")
        yield from folded_paragraphs(turn.compaction.summary, view.limits(_SUMMARY_LINES), "  ", "dim")
    for message in turn.messages:
        yield from _message_paragraphs(message, turn, view)
    yield from _calls(turn.calls, turn, view)
    for subagent in turn.subagents:
        yield Paragraph(subagent_text(subagent), "magenta", "  ↳ ")


def _message_paragraphs(message: Message, turn: Turn, view: View) -> Iterator[Paragraph]:
    if message.thinking is not None and message.thinking.text.strip():
        yield Paragraph()
        yield from folded_paragraphs(message.thinking, view.limits(_THINKING_LINES), "  ~ ", "dim italic")
    if message.content is not None and message.content.text.strip():
        yield Paragraph()
        yield from _content(message, message.content, view)
    yield from _calls(message.calls, turn, view)
    if message.files:
        yield Paragraph(files_text(message.files, turn.workspace_path), "dim", "    ")


def _content(message: Message, content: Excerpt, view: View) -> Iterator[Paragraph]:
    who = sender(message)
    if who:
        yield Paragraph(f"{who}:", "dim", "  ")
    style = "red" if message.is_error else "bold" if message.role == "user" else ""
    mark = "> " if message.role == "user" else "  "
    shown = readable_content(message, content, view)
    yield from folded_paragraphs(shown, view.limits(_TEXT_PROSE_LINES, _PROSE_COLUMNS), mark, style)


def _calls(calls: tuple[Call, ...], turn: Turn, view: View) -> Iterator[Paragraph]:
    if calls:
        yield Paragraph()
    for call in calls:
        yield from _call_paragraphs(call, turn, view)


def _call_paragraphs(call: Call, turn: Turn, view: View) -> Iterator[Paragraph]:
    subject = call_subject(call, turn.workspace_path)
    outcome = call_outcome(call)
    has_failed = call.status == "failed"
    yield Paragraph(
        tool_name(call),
        "red" if has_failed else ACCENT,
        "  ✗ " if has_failed else "  • ",
        tail="".join([f" {subject}" if subject else "", f" ({outcome})" if outcome else ""]),
        tail_style="red" if has_failed else "",
    )
    limits = view.limits(_TEXT_RESULT_LINES, _RESULT_COLUMNS)
    if view.is_full or view.spans is not None:
        yield from folded_paragraphs(readable_params(call.params), limits, "    │ ", "dim")
    if call.error is not None:
        yield from folded_paragraphs(readable_error(call.error), limits, "    │ ", "red")
    if (result := call_result(call)) is not None:
        yield from folded_paragraphs(result, limits, "    │ ", "dim")
    if call.subagent is not None:
        yield Paragraph(subagent_text(call.subagent), "magenta", "    ↳ ")


def folded_paragraphs(excerpt: Excerpt, limits: Fold | None, mark: str, style: str) -> Iterator[Paragraph]:
    """Give a text line by line, folded, with a mark before each line."""
    folded = fold(excerpt, limits)
    for line in folded.lines:
        yield Paragraph(line, style, mark, is_quote=True)
    if folded.hidden:
        yield Paragraph(f"… {folded.hidden}", "dim", mark)


def markdown_lines(transcript: Transcript, view: View) -> Iterator[str]:
    """Give a transcript line by line."""
    header = transcript.header
    if header is not None:
        yield f"# {prose_line(session_title(header))}"
        yield ""
        for fact in session_facts(header, view.zone):
            yield f"- {prose_line(fact)}"
    for turn in transcript.turns:
        yield ""
        yield f"## {turn.number} · {prose_line(turn_facts(turn, view.zone))}"
        yield from turn_markdown(view.of(turn), view)


def turn_markdown(turn: Turn, view: View) -> Iterator[str]:
    """Give what was said and done in a turn, line by line."""
    if turn.compaction is not None:
        yield from ("", f"*{prose_line(compaction_text(turn.compaction))}*", "")
        yield from _quoted(_prose(turn.compaction.summary, view.limits(_MARKDOWN_PROSE_LINES, _PROSE_COLUMNS)))
    for message in turn.messages:
        yield from _message_markdown(message, turn, view)
    for call in turn.calls:
        yield from _call_markdown(call, turn, view)
    for subagent in turn.subagents:
        yield from ("", f"↳ {prose_line(subagent_text(subagent))}")


def _message_markdown(message: Message, turn: Turn, view: View) -> Iterator[str]:
    limits = view.limits(_MARKDOWN_PROSE_LINES, _PROSE_COLUMNS)
    if message.thinking is not None and message.thinking.text.strip():
        yield from ("", "*Thinking:*", "")
        yield from _quoted(_prose(message.thinking, limits))
    if message.content is not None and message.content.text.strip():
        who = sender(message) if message.author else (sender(message) or message.role).capitalize()
        yield from ("", f"**{prose_line(who)}{' (error)' if message.is_error else ''}:**", "")
        yield from _prose(readable_content(message, message.content, view), limits)
    for call in message.calls:
        yield from _call_markdown(call, turn, view)
    if message.files:
        yield from ("", f"*{prose_line(files_text(message.files, turn.workspace_path))}*")


def _call_markdown(call: Call, turn: Turn, view: View) -> Iterator[str]:
    facts = [call_subject(call, turn.workspace_path), f"({outcome})" if (outcome := call_outcome(call)) else ""]
    yield ""
    yield " ".join([f"**{prose_line(tool_name(call))}**", *(prose_line(fact) for fact in facts if fact)])
    limits = view.limits(_MARKDOWN_RESULT_LINES, _RESULT_COLUMNS)
    parameters = [readable_params(call.params)] if view.is_full or view.spans is not None else []
    results = [result] if (result := call_result(call)) is not None else []
    for excerpt in [*parameters, *([readable_error(call.error)] if call.error is not None else []), *results]:
        folded = fold(excerpt, limits)
        if folded.lines:
            yield ""
            yield from fenced(folded)
    if call.subagent is not None:
        yield from ("", f"↳ {prose_line(subagent_text(call.subagent))}")


def _prose(excerpt: Excerpt, limits: Fold | None) -> Iterator[str]:
    """Give running text line for line, and the blocks of code in it as such."""
    folded = fold(excerpt, limits)
    lines = folded.lines
    place = 0
    while place < len(lines):
        opening = _FENCE.fullmatch(lines[place])
        if opening is None:
            follows = place + 1 < len(lines) and lines[place + 1] and not _FENCE.fullmatch(lines[place + 1])
            yield prose_line(lines[place]) + ("  " if follows and lines[place] else "")
            place += 1
            continue
        end = _end_of_block(lines, place + 1, opening[1])
        yield from fenced(lines[place + 1 : end], opening[2].strip())
        place = end + 1
    if folded.hidden:
        yield from ("", f"*… {folded.hidden}*")


def _end_of_block(lines: Sequence[str], start: int, fence: str) -> int:
    closing = re.compile(rf" {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}")
    return next((place for place in range(start, len(lines)) if closing.fullmatch(lines[place])), len(lines))


def _quoted(lines: Iterator[str]) -> Iterator[str]:
    return (f"> {line}".rstrip() if not line.endswith("  ") else f"> {line}" for line in lines)


def json_lines(transcript: Transcript, view: View) -> Iterator[str]:
    """Give a transcript line by line, a turn a line."""
    yield "["
    previous = None
    for turn in transcript.turns:
        if previous is not None:
            yield f"{previous},"
        previous = to_json(plain(view.of(turn)))
    if previous is not None:
        yield previous
    yield "]"


def plain(value: object) -> object:
    """Return what JSON can hold of a value: objects for dataclasses, every text as far as it was fetched."""
    if isinstance(value, Excerpt):
        return value.text
    if isinstance(value, tuple):
        return [plain(inner) for inner in value]
    if is_dataclass(value) and not isinstance(value, type):
        inner = {field.name: (plain(getattr(value, field.name)), field.metadata) for field in fields(value)}
        return {name: held for name, (held, mark) in inner.items() if held is not None or mark != LEFT_OUT_WHEN_NULL}
    return value
