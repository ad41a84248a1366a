"""The data of a transcript, and how much of it a reader sees."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from decimal import Decimal

from aix.output.humanise import counted, short_count

_LINE_END = re.compile("\r\n|\n|\r")
_TAB = 4
LEFT_OUT_WHEN_NULL = {"is_left_out_when_null": True}
"""Mark of a field that JSON shows only where it is known."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A text, or the beginning of one that is too long to be fetched whole."""

    text: str
    characters: int
    """How many the whole text has."""

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left behind."""
        return len(self.text) >= self.characters


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token counts of a turn or a session; None where a count is not known."""

    input: int | None
    output: int | None
    cached_input: int | None
    cache_write: int | None
    total: int | None


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of a turn or of sessions at list price; None where it is not known."""

    usd: Decimal | None
    """Of the tokens that are reported."""
    estimated_usd: Decimal | None
    """The same with the output estimated where its count is not final."""
    unpriced_requests: int
    """Those with tokens that have no price, and so in neither."""


@dataclass(frozen=True, slots=True)
class File:
    """A file that a message read, wrote, named or carried."""

    kind: str
    path: str
    line_start: int | None
    line_end: int | None


@dataclass(frozen=True, slots=True)
class Subagent:
    """A session that was spawned."""

    label: str
    task: str | None


@dataclass(frozen=True, slots=True)
class Call:
    """One use of a tool."""

    id: str
    tool_name: str
    status: str
    started_at: int
    completed_at: int | None
    params: Excerpt
    result: Excerpt | None
    error: Excerpt | None
    subagent: Subagent | None
    is_denied: bool | None = field(default=None, metadata=LEFT_OUT_WHEN_NULL)
    """Whether the log says that the call was refused; None where it does not."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message, with the calls it made and the files it touched."""

    id: str
    role: str
    source: str | None
    created_at: int
    is_error: bool
    content: Excerpt | None
    thinking: Excerpt | None
    calls: tuple[Call, ...]
    files: tuple[File, ...]
    author: str | None = field(default=None, metadata=LEFT_OUT_WHEN_NULL)
    """The name of the person or agent that wrote it, where several take part in a session."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """Result of a summarisation of earlier turns."""

    summary: Excerpt
    tokens_before: int | None
    tokens_after: int | None
    turns_summarized: int | None
    trigger: str | None


@dataclass(frozen=True, slots=True)
class Turn:
    """One exchange."""

    number: int
    """Its place in the session, from 1."""
    id: str
    turn_type: str
    status: str
    is_interrupted: bool
    started_at: int | None
    """None where its log has no time."""
    completed_at: int | None
    model: str | None
    tokens: Tokens
    cost: Cost
    tool_call_count: int
    workspace_path: str | None
    messages: tuple[Message, ...]
    calls: tuple[Call, ...]
    """Those that no message of the turn made."""
    subagents: tuple[Subagent, ...]
    """Those that no call is known to have spawned."""
    compaction: Compaction | None


@dataclass(frozen=True, slots=True)
class Header:
    """Facts about a session."""

    label: str
    title: str | None
    origin: str | None
    project: str | None
    workspace_path: str | None
    parent_session_label: str | None
    created_at: int | None
    """None where its log has no time."""
    updated_at: int | None
    status: str
    turns: int
    failed_turns: int
    models: str | None
    tokens: Tokens
    cost: Cost
    subagent_cost: Cost | None
    """Of the sessions it spawned, and those that they did; None when it spawned none."""


@dataclass(frozen=True)
class Fold:
    """How much of a text is shown."""

    lines: int
    columns: int
    spans: Callable[[str], list[tuple[int, int]]] | None = None
    """Where a text has what was searched for: only lines that have some are shown."""


@dataclass(frozen=True)
class Folded:
    """The lines that are shown, and how much is hidden, in words; it is gone through with a line for that."""

    lines: list[str]
    hidden: str = ""

    def __iter__(self) -> Iterator[str]:
        yield from self.lines
        if self.hidden:
            yield f"… {self.hidden}"


def fold(excerpt: Excerpt, limits: Fold | None) -> Folded:
    r"""Fold a text, or give all its lines when there are no limits.

    >>> fold(Excerpt("a\n\n" * 9, 27), Fold(lines=3, columns=80))
    Folded(lines=['a', '', 'a'], hidden='14 more lines')
    """
    lines = _text_lines(excerpt.text)
    if limits is None:
        return Folded(lines)
    if limits.spans is not None:
        return _found(lines, limits, limits.spans)
    hidden_lines = len(lines) - limits.lines
    # A line that says that one line is hidden takes as much room as the line.
    first = lines if hidden_lines == 1 else lines[: limits.lines]
    shown = [line if len(line) <= limits.columns else f"{line[: limits.columns - 1]}…" for line in first]
    if excerpt.is_whole and hidden_lines > 1:
        return Folded(shown, f"{hidden_lines} more lines")
    behind = sum(len(line) - limits.columns + 1 for line in first if len(line) > limits.columns)
    cut = behind if excerpt.is_whole else excerpt.characters - sum(map(len, shown))
    return Folded(shown, f"{short_count(cut)} more characters" if cut else "")


def _found(lines: list[str], limits: Fold, spans: Callable[[str], list[tuple[int, int]]]) -> Folded:
    """Return the lines that have what was searched for, each from a little before it on."""
    found = [(line, where[0][0]) for line in lines if (where := spans(line))]
    if not found and spans("\n".join(lines)):  # a phrase that goes on in the next line
        found = [(line, 0) for line in lines]
    if not found:
        return Folded([])
    shown = []
    for line, start in found[: limits.lines]:
        begin = max(0, start - limits.columns // 4) if len(line) > limits.columns else 0
        end = begin + limits.columns
        shown.append(f"{'…' if begin else ''}{line[begin:end]}{'…' if end < len(line) else ''}")
    hidden = len(lines) - len(shown)
    return Folded(shown, f"{counted(hidden, 'more line')}" if hidden else "")


def _text_lines(text: str) -> list[str]:
    lines = [line.expandtabs(_TAB).rstrip() for line in _LINE_END.split(text)]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return lines


@dataclass(frozen=True)
class View:
    """The choices of the reader."""

    zone: tzinfo
    is_full: bool = False
    with_thinking: bool = True
    with_tools: bool = True
    spans: Callable[[str], list[tuple[int, int]]] | None = None
    """Where a text has what was searched for; None to show texts from their beginning on."""

    def limits(self, lines: int, columns: int = 600) -> Fold | None:
        """Return how a text is folded."""
        return None if self.is_full else Fold(lines, columns, self.spans)

    def of(self, turn: Turn) -> Turn:
        """Return a turn without the parts that are not shown."""
        messages = tuple(map(self._of_message, turn.messages))
        if self.with_tools:
            return replace(turn, messages=messages)
        return replace(turn, messages=messages, calls=(), subagents=())

    def _of_message(self, message: Message) -> Message:
        seen = message if self.with_thinking else replace(message, thinking=None)
        if self.with_tools:
            return seen
        # Files of a prompt were named or attached by the user; all others are the work of tools.
        return replace(seen, calls=(), files=message.files if message.role == "user" else ())
