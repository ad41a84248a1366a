"""Types of Claude Code's records: the one table for recognition and for both passes of the importer.

It stands here, and not with the importer, because recognition reads it, which all importers share.
"""

from enum import Enum, auto
from typing import NamedTuple


class Gives(Enum):
    """Rows that records of a type give."""

    BY_KIND = auto()
    """A message, a part of one or context, which `claude_code/classification.py` decides."""
    CONTEXT = auto()
    """Context of the message before the record, as records of unknown types do."""
    NO_ROW = auto()
    """None on purpose: the record changes what other rows say, or repeats it, and is only counted."""


class Sign(Enum):
    """Fields by which a record of a type is recognised."""

    CHAIN = auto()
    """A session, and its own name or that of its parent: other tools have such types, too."""
    SESSION = auto()
    """A session; the record has no place in the chain of messages."""
    TYPE = auto()
    """None but its type, which no other tool is known to have; the record has no place in the chain either."""


class RecordType(NamedTuple):
    """How records of a type are recognised and read."""

    gives: Gives
    sign: Sign
    is_streamed: bool = False
    """Whether captures of the SDK hold such records: there a session is enough to recognise them."""


RECORD_TYPES = {
    "assistant": RecordType(Gives.BY_KIND, Sign.CHAIN, is_streamed=True),
    "attachment": RecordType(Gives.BY_KIND, Sign.CHAIN),
    "progress": RecordType(Gives.BY_KIND, Sign.CHAIN),
    "system": RecordType(Gives.BY_KIND, Sign.CHAIN, is_streamed=True),
    "user": RecordType(Gives.BY_KIND, Sign.CHAIN, is_streamed=True),
    "agent-name": RecordType(Gives.NO_ROW, Sign.TYPE),
    "ai-title": RecordType(Gives.NO_ROW, Sign.TYPE),
    "custom-title": RecordType(Gives.NO_ROW, Sign.TYPE),
    "last-prompt": RecordType(Gives.NO_ROW, Sign.TYPE),
    "permission-mode": RecordType(Gives.NO_ROW, Sign.TYPE),
    "queue-operation": RecordType(Gives.NO_ROW, Sign.TYPE),
    "summary": RecordType(Gives.NO_ROW, Sign.TYPE),
    "agent-setting": RecordType(Gives.CONTEXT, Sign.TYPE),
    "atis-latch": RecordType(Gives.CONTEXT, Sign.TYPE),
    "bridge-session": RecordType(Gives.CONTEXT, Sign.TYPE),
    "file-history-snapshot": RecordType(Gives.CONTEXT, Sign.TYPE),
    "frame-link": RecordType(Gives.CONTEXT, Sign.TYPE),
    "mode": RecordType(Gives.CONTEXT, Sign.TYPE),
    "pr-link": RecordType(Gives.CONTEXT, Sign.TYPE),
    "relocated": RecordType(Gives.CONTEXT, Sign.TYPE),
    "worktree-state": RecordType(Gives.CONTEXT, Sign.TYPE),
    "result": RecordType(Gives.CONTEXT, Sign.SESSION, is_streamed=True),
    "stream_event": RecordType(Gives.CONTEXT, Sign.SESSION, is_streamed=True),
    "tag": RecordType(Gives.CONTEXT, Sign.SESSION),
}

COUNTED_TYPES = frozenset(name for name, each in RECORD_TYPES.items() if each.gives is Gives.NO_ROW)
"""Types that give no row on purpose."""
STREAMED_TYPES = frozenset(name for name, each in RECORD_TYPES.items() if each.is_streamed)
TYPES_WITHOUT_CHAIN = frozenset(name for name, each in RECORD_TYPES.items() if each.sign is not Sign.CHAIN)
TYPES_OF_NO_OTHER_TOOL = frozenset(name for name, each in RECORD_TYPES.items() if each.sign is Sign.TYPE)
