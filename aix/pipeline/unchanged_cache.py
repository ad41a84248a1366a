"""Notes beside the ledger that spare a run work where nothing has changed; each can be deleted at any time.

The note of quiet places says of a state of places, as stamps of all their files show it, how many sources were in it
when the ledger had everything of them: a run then ends after looking at the files. It counts only for the version of
the ledger and the importers it was made with.

The note of touched files has the stamps of files that were touched and hold what they held, so that they are hashed
only once. A stamp counts only together with the content that the fingerprints of the version know.
"""

import hashlib
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from aix.pipeline.discovery import Walk
from aix.pipeline.plan import Planned
from aix.store.durable import write_note
from aix.store.sources import Fingerprint, Fingerprints
from aix.store.stored_files import read_note

_QUIET_FILE = "quiet.json"
_MOST_STATES = 16
_TOUCHED_FILE = "touched.json"
_TOUCHED_DECODER = msgspec.json.Decoder(dict[str, tuple[str, tuple[str, ...]]])


class _Note(msgspec.Struct):
    version: int
    """Of the ledger."""
    sources: dict[str, int]
    """By state of the places."""


_QUIET_DECODER = msgspec.json.Decoder(_Note)


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
    note = read_note(ledger / _QUIET_FILE, _QUIET_DECODER.decode)
    return note.sources.get(state) if note and note.version == version else None


def note_quiet(ledger: Path, version: int, state: str, sources: int) -> None:
    """Note that there is nothing to be done in places of that state."""
    note = read_note(ledger / _QUIET_FILE, _QUIET_DECODER.decode)
    known = note.sources if note and note.version == version else {}
    latest = dict([*known.items(), (state, sources)][-_MOST_STATES:])
    write_note(ledger, _QUIET_FILE, msgspec.json.encode(_Note(version, latest)))


def with_touched(ledger: Path, known: dict[str, Fingerprint]) -> dict[str, Fingerprint]:
    """Return fingerprints with the stamps that were noted since."""
    for identity, (content, stamps) in _read_touched(ledger).items():
        entry = known.get(identity)
        if entry is not None and entry.content == content:
            known[identity] = msgspec.structs.replace(entry, stamps=stamps)
    return known


def note_touched(ledger: Path, plan: Iterable[Planned], known: Fingerprints) -> None:
    """Note the stamps of sources that were touched and hold what they held."""
    touched = {each.id: (known[each.id].content, each.stamps) for each in plan if each.is_touched}
    if touched:
        write_note(ledger, _TOUCHED_FILE, msgspec.json.encode({**_read_touched(ledger), **touched}))


def _read_touched(ledger: Path) -> dict[str, tuple[str, tuple[str, ...]]]:
    return read_note(ledger / _TOUCHED_FILE, _TOUCHED_DECODER.decode) or {}
