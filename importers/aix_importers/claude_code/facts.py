"""Facts about messages, turns and conversations, gathered during the second pass over their records."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from msgspec import Raw, Struct

from aix.ids import ulid
from aix_importers.claude_code.extra_json import details_of, image_of, message_details, without_embedded_files
from aix_importers.claude_code.records import (
    KNOWN_BLOCKS,
    Block,
    LooseBlock,
    Message,
    Record,
    decode_object,
    decode_raw_blocks,
)
from aix_importers.claude_code.scan import Scan
from aix_importers.claude_code.turns import ORIGIN, Thread, Turn
from aix_importers.common.row_writer import Code

Key = TypeVar("Key")
Facts = TypeVar("Facts")


class FactsOf(dict[Key, Facts]):
    """Facts by what they are about, which are made when they are first asked for."""

    def __init__(self, make: Callable[[Key], Facts]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: Key) -> Facts:
        found = self[key] = self._make(key)
        return found


@dataclass(slots=True, eq=False)
class OpenMessage:
    """A message that may get more parts, or more context."""

    key: str
    turn: Turn
    role: str
    source: str | None
    time: int
    time_basis: str | None
    """How the time was concluded, where no record says it."""
    position: int
    texts: list[str] = field(default_factory=list)
    has_content: bool = True
    """Whether what it says is kept as its content, and not elsewhere."""
    thinking: list[str] = field(default_factory=list)
    redacted_thinking: int = 0
    uuids: list[str] = field(default_factory=list)
    images: list[dict[str, object]] = field(default_factory=list)
    other_blocks: list[Raw] = field(default_factory=list)
    block_fields: list[dict[str, Raw]] = field(default_factory=list)
    """Unknown fields of blocks of a known type."""
    metadata: dict[str, object] = field(default_factory=dict)
    context: list[Record] = field(default_factory=list)
    call_characters: int = 0
    is_error: bool = False
    is_query: bool | None = None
    cwd: str | None = None
    code_count: int = 0
    lint_count: int = 0
    pending_code: list[Code] = field(default_factory=list)
    """New text of its calls, which comes behind the code in what it says."""
    files: set[tuple[str, str, int | None]] = field(default_factory=set)
    """Kinds, paths and first lines of files that rows were written for."""
    is_written: bool = False
    id: str = field(init=False)
    """The id of its row."""

    def __post_init__(self) -> None:
        self.id = ulid("msg", ORIGIN, self.key)

    @property
    def content(self) -> str | None:
        """Text of the message."""
        return "\n".join(self.texts) if self.has_content and self.texts else None

    @property
    def thinking_text(self) -> str | None:
        """Thinking of the model, where the log shows it."""
        return "\n".join(self.thinking) or None

    def add(self, record: Record, message: Message, blocks: list[Block]) -> None:
        """Add the part of the message that a line holds."""
        if record.uuid:
            self.uuids.append(record.uuid)
        others = [not _is_usable(record, block) for block in blocks]
        for block in blocks:
            if isinstance(block, LooseBlock) and block.unknown and block.type in KNOWN_BLOCKS:
                self.block_fields.append(block.unknown)
            match block.type:
                case "text":
                    if block.text is not None:
                        self.texts.append(block.text)
                case "thinking":
                    if block.thinking:
                        self.thinking.append(block.thinking)
                    else:
                        self.redacted_thinking += 1
                case "redacted_thinking":
                    self.redacted_thinking += 1
                case "tool_use":
                    self.call_characters += len(block.input)
                case "image" | "document":
                    self.images.append(image_of(block))
                case _:
                    pass
        if any(others):
            pairs = zip(others, decode_raw_blocks(message.content), strict=False)
            self.other_blocks += [Raw(without_embedded_files(bytes(raw))) for is_other, raw in pairs if is_other]
        self.metadata.update(details_of(record))
        self.metadata.update(message_details(message))

    def keep(self, name: str, found: Raw) -> None:
        """Keep a call or a result that no row of a call can hold; several of them become a list."""
        earlier = self.metadata.get(name)
        if earlier is None:
            self.metadata[name] = found
        else:
            self.metadata[name] = [*(earlier if isinstance(earlier, list) else [earlier]), found]

    def metadata_of_row(self) -> dict[str, object]:
        """Return what else the log says of the message."""
        found: dict[str, object] = {"uuids": self.uuids, **self.metadata}
        if self.redacted_thinking:
            found["redacted_thinking"] = self.redacted_thinking
        if self.images:
            found["images"] = self.images
        if self.other_blocks:
            found["other_blocks"] = self.other_blocks
        if self.block_fields:
            found["block_fields"] = self.block_fields
        return found

    @property
    def estimated_tokens(self) -> int | None:
        """About how many tokens the model wrote; NULL when none of it is in the log."""
        characters = sum(map(len, self.texts)) + sum(map(len, self.thinking)) + self.call_characters
        return -(-characters // 4) if characters else None


class _Thinking(Struct, gc=False, rename="camel"):
    level: str | None = None
    disabled: bool | None = None
    max_thinking_tokens: int | None = None


class _ToolNote(Struct, gc=False, rename="camel"):
    type: str = ""
    added_names: list[str] = []
    readded_names: list[str] = []
    removed_names: list[str] = []
    allowed_tools: list[str] = []


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

    def add(self, record: Record, time: int, basis: str | None) -> None:
        """Take in the record that begins a message, with its time and how that was concluded."""
        self.messages += 1
        if self.started_at is None or record.uuid == self.turn.uuid:
            self.started_at, self.start_basis = time, basis
        self.ended_at = max(time, self.ended_at or time)
        self.cwd = self.cwd or record.cwd
        self.git_branch = self.git_branch or record.git_branch
        self.version = self.version or record.version
        self.effort = self.effort or record.effort
        if record.thinking_metadata and self.thinking is None:
            self.thinking = _thinking(record.thinking_metadata)


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

    def note(self, record: Record) -> None:
        """Keep what the log notes beside the messages with the message before it."""
        (self.early_context if self.last_message is None else self.last_message.context).append(record)

    def note_tools(self, attachment: Raw) -> list[str]:
        """Take in which tools an attachment adds or removes; return those that it allows."""
        data = bytes(attachment)
        if b'"deferred_tools_delta"' not in data and b'"command_permissions"' not in data:
            return []
        noted = decode_object(_ToolNote, data) or _ToolNote()
        if noted.type == "deferred_tools_delta":
            self.tools.update(dict.fromkeys((*noted.added_names, *noted.readded_names)))
            for name in noted.removed_names:
                self.tools.pop(name, None)
        return noted.allowed_tools if noted.type == "command_permissions" else []


def tools_allowed(result: Raw) -> list[str]:
    """Return what the result of a skill or a command allows."""
    noted = decode_object(_ToolNote, result) if b'"allowedTools"' in bytes(result) else None
    return noted.allowed_tools if noted else []


def _thinking(raw: Raw) -> str | None:
    found = decode_object(_Thinking, raw)
    if found is None:
        return None
    if found.disabled:
        return "disabled"
    if found.level is not None:
        return found.level
    return None if found.max_thinking_tokens is None else f"{found.max_thinking_tokens} tokens"


def _is_usable(record: Record, block: Block) -> bool:
    """Whether a block is of a known type, and stands where calls and results are looked for."""
    match block.type:
        case "tool_use":
            return record.type == "assistant"
        case "tool_result":
            return record.type == "user" and bool(block.tool_use_id)
        case _:
            return block.type in KNOWN_BLOCKS
