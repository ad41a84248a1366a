"""Messages as they are put together from the lines of a log."""

from dataclasses import dataclass, field

from msgspec import Raw

from aix.ids import ulid
from aix_importers.claude_code.embedded import without_embedded_files
from aix_importers.claude_code.extra_json import details_of, image_of, message_details
from aix_importers.claude_code.placement import ORIGIN, Turn
from aix_importers.claude_code.records import KNOWN_BLOCKS, Block, LooseBlock, Message, Record, decode_raw_blocks
from aix_importers.claude_code.written_code import Code


def _is_usable(record: Record, block: Block) -> bool:
    """Whether a block is of a known type, and stands where calls and results are looked for."""
    match block.type:
        case "tool_use":
            return record.type == "assistant"
        case "tool_result":
            return record.type == "user" and bool(block.tool_use_id)
        case _:
            return block.type in KNOWN_BLOCKS


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
    file_rows: set[int] = field(default_factory=set)
    """Rows of files that were written for it."""
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
