"""Kinds of records, for the purpose of turns."""

import re
from enum import Enum, auto

from aix_importers.claude_code.records import Block, Message, Record

NO_RESPONSE = "No response requested."
SYNTHETIC = "<synthetic>"
WARMUP = "Warmup"

_SUMMARY = "This session is being continued from a previous conversation"
_INTERRUPT = "[Request interrupted by user"
_HOOK_STOP = "Operation stopped by hook: "
_NOTICE = re.compile("<(?:task|bash)-notification>")
_LOCAL = re.compile(
    "<(?:local-command-|command-name>|bash-input>|bash-stdout>|bash-stderr>|user-memory-input>)"
    "|Unknown skill: |Unknown slash command|Caveat: The messages below were generated"
)
_ONLY_REMINDER = re.compile("<system-reminder>.*</system-reminder>", re.DOTALL)


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


_SYSTEM = {
    "compact_boundary": Kind.BOUNDARY,
    "microcompact_boundary": Kind.MICRO,
    "local_command": Kind.LOCAL,
}


def said(blocks: list[Block]) -> str:
    """Return what the text blocks of a message say."""
    return "\n".join(block.text for block in blocks if block.type == "text" and block.text is not None).strip()


def kind_of_system(record: Record) -> Kind:
    """Tell the kinds of system records apart."""
    return _SYSTEM.get(record.subtype or "", Kind.OTHER)


def kind_of_assistant(message: Message, blocks: list[Block]) -> Kind:
    """Tell an answer from what stands in its place."""
    is_none = message.model == SYNTHETIC and said(blocks) == NO_RESPONSE
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
