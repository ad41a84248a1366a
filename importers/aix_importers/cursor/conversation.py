"""A conversation in outline: its bubbles in order, and the turns that they make.

The outline is small, so that conversations that share bubbles can be compared; the bubbles themselves are read one by
one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from msgspec import Raw

from aix.ids import ulid
from aix.importing import Problem, Source
from aix_importers.common.row_writer import Code, FileUse, Lint
from aix_importers.cursor.calls import Call
from aix_importers.cursor.files import files_of_call, path_of
from aix_importers.cursor.lints import lints_of_result
from aix_importers.cursor.records import ORIGIN, Bubble, Composer
from aix_importers.cursor.values import ABSENT


@dataclass(slots=True)
class Said:
    """A message, and what hangs on it."""

    role: str
    content: str | None = None
    thinking: str | None = None
    context: dict[str, object] = field(default_factory=dict)
    metadata: dict[str, object] = field(default_factory=dict)
    calls: list[tuple[str, Call]] = field(default_factory=list)
    """Each with its id."""
    files: list[FileUse] = field(default_factory=list)
    lints: list[Lint] = field(default_factory=list)
    code: list[Code] = field(default_factory=list)
    tokens: tuple[int | None, int | None] = (None, None)
    request_id: str | None = None
    is_error: bool = False
    are_outcomes_inferred: bool = False
    """Whether the log keeps no results, so that how the calls ended is concluded from what follows."""

    def take_call(self, call_id: str, call: Call) -> None:
        """Add a call with the files and findings that it brought."""
        self.calls.append((call_id, call))
        self.take_effects(call)

    def take_effects(self, call: Call) -> None:
        """Add the files and findings that a call brought."""
        self.is_error = self.is_error or call.outcome.word == "interrupted"
        if call.status == "completed":
            self.files += files_of_call(call.name, call.number, call.details, call.found)
            self.lints += lints_of_result(call.found, path_of(call.details))


class Part(Enum):
    """Role of a bubble in its conversation."""

    QUERY = auto()
    ANSWER = auto()
    SUMMARY = auto()
    ARTEFACT = auto()
    """Left over from streaming: nothing stands in it."""
    NOTE = auto()
    """Text put in by the tool: a system prompt, a result, a reminder."""


@dataclass(slots=True, eq=False)
class Entry:
    """One bubble."""

    key: str
    part: Part
    raw_time: int | None
    call_id: str | None = None
    child_ids: Sequence[str] = ()
    time: int = 0
    is_time_inferred: bool = False
    turn: "Turn | None" = None
    message_key: str = ""
    _message_id: str = ""

    @property
    def message_id(self) -> str:
        """The id of the message that it is."""
        if not self._message_id:
            self._message_id = ulid("msg", ORIGIN, self.message_key or self.key)
        return self._message_id


@dataclass(slots=True, eq=False)
class Turn:
    """Entries that one request set going; or a summary."""

    key: str
    is_compaction: bool = False
    entries: list[Entry] = field(default_factory=list)
    parent: "Turn | None" = None
    continues: "Turn | None" = None
    summary: Raw = field(default_factory=lambda: ABSENT)
    """Of a compaction that has no bubble."""
    owner_id: str = ""
    """The conversation that had it first."""
    _id: str = ""

    @property
    def id(self) -> str:
        """The id of the turn; asked for once its key is settled."""
        if not self._id:
            self._id = ulid("turn", ORIGIN, self.key)
        return self._id

    @property
    def first(self) -> Entry | None:
        """Entry that set the turn going, whatever was put in before it."""
        return next((entry for entry in self.entries if entry.part is not Part.NOTE), None)

    @property
    def is_answered(self) -> bool:
        """Whether the assistant has said or done anything."""
        return any(entry.part is Part.ANSWER for entry in self.entries)


@dataclass(slots=True, eq=False)
class Conversation:
    """A conversation, and what is known about it as a whole."""

    source: Source
    id: str
    composer: Composer
    read: Callable[[Entry], Bubble | Said | None]
    entries: list[Entry] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    is_chat: bool = False
    began_at: int | None = None
    updated_at: int | None = None
    time_basis: str = "neighbour"
    """How the times of messages were concluded that have none of their own."""
    title: str | None = None
    workspace: str | None = None
    is_archived: bool = False
    parent_id: str | None = None
    is_subagent: bool = False
    child_ids: set[str] = field(default_factory=set)
    """Of calls, also of replaced attempts."""
    orphan_error: str | None = None
    model: str | None = None
    mode: str | None = None
    was_stopped: bool = False
    """Whether the last answer was broken off."""
    system_prompt: str | None = None
    tokens: tuple[int | None, int | None] = (None, None)
    """How much of the context window was in use, and how large it is."""
    problems: list[Problem] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    """Bubbles that are listed and cannot be read."""

    @property
    def label(self) -> str:
        """Label of the session in the ledger."""
        return session_label(self.id)

    @property
    def has_messages(self) -> bool:
        """Whether anybody said anything."""
        return any(entry.part in (Part.QUERY, Part.ANSWER) for entry in self.entries)

    @property
    def order(self) -> tuple[int, str]:
        """Sort key: the conversation that came first has the smaller one."""
        return (self.began_at if self.began_at is not None else 2**62, self.id)


def session_label(session_id: str) -> str:
    r"""Return the label of a session; control characters in old ids are written as `%0A`.

    >>> session_label("task-call_1\nfc_2")
    'cursor:task-call_1%0Afc_2'
    """
    safe = session_id if session_id.isprintable() else "".join(map(_printable, session_id))
    return f"{ORIGIN}:{safe}"


def _printable(character: str) -> str:
    is_control = ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0
    return f"%{ord(character):02X}" if is_control else character
