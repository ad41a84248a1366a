"""Data that a transcript shows of a session and its turns."""

from dataclasses import dataclass
from decimal import Decimal


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
