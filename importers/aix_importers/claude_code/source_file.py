"""Facts in the names of files: whose transcript a file is."""

import os
import re
from dataclasses import dataclass
from enum import Enum, auto

from aix.importing import Source

_AGENT_FILE = re.compile(r"agent-(.+)\.(?:jsonl|ndjson)", re.IGNORECASE)
_SIDE_CALL = re.compile(r"a(compact|side_question|prompt_suggestion)-")


class FileKind(Enum):
    """The kinds of transcripts."""

    MAIN = auto()
    AGENT = auto()
    """Of a subagent."""
    COMPACTION = auto()
    """Of the call that summarised a conversation, which it repeats."""
    SIDE = auto()
    """Of a call beside the conversation, which it may repeat."""

    @property
    def is_conversation(self) -> bool:
        """Whether it holds turns of its own."""
        return self is FileKind.MAIN or self is FileKind.AGENT


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A transcript, and what its name says."""

    source: Source
    kind: FileKind
    stem: str
    agent_id: str | None = None


def source_file(source: Source) -> SourceFile:
    """Say whose transcript a source is.

    >>> source_file(Source("/p/s/subagents/agent-acompact-1f.jsonl")).kind
    <FileKind.COMPACTION: 3>
    """
    name = source.path[source.path.rfind(os.sep) + 1 :]
    stem = name.rpartition(".")[0]
    agent = _AGENT_FILE.fullmatch(name)
    if agent is None:
        return SourceFile(source, FileKind.MAIN, stem)
    side = _SIDE_CALL.match(agent[1])
    if side is None:
        return SourceFile(source, FileKind.AGENT, stem, agent[1])
    kind = FileKind.COMPACTION if side[1] == "compact" else FileKind.SIDE
    return SourceFile(source, kind, stem, agent[1])
