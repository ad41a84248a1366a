"""Facts about turns and conversations, gathered during the second pass over their records."""

from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec import Raw

from aix_importers.claude_code.messages import OpenMessage
from aix_importers.claude_code.placement import Thread, Turn
from aix_importers.claude_code.records import Record
from aix_importers.claude_code.scan import Scan


class RecordPlace(NamedTuple):
    """Where a record stands."""

    scan: Scan
    line: int
    byte_offset: int


@dataclass(slots=True, eq=False)
class TurnFacts:
    """A turn, as far as its row goes beyond its place."""

    turn: Turn
    started_at: int | None = None
    start_basis: str | None = None
    """How the start was concluded, where no record says it."""
    ended_at: int | None = None
    cwd: str | None = None
    git_branch: str | None = None
    version: str | None = None
    effort: str | None = None
    thinking: str | None = None
    mode: str | None = None
    allowed_tools: dict[str, None] = field(default_factory=dict)
    """Tools that a command or a skill allowed beyond the rules."""
    tools_available: list[str] | None = None
    messages: int = 0
    requests: int = 0
    calls: int = 0


@dataclass(slots=True, eq=False)
class CompactionFacts:
    """A compaction, as far as its row goes beyond its turn."""

    turn: Turn
    metadata: Raw | None = None
    time: int | None = None
    logical_parent: str | None = None
    summary_utf8: bytes | None = None
    """The summary, in the form that needs the least memory: those of a long transcript stay until its end."""
    tokens_before: int | None = None
    """The context of the last request before it."""
    model_before: str | None = None
    tokens_after: int | None = None
    """The context of the first request after it, on any branch that it is part of."""

    @property
    def summary(self) -> str | None:
        """The text that took the place of the context."""
        return None if self.summary_utf8 is None else self.summary_utf8.decode("utf-8", "surrogatepass")


@dataclass(slots=True, eq=False)
class ThreadFacts:
    """A conversation, as far as it has been told."""

    thread: Thread
    last_message: OpenMessage | None = None
    """The last one that is not an answer: what the log notes after it is its context."""
    early_context: list[Record] = field(default_factory=list)
    """Notes of the log before the first message."""
    early_places: list["RecordPlace"] = field(default_factory=list)
    """Places of those notes in the log."""
    last_context_tokens: int | None = None
    most_context_tokens: int = 0
    last_model: str | None = None
    mode: str | None = None
    time: int | None = None
    tools: dict[str, None] = field(default_factory=dict)
    """Tools that were made known so far."""
