"""A transcript as text for a terminal or a plain file."""

from collections.abc import Iterator

from aix.output.paragraphs import Paragraph
from aix.output.transcript.folding import Fold, Folded, fold
from aix.output.transcript.model import Call, Excerpt, Header, Message, Turn
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
    turn_trouble,
)

_PROSE_LINES = 60
_PROSE_COLUMNS = 4_000
_THINKING_LINES = 8
_SUMMARY_LINES = 8
_RESULT_LINES = 4
_RESULT_COLUMNS = 200
_TURN_CHARACTERS = 8


def paragraphs(transcript: Transcript, view: View) -> Iterator[Paragraph]:
    """Give a transcript paragraph by paragraph."""
    if transcript.header is not None:
        yield from _header(transcript.header, view)
    for turn in transcript.turns:
        yield from _turn(view.of(turn), view)


def _header(header: Header, view: View) -> Iterator[Paragraph]:
    if header.title:
        yield Paragraph(session_title(header), "bold")
    for fact in session_facts(header, view.zone):
        yield Paragraph(fact, "dim")


def _turn(turn: Turn, view: View) -> Iterator[Paragraph]:
    yield Paragraph()
    yield Paragraph(
        f"{turn.number} · {turn_facts(turn, view.zone)}",
        "bold red" if turn_trouble(turn) else "bold blue",
        "── ",
        tail=f" · {turn.id[:_TURN_CHARACTERS]}",
    )
    if turn.compaction is not None:
        yield Paragraph()
        yield Paragraph(compaction_text(turn.compaction), "yellow", "≡ ")
        yield from _folded(turn.compaction.summary, view.limits(_SUMMARY_LINES), "  ", "dim")
    for message in turn.messages:
        yield from _message(message, turn, view)
    yield from _calls(turn.calls, turn, view)
    for subagent in turn.subagents:
        yield Paragraph(subagent_text(subagent), "magenta", "  ↳ ")


def _message(message: Message, turn: Turn, view: View) -> Iterator[Paragraph]:
    if message.thinking is not None and message.thinking.text.strip():
        yield Paragraph()
        yield from _folded(message.thinking, view.limits(_THINKING_LINES), "  ~ ", "dim italic")
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
    yield from _folded(content, view.limits(_PROSE_LINES, _PROSE_COLUMNS), mark, style)


def _calls(calls: tuple[Call, ...], turn: Turn, view: View) -> Iterator[Paragraph]:
    if calls:
        yield Paragraph()
    for call in calls:
        yield from _call(call, turn, view)


def _call(call: Call, turn: Turn, view: View) -> Iterator[Paragraph]:
    subject = call_subject(call, turn.workspace_path)
    outcome = call_outcome(call)
    has_failed = call.status == "failed"
    yield Paragraph(
        tool_name(call),
        "red" if has_failed else "cyan",
        "  ✗ " if has_failed else "  • ",
        tail="".join([f" {subject}" if subject else "", f" ({outcome})" if outcome else ""]),
        tail_style="red" if has_failed else "",
    )
    if view.is_full:
        yield from _folded(readable_params(call.params), None, "    │ ", "dim")
    limits = view.limits(_RESULT_LINES, _RESULT_COLUMNS)
    if call.error is not None:
        yield from _folded(call.error, limits, "    │ ", "red")
    if call.result is not None:
        yield from _folded(readable_result(call.result), limits, "    │ ", "dim")
    if call.subagent is not None:
        yield Paragraph(subagent_text(call.subagent), "magenta", "    ↳ ")


def _folded(excerpt: Excerpt, limits: Fold | None, mark: str, style: str) -> Iterator[Paragraph]:
    folded: Folded = fold(excerpt, limits)
    for line in folded.lines:
        yield Paragraph(line, style, mark, is_quote=True)
    if folded.hidden:
        yield Paragraph(f"… {folded.hidden}", "dim", mark)
