"""Which files are transcripts of Claude Code, and which lie beside them."""

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from aix.importing import Candidate, Source
from aix_importers.recognition import PROGRAM_FILES, Family, may_hold_lines, recognise, without_suffix

META_SUFFIX = ".meta.json"
RESULTS_FOLDER = "tool-results"
_HEAD_BYTES = 2**20
_OWN_FOLDER = f"{os.sep}.claude{os.sep}projects{os.sep}"
_RULE_LISTS = (
    b'"allow"', b'"deny"', b'"ask"', b'"defaultMode"', b'"additionalDirectories"', b'"disableBypassPermissionsMode"',
)  # fmt: skip
_NOT_TRANSCRIPTS = {"history.jsonl", "journal.jsonl"}


def find_sources(files: Sequence[Candidate], importer: str, places: Iterable[Path]) -> Iterator[Source]:
    """Go through the transcripts and the files of permission rules among the files.

    `places` are the folders of Claude Code: all JSON lines of their projects are its own, whatever they hold.
    """
    beside = _Beside()
    own_folders = tuple(f"{place.absolute()}{os.sep}projects{os.sep}" for place in places)
    for file in files:
        name = file.name
        if is_settings(name):
            if file.claimed_by not in (None, importer):
                continue
            if importer in (file.claimed_by, file.was_claimed_by) or _holds_rules(file.head(_HEAD_BYTES)):
                yield Source(file.path, may_hold_secrets=True)
            continue
        if file.claimed_by not in (None, importer) or not may_hold_lines(name) or name.lower() in _NOT_TRANSCRIPTS:
            continue
        if file.claimed_by is None and not _is_transcript(file, own_folders):
            continue
        yield Source(file.path, sidecars=beside.of(file.path, name), group=_group(file.path, name))


def _is_transcript(file: Candidate, own_folders: tuple[str, ...]) -> bool:
    family = recognise(file.path).family
    if family is None and file.size_bytes and file.name.lower() not in PROGRAM_FILES:
        return file.path.startswith(own_folders) or _OWN_FOLDER in file.path
    return family is Family.CLAUDE_CODE


class _Beside:
    """The files that lie beside transcripts and are read with them, also when only a transcript was given."""

    def __init__(self) -> None:
        self._names_in = cache(_names_in)  # thousands of transcripts lie in a few folders

    def of(self, path: str, name: str) -> tuple[str, ...]:
        folder, stem = path[: -len(name) - 1], without_suffix(name)
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


def _group(path: str, name: str) -> str:
    """Return what a session and the subagents in the folder of its name have in common."""
    folder = path[: -len(name) - 1]
    before, marker, _ = f"{folder}{os.sep}".rpartition(f"{os.sep}subagents{os.sep}")
    if marker:
        return before
    return without_suffix(path)
