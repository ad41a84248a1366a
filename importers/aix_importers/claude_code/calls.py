"""Tool calls: asked for in an answer, with a result that comes later."""

import hashlib
from dataclasses import dataclass

import msgspec
from msgspec import Raw

from aix_importers.claude_code.embedded import without_embedded_files
from aix_importers.claude_code.messages import OpenMessage
from aix_importers.claude_code.records import UNREADABLE, Block, Record, decode_blocks, text_of

ERROR_CHARACTERS = 2_000


@dataclass(slots=True, eq=False)
class OpenCall:
    """A call whose result is not known yet."""

    id: str
    name: str
    params: Raw
    message: OpenMessage
    started_at: int
    sequence: int
    mode: str | None
    cwd: str | None


@dataclass(slots=True, eq=False)
class CallResult:
    """Result of a call."""

    content: Raw
    structured: Raw
    is_error: bool
    time: int
    denial_kind: str | None

    @property
    def text(self) -> str:
        """Text of the result."""
        plain = text_of(self.content) if self.content else ""
        if plain is not None:
            return plain
        return "\n".join(block.text for block in decode_blocks(self.content) if block.text is not None)

    @property
    def json(self) -> str:
        """The result as the log has it: what the model saw, and what the client kept."""
        content = without_embedded_files(bytes(self.content)) or b"null"
        structured = b',"structured":' + without_embedded_files(bytes(self.structured)) if self.structured else b""
        return (b'{"content":' + content + structured + b"}").decode()


def results_in(record: Record, blocks: list[Block], time: int) -> list[tuple[str, CallResult]]:
    """Return the results that a record holds, by call."""
    results = [block for block in blocks if block.type == "tool_result" and block.tool_use_id]
    structured = record.tool_use_result if len(results) == 1 else msgspec.Raw(b"")
    return [
        (
            block.tool_use_id or "",
            CallResult(block.content, structured, bool(block.is_error), time, record.tool_denial_kind),
        )
        for block in results
    ]


def canonical_hash(params: Raw) -> str | None:
    """Return the SHA-256 of JSON that is the same however its keys are ordered."""
    try:
        value = msgspec.json.decode(params)
    except UNREADABLE:
        return None
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()
