"""Records that stand inside other records: prompts that waited, and what progress shows of subagents."""

import msgspec
from msgspec import Raw, Struct

from aix_importers.claude_code.classes import said
from aix_importers.claude_code.records import Record, decode_blocks, decode_object


class Queued(Struct, gc=False, rename="camel"):
    """A prompt or a notice that was taken in while the agent worked."""

    type: str = ""
    prompt: Raw = msgspec.Raw(b"")
    command_mode: str | None = None

    @property
    def text(self) -> str:
        """What it says."""
        return said(decode_blocks(self.prompt))


class Progress(Struct, gc=False, rename="camel"):
    """What a client notes while a subagent works: a record of the subagent's own."""

    type: str = ""
    agent_id: str | None = None
    message: Raw = msgspec.Raw(b"")


class _Nested(Struct, gc=False, rename="camel"):
    type: str = ""
    uuid: str | None = None
    timestamp: str | None = None
    request_id: str | None = None
    message: Raw = msgspec.Raw(b"")
    tool_use_result: Raw = msgspec.Raw(b"")


def decode_queued(raw: Raw) -> Queued | None:
    """Decode an attachment when it is a prompt that waited."""
    queued = decode_object(Queued, raw)
    return queued if queued and queued.type == "queued_command" else None


def decode_progress(raw: Raw) -> Progress | None:
    """Decode progress when it is that of a subagent."""
    progress = decode_object(Progress, raw)
    return progress if progress and progress.type == "agent_progress" else None


def decode_nested(raw: Raw) -> Record | None:
    """Decode a record of a subagent that stands in the progress of its call."""
    nested = decode_object(_Nested, raw)
    if nested is None or nested.type not in ("user", "assistant"):
        return None
    return Record(
        type=nested.type,
        uuid=nested.uuid,
        timestamp=nested.timestamp,
        request_id=nested.request_id,
        message=nested.message,
        tool_use_result=nested.tool_use_result,
        is_sidechain=True,
    )
