"""Places in which nothing has changed: noted beside the ledger, so that such a run ends after looking at the files.

The note says of a state of places, as stamps of all their files show it, how many sources were in it when the ledger
had everything of them. It counts only for the version of the ledger and the importers it was made with, and can be
deleted at any time.
"""

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from aix.pipeline.discovery import Walk
from aix.store.durable import write_note
from aix.store.stored_files import read_note

FILE_NAME = "quiet.json"
_MOST_STATES = 16


class _Note(msgspec.Struct):
    version: int
    """Of the ledger."""
    sources: dict[str, int]
    """By state of the places."""


_DECODER = msgspec.json.Decoder(_Note)


def state_of(walks: Sequence[Walk], readers: Sequence[str]) -> str | None:
    """Return a hash of everything that decides what a run would find; None when something could not be looked at.

    `readers` are the importers with their versions and options, and whatever else the names of sources depend on.
    """
    if any(walk.refusals for walk in walks):
        return None
    digest = hashlib.sha256("\0".join(readers).encode("utf-8", "surrogateescape"))
    for walk in walks:
        names = [walk.place, *(importer.name for importer in walk.importers)]
        for text in (names, _folders_above(walk.place), walk.stamps.keys(), walk.stamps.values()):
            digest.update("\0".join(text).encode("utf-8", "surrogateescape"))
            digest.update(b"\0\0")
    return digest.hexdigest()


def _folders_above(place: str) -> list[str]:
    """Return the names of files where sidecars may lie and nobody walks: beside a source that is a place, or above."""
    names: list[str] = []
    for folder in list(Path(place).parents)[:2]:
        with suppress(OSError), os.scandir(folder) as entries:
            names += ["", *sorted(entry.name for entry in entries if not entry.is_dir(follow_symlinks=False))]
    return names


def recall_quiet(ledger: Path, version: int, state: str) -> int | None:
    """Return how many sources were in places of that state, if nothing was to be done then."""
    note = read_note(ledger / FILE_NAME, _DECODER.decode)
    return note.sources.get(state) if note and note.version == version else None


def note_quiet(ledger: Path, version: int, state: str, sources: int) -> None:
    """Note that there is nothing to be done in places of that state."""
    note = read_note(ledger / FILE_NAME, _DECODER.decode)
    known = note.sources if note and note.version == version else {}
    latest = dict([*known.items(), (state, sources)][-_MOST_STATES:])
    write_note(ledger, FILE_NAME, msgspec.json.encode(_Note(version, latest)))
