"""Files that are transcripts of Claude Code, the sessions they belong to, and the files beside them."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from aix.importing import Candidate, Source
from aix_importers.common.recognition import PROGRAM_FILES, Family, may_hold_lines, recognise, without_suffix

META_SUFFIX = ".meta.json"
RESULTS_FOLDER = "tool-results"
_SUBAGENTS = f"{os.sep}subagents"
_HEAD_BYTES = 2**20
_OWN_FOLDER = f"{os.sep}.claude{os.sep}projects{os.sep}"
_RULE_LISTS = (
    b'"allow"', b'"deny"', b'"ask"', b'"defaultMode"', b'"additionalDirectories"', b'"disableBypassPermissionsMode"',
)  # fmt: skip
_NOT_TRANSCRIPTS = {"history.jsonl", "journal.jsonl"}
_AGENT_FILE = re.compile(r"agent-(.+)\.(?:jsonl|ndjson)", re.IGNORECASE)
_SIDE_CALL = re.compile(r"a(compact|side_question|prompt_suggestion)-")


def find_sources(files: Sequence[Candidate], importer: str, places: Iterable[Path]) -> Iterator[Source]:
    """Go through the transcripts and the files of permission rules among the files.

    `places` are the folders of Claude Code: all JSON lines of their projects are its own, whatever they hold.
    """
    own_folders = tuple(f"{place.absolute()}{os.sep}projects{os.sep}" for place in places)
    for file in files:
        if file.claimed_by not in (None, importer):
            continue
        name = file.name
        if is_settings(name):
            if importer in (file.claimed_by, file.was_claimed_by) or _holds_rules(file.head(_HEAD_BYTES)):
                yield Source(file.path, may_hold_secrets=True)
        elif _may_be_transcript(name) and (file.claimed_by or _is_transcript(file, own_folders)):
            folder, stem = file.path[: -len(name) - 1], without_suffix(name)
            yield Source(file.path, sidecars=_beside(folder, stem), group=_group(folder, stem))


def _may_be_transcript(name: str) -> bool:
    return may_hold_lines(name) and name.lower() not in _NOT_TRANSCRIPTS


def _is_transcript(file: Candidate, own_folders: tuple[str, ...]) -> bool:
    family = recognise(file.path).family
    if family is None and file.size_bytes and file.name.lower() not in PROGRAM_FILES:
        return file.path.startswith(own_folders) or _OWN_FOLDER in file.path
    return family is Family.CLAUDE_CODE


def _beside(folder: str, stem: str) -> tuple[str, ...]:
    """Return the files that lie beside a transcript and are read with it, also when only the transcript was given."""
    if stem.startswith("agent-"):
        meta = f"{folder}{os.sep}{stem}{META_SUFFIX}"
        return (meta,) if _exists(meta) else ()
    results = f"{folder}{os.sep}{stem}{os.sep}{RESULTS_FOLDER}"
    if not os.access(results, os.F_OK):  # most sessions have none, and an exception for each takes longer
        return ()
    try:
        with os.scandir(results) as entries:
            return tuple(sorted(entry.path for entry in entries if entry.is_file()))
    except OSError:
        return ()


def _exists(path: str) -> bool:
    try:
        os.lstat(path)
    except OSError:
        return False
    return True


def is_settings(name: str) -> bool:
    """Whether a file is called what files of settings are called."""
    return name in ("settings.json", "settings.local.json", "managed-settings.json")


def _holds_rules(head: bytes) -> bool:
    return b'"permissions"' in head and any(name in head for name in _RULE_LISTS)


def _group(folder: str, stem: str) -> str:
    """Return what a session and the subagents in the folder of its name have in common."""
    if _SUBAGENTS in folder:
        before, marker, _ = f"{folder}{os.sep}".rpartition(f"{_SUBAGENTS}{os.sep}")
        if marker:
            return before
    return f"{folder}{os.sep}{stem}"


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
