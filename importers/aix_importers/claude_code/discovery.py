"""Which files are transcripts of Claude Code, and which lie beside them."""

import json
import os
from collections.abc import Iterator, Sequence
from functools import cache

from aix.importing import Candidate, Source

META_SUFFIX = ".meta.json"
RESULTS_FOLDER = "tool-results"
_HEAD_BYTES = 65_536
_MOST_LINES = 50
_RULE_LISTS = (
    b'"allow"', b'"deny"', b'"ask"', b'"defaultMode"', b'"additionalDirectories"', b'"disableBypassPermissionsMode"',
)  # fmt: skip
_NOT_TRANSCRIPTS = {"history.jsonl", "journal.jsonl"}
_TYPES_WITHOUT_MESSAGES = {
    "summary", "file-history-snapshot", "queue-operation", "custom-title", "ai-title", "agent-name", "agent-setting",
    "last-prompt", "permission-mode", "mode", "pr-link", "worktree-state", "relocated", "bridge-session", "frame-link",
}  # fmt: skip


def find_sources(files: Sequence[Candidate], importer: str) -> Iterator[Source]:
    """Go through the transcripts and the files of permission rules among the files."""
    beside = _Beside()
    for file in files:
        name = file.name
        if is_settings(name):
            if file.claimed_by not in (None, importer):
                continue
            if importer in (file.claimed_by, file.was_claimed_by) or _holds_rules(file.head(_HEAD_BYTES)):
                yield Source(file.path, may_hold_secrets=True)
            continue
        if file.claimed_by not in (None, importer) or not name.endswith(".jsonl") or name in _NOT_TRANSCRIPTS:
            continue
        if file.claimed_by is None and not holds_records(file.head(_HEAD_BYTES)):
            continue
        yield Source(file.path, sidecars=beside.of(file.path, name), group=_group(file.path, name))


class _Beside:
    """The files that lie beside transcripts and are read with them, also when only a transcript was given."""

    def __init__(self) -> None:
        self._names_in = cache(_names_in)  # thousands of transcripts lie in a few folders

    def of(self, path: str, name: str) -> tuple[str, ...]:
        folder, stem = path[: -len(name) - 1], name.removesuffix(".jsonl")
        names = self._names_in(folder)
        if name.startswith("agent-"):
            meta = stem + META_SUFFIX
            return (f"{folder}{os.sep}{meta}",) if meta in names else ()
        if stem not in names:
            return ()
        results = f"{folder}{os.sep}{stem}{os.sep}{RESULTS_FOLDER}"
        return tuple(f"{results}{os.sep}{each}" for each in sorted(_names_in(results, files_only=True)))


def _names_in(folder: str, *, files_only: bool = False) -> frozenset[str]:
    try:
        with os.scandir(folder) as entries:
            return frozenset(entry.name for entry in entries if not files_only or entry.is_file())
    except OSError:
        return frozenset()


def is_settings(name: str) -> bool:
    """Whether a file is called what files of settings are called."""
    return name in ("settings.json", "settings.local.json", "managed-settings.json")


def _holds_rules(head: bytes) -> bool:
    return b'"permissions"' in head and any(name in head for name in _RULE_LISTS)


def holds_records(head: bytes) -> bool:
    """Whether the beginning of a file has a line that looks like a record; the last line may be cut."""
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return any(_is_record(line.strip(b"\0 \r\t")) for line in lines[:_MOST_LINES])


def _is_record(line: bytes) -> bool:
    if not line.startswith(b"{"):
        return False
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return _begins_like_record(line)
    if not isinstance(value, dict) or not isinstance(kind := value.get("type"), str):
        return False
    if kind in _TYPES_WITHOUT_MESSAGES or (kind in ("system", "assistant") and "session_id" in value):
        return True
    return "sessionId" in value and ("parentUuid" in value or "uuid" in value)


def _begins_like_record(line: bytes) -> bool:
    is_whole = all(name in line for name in (b'"parentUuid"', b'"sessionId"', b'"type"'))
    return is_whole or all(name in line for name in (b'"parentUuid"', b'"isSidechain"'))


def _group(path: str, name: str) -> str:
    """Return what a session and the subagents in the folder of its name have in common."""
    folder = path[: -len(name) - 1]
    before, marker, _ = f"{folder}{os.sep}".rpartition(f"{os.sep}subagents{os.sep}")
    if marker:
        return before
    return path.removesuffix(".jsonl")
