"""Kinds of records within their types, and the records that stand inside others.

The types are in `common/claude_code_record_types.py`. Every record of a transcript gives a row, is of a type or kind
that is only counted, or is named by a problem.
"""

import re
from enum import Enum, auto

from msgspec import Raw, Struct

from aix_importers.claude_code.records import (
    NOTHING,
    Block,
    Message,
    Record,
    decode_blocks,
    decode_checked,
    decode_object,
    derived_uuid,
)

COUNTED_PROGRESS = frozenset({
    "bash_progress", "hook_progress", "mcp_progress", "query_update", "search_results_received", "skill_progress",
    "waiting_for_task",
})  # fmt: skip
"""Progress that shows no record of a subagent: its end stands in the result of the call."""
QUEUE_OPERATIONS = frozenset({"enqueue", "dequeue", "remove", "popAll"})
"""Steps of prompts that wait; one of these gives a row where the prompt stands nowhere else."""
SYNTHETIC = "<synthetic>"
WARMUP = "Warmup"
_NO_RESPONSE = "No response requested."
_SUMMARY = "This session is being continued from a previous conversation"
_INTERRUPT = "[Request interrupted by user"
_HOOK_STOP = "Operation stopped by hook: "
_NOTICE = re.compile("<(?:task|bash)-notification>")
_LOCAL = re.compile(
    "<(?:local-command-|command-name>|bash-input>|bash-stdout>|bash-stderr>|user-memory-input>)"
    "|Unknown skill: |Unknown slash command|Caveat: The messages below were generated"
)
_ONLY_REMINDER = re.compile("<system-reminder>.*</system-reminder>", re.DOTALL)
_AGENT_PROGRESS = "agent_progress"
_COUNTED_PROGRESS = re.compile(rb'\s*\{\s*"type"\s*:\s*"(?:%s)"' % b"|".join(map(str.encode, sorted(COUNTED_PROGRESS))))
_MESSAGE_TYPES = ("user", "assistant")


class Kind(Enum):
    """The kinds of records; those that are not named make no message and only lead from child to parent."""

    PROMPT = auto()
    NOTICE = auto()
    """A notification that arrives while the agent is idle, and is answered."""
    QUEUED = auto()
    """A prompt that was typed while the agent worked."""
    QUEUED_NOTICE = auto()
    ASSISTANT = auto()
    NO_RESPONSE = auto()
    """Record that a client writes instead of an answer when none was asked for."""
    RESULT = auto()
    META = auto()
    LOCAL = auto()
    """A command that the client carried out without the model, and what came of it."""
    INTERRUPT = auto()
    HOOK_STOP = auto()
    BOUNDARY = auto()
    SUMMARY = auto()
    MICRO = auto()
    OTHER = auto()

    @property
    def opens(self) -> bool:
        """Whether such a record can begin a turn as a query."""
        return self is Kind.PROMPT or self is Kind.NOTICE


_SYSTEM = {"compact_boundary": Kind.BOUNDARY, "microcompact_boundary": Kind.MICRO, "local_command": Kind.LOCAL}


def said(blocks: list[Block]) -> str:
    """Return what the text blocks of a message say."""
    return "\n".join(block.text for block in blocks if block.type == "text" and block.text is not None).strip()


def kind_of_system(record: Record) -> Kind:
    """Tell the kinds of system records apart."""
    return _SYSTEM.get(record.subtype or "", Kind.OTHER)


def kind_of_assistant(message: Message, blocks: list[Block]) -> Kind:
    """Tell an answer from what stands in its place."""
    is_none = message.model == SYNTHETIC and said(blocks) == _NO_RESPONSE
    return Kind.NO_RESPONSE if is_none else Kind.ASSISTANT


def kind_of_user(record: Record, blocks: list[Block]) -> Kind:
    """Tell the many things apart that are written as messages of the user; the first that fits counts."""
    if any(block.type == "tool_result" for block in blocks):
        return Kind.RESULT
    text = said(blocks)
    if record.is_compact_summary or text.startswith(_SUMMARY):
        return Kind.SUMMARY
    if text.startswith(_INTERRUPT):
        return Kind.INTERRUPT
    if text.startswith(_HOOK_STOP):
        return Kind.HOOK_STOP
    if _NOTICE.match(text):
        return Kind.NOTICE
    if _LOCAL.match(text):
        return Kind.LOCAL
    if record.is_meta or _ONLY_REMINDER.fullmatch(text):
        return Kind.META
    return Kind.PROMPT


def is_notice(text: str) -> bool:
    """Whether a text is a notification rather than somebody's words."""
    return _NOTICE.match(text) is not None


class Queued(Struct, gc=False, rename="camel"):
    """A prompt or a notice that was taken in while the agent worked."""

    type: str = ""
    prompt: Raw = NOTHING
    command_mode: str | None = None

    @property
    def text(self) -> str:
        """Text of the prompt or notice."""
        return said(decode_blocks(self.prompt))

    @property
    def is_notice(self) -> bool:
        """Whether it is a notification rather than somebody's words."""
        return self.command_mode == "task-notification"


class _Progress(Struct, gc=False, rename="camel"):
    type: str = ""
    agent_id: str | None = None
    message: Raw = NOTHING


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
    message: Raw = NOTHING
    tool_use_result: Raw = NOTHING


def decode_queued(raw: Raw) -> Queued | None:
    """Decode an attachment when it is a prompt that waited."""
    if b'"queued_command"' not in bytes(raw):
        return None
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
