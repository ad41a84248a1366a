"""Files beside transcripts: descriptions of subagents, results that were too large, titles of sessions."""

import os
from collections.abc import Iterable
from pathlib import Path

from msgspec import Raw, Struct

from aix_importers.claude_code.discovery import META_SUFFIX, RESULTS_FOLDER
from aix_importers.claude_code.records import NOTHING, decode_object, decode_objects
from aix_importers.claude_code.scan import Scan

_INDEX = "sessions-index.json"


class AgentMeta(Struct, gc=False, frozen=True, rename="camel"):
    """Facts about a subagent from the file beside its transcript."""

    agent_type: str | None = None
    description: str | None = None
    tool_use_id: str | None = None


class _IndexEntry(Struct, gc=False, rename="camel"):
    session_id: str | None = None
    summary: str | None = None


class _Index(Struct, gc=False):
    entries: Raw = NOTHING


class _Spilled(Struct, gc=False, rename="camel"):
    persisted_output_path: str | None = None


def agent_meta(scans: Iterable[Scan]) -> dict[str, AgentMeta]:
    """Return what is said of subagents beside their transcripts, by agent."""
    found: dict[str, AgentMeta] = {}
    for scan in scans:
        for sidecar in scan.file.source.sidecars:
            if scan.file.agent_id is None or not sidecar.endswith(META_SUFFIX):
                continue
            meta = decode_object(AgentMeta, _content(sidecar))
            if meta is not None:
                found[scan.file.agent_id] = meta
    return found


def indexed_titles(scans: Iterable[Scan]) -> dict[str, str]:
    """Return the titles that the indexes beside transcripts have, by session.

    An index changes with every session of its folder, so it is no reason to read a transcript again.
    """
    titles: dict[str, str] = {}
    for folder in sorted({os.path.dirname(scan.file.source.path) for scan in scans}):  # noqa: PTH120 - no object each
        index = decode_object(_Index, _content(os.path.join(folder, _INDEX)))  # noqa: PTH118 - no object each
        entries = decode_objects(_IndexEntry, index.entries) if index else []
        titles.update((each.session_id, each.summary) for each in entries if each.session_id and each.summary)
    return titles


class SpilledResults:
    """Results that were too large for the transcript, and lie in files beside it."""

    def __init__(self, scans: Iterable[Scan]) -> None:
        marker = f"{os.sep}{RESULTS_FOLDER}{os.sep}"
        sidecars = (path for scan in scans for path in scan.file.source.sidecars if marker in path)
        self._paths = {_place(path): path for path in sidecars}

    def text_of(self, structured: bytes, text: str) -> str | None:
        """Return what a result says in full, if it was put into a file that is here."""
        if not self._paths or (b'"persistedOutputPath"' not in structured and "<persisted-output>" not in text):
            return None
        spilled = decode_object(_Spilled, structured) or _Spilled()
        path = self._paths.get(_place(spilled.persisted_output_path or _named_in(text)))
        try:
            return Path(path).read_text("utf-8", "replace") if path else None
        except OSError:
            return None


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def _place(path: str) -> tuple[str, ...]:
    """Return the session and the name that a path ends with: what comes before is another machine's."""
    return tuple(path.replace("\\", "/").split("/")[-3:])


def _named_in(text: str) -> str:
    return text.partition("saved to: ")[2].partition("\n")[0].strip()
