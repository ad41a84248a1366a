"""Records that stand inside other records: prompts that waited, and what progress shows of subagents."""

import re

import msgspec
from msgspec import Raw, Struct

from aix_importers.claude_code.record_kinds import said
from aix_importers.claude_code.record_types import COUNTED_PROGRESS
from aix_importers.claude_code.records import Record, decode_blocks, decode_checked, decode_object, derived_uuid

_AGENT_PROGRESS = "agent_progress"
_COUNTED_PROGRESS = re.compile(rb'\s*\{\s*"type"\s*:\s*"(?:%s)"' % b"|".join(map(str.encode, sorted(COUNTED_PROGRESS))))
_MESSAGE_TYPES = ("user", "assistant")


class Queued(Struct, gc=False, rename="camel"):
    """A prompt or a notice that was taken in while the agent worked."""

    type: str = ""
    prompt: Raw = msgspec.Raw(b"")
    command_mode: str | None = None

    @property
    def text(self) -> str:
        """Text of the prompt or notice."""
        return said(decode_blocks(self.prompt))


class _Progress(Struct, gc=False, rename="camel"):
    type: str = ""
    agent_id: str | None = None
    message: Raw = msgspec.Raw(b"")


class Progress(Struct, gc=False):
    """Note of a client while a call runs; for a subagent, it holds one of the subagent's own records."""

    type: str
    agent_id: str | None = None
    record: Record | None = None
    wrong: tuple[str, ...] = ()
    """Names of fields that are missing or cannot be used."""

    @property
    def is_of_agent(self) -> bool:
        """Whether it shows a subagent at work."""
        return self.type == _AGENT_PROGRESS


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


def decode_progress(record: Record) -> Progress | None:
    """Decode the data of progress; NULL when it is only counted, which most of it is."""
    if _COUNTED_PROGRESS.match(record.data):
        return None
    found, wrong = decode_checked(_Progress, record.data)
    if found is None:
        return Progress("", wrong=("data",) if record.data else ())
    if found.type in COUNTED_PROGRESS:
        return None
    shows_agent = found.type == _AGENT_PROGRESS or (not found.type and found.agent_id and found.message)
    if not shows_agent:
        return Progress(found.type, wrong=tuple(f"data.{name}" for name in wrong))
    nested, wrong_inside = _nested(record, found.message)
    names = [f"data.{name}" for name in wrong] + [f"data.message.{name}".rstrip(".") for name in wrong_inside]
    if not found.agent_id and "data.agentId" not in names:
        names.append("data.agentId")
    if nested is not None:
        nested.agent_id = found.agent_id
    return Progress(_AGENT_PROGRESS, found.agent_id, nested, tuple(names))


def _nested(outer: Record, raw: Raw) -> tuple[Record | None, list[str]]:
    """Decode a record of a subagent that stands in the progress of its call."""
    nested, wrong = decode_checked(_Nested, raw)
    if nested is None:
        return None, [""]
    if nested.type not in _MESSAGE_TYPES or not nested.message:
        return None, ["type" if nested.type not in _MESSAGE_TYPES else "message"]
    uuid = nested.uuid or derived_uuid(outer.session_id, nested.timestamp, nested.message)
    record = Record(
        type=nested.type,
        uuid=uuid,
        timestamp=nested.timestamp,
        request_id=nested.request_id,
        message=nested.message,
        tool_use_result=nested.tool_use_result,
        is_sidechain=True,
    )
    return record, wrong if nested.uuid or "uuid" in wrong else [*wrong, "uuid"]
