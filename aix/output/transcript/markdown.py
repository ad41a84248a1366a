"""A transcript as Markdown: what logs say is shown as it was written, and code stays code."""

import re
from collections.abc import Iterator, Sequence

from aix.output.markdown import fenced, prose_line
from aix.output.transcript.folding import Fold, fold
from aix.output.transcript.model import Call, Excerpt, Message, Turn
from aix.output.transcript.readable import readable_params, readable_result
from aix.output.transcript.source import Transcript
from aix.output.transcript.view import View
from aix.output.transcript.wording import (
    call_outcome,
    call_subject,
    compaction_text,
    files_text,
    sender,
    session_facts,
    session_title,
    subagent_text,
    tool_name,
    turn_facts,
)

_PROSE_LINES = 200
_PROSE_COLUMNS = 4_000
_RESULT_LINES = 10
_RESULT_COLUMNS = 200
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`]*)$")


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
        yield from _turn(view.of(turn), view)


def _turn(turn: Turn, view: View) -> Iterator[str]:
    if turn.compaction is not None:
        yield from ("", f"*{prose_line(compaction_text(turn.compaction))}*", "")
        yield from _quoted(_prose(turn.compaction.summary, view.limits(_PROSE_LINES, _PROSE_COLUMNS)))
    for message in turn.messages:
        yield from _message(message, turn, view)
    for call in turn.calls:
        yield from _call(call, turn, view)
    for subagent in turn.subagents:
        yield from ("", f"↳ {prose_line(subagent_text(subagent))}")


def _message(message: Message, turn: Turn, view: View) -> Iterator[str]:
    limits = view.limits(_PROSE_LINES, _PROSE_COLUMNS)
    if message.thinking is not None and message.thinking.text.strip():
        yield from ("", "*Thinking:*", "")
        yield from _quoted(_prose(message.thinking, limits))
    if message.content is not None and message.content.text.strip():
        who = sender(message) or message.role
        yield from ("", f"**{prose_line(who).capitalize()}{' (error)' if message.is_error else ''}:**", "")
        yield from _prose(message.content, limits)
    for call in message.calls:
        yield from _call(call, turn, view)
    if message.files:
        yield from ("", f"*{prose_line(files_text(message.files, turn.workspace_path))}*")


def _call(call: Call, turn: Turn, view: View) -> Iterator[str]:
    facts = [call_subject(call, turn.workspace_path), f"({outcome})" if (outcome := call_outcome(call)) else ""]
    yield ""
    yield " ".join([f"**{prose_line(tool_name(call))}**", *(prose_line(fact) for fact in facts if fact)])
    limits = view.limits(_RESULT_LINES, _RESULT_COLUMNS)
    parameters = [readable_params(call.params)] if view.is_full else []
    results = [readable_result(call.result)] if call.result is not None else []
    for excerpt in [*parameters, *([call.error] if call.error is not None else []), *results]:
        folded = fold(excerpt, limits)
        if folded.lines:
            yield ""
            yield from fenced([*folded.lines, *([f"… {folded.hidden}"] if folded.hidden else [])])
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
