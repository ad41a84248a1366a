"""Finding sources: walking through places, and asking importers which files are theirs.

Every source has exactly one importer. What two claim, what cannot be read, and what looks like a log but is nobody's,
is refused with a reason.
"""

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from itertools import chain
from operator import attrgetter, itemgetter
from pathlib import Path

import msgspec

from aix.pipeline.contract import Candidate, Importer, Source, readable


class Refused(StrEnum):
    """Why something that was found is not imported."""

    UNREADABLE = "unreadable"
    CONFLICT = "conflict"
    CRASH = "crash"
    UNCLAIMED = "unclaimed"
    """The user named the very file."""
    EMPTY = "empty"
    UNRECOGNISED = "unrecognised"

    @property
    def is_failure(self) -> bool:
        """Whether something that the user wants imported is not."""
        return self not in (Refused.EMPTY, Refused.UNRECOGNISED)


class Refusal(msgspec.Struct, frozen=True):
    """A file or folder that is not imported, and why."""

    path: str
    kind: Refused
    reason: str


class Claim(msgspec.Struct, frozen=True, gc=False):
    """A source and the importer whose it is."""

    source: Source
    importer: Importer


class Walk(msgspec.Struct):
    """The files in a place, and the importers that look at them."""

    place: str
    importers: Sequence[Importer]
    stamps: dict[str, str] = msgspec.field(default_factory=dict)
    """By path, the stamp of every file."""
    refusals: list[Refusal] = msgspec.field(default_factory=list)


class Discovery(msgspec.Struct):
    """The sources that were found, and the files that were refused."""

    claims: list[Claim] = msgspec.field(default_factory=list)
    refusals: list[Refusal] = msgspec.field(default_factory=list)
    candidates: dict[str, Candidate] = msgspec.field(default_factory=dict)
    """By path, every file that was seen."""
    stamps: dict[str, str] = msgspec.field(default_factory=dict)
    """By path, the stamp of every file that was seen."""
    empty_places: list[str] = msgspec.field(default_factory=list)
    """Places that were given and hold nothing to import."""


Owner = Callable[[str, str], tuple[str | None, str | None]]
"""Returns `claimed_by` and `was_claimed_by` of the candidate with a path and a stamp."""


def stamp(state: os.stat_result) -> str:
    """Return a text that changes when a file does, without reading the file."""
    return f"{state.st_size}:{state.st_mtime_ns}:{state.st_ino}"


def walk_given(places: Sequence[str], importers: Sequence[Importer]) -> list[Walk]:
    """Go through places that the user names, which may be files or folders; every importer looks at them."""
    return [_walk(place, importers) for place in dict.fromkeys(places)]


def walk_default(importers: Sequence[Importer]) -> tuple[list[Walk], list[Refusal]]:
    """Go through the places where the tools keep their logs; only the importer of a tool looks there."""
    walks: list[Walk] = []
    refusals: list[Refusal] = []
    for importer in importers:
        try:
            places = [str(place.absolute()) for place in importer.default_places()]
        except Exception as error:  # a plugin may fail in any way; the others go on
            refusals.append(_crash(importer, error))
        else:
            walks += [_walk(place, [importer]) for place in dict.fromkeys(places) if Path(place).exists()]
    return walks, refusals


def discover(walks: Sequence[Walk], owner: Owner, *, are_given: bool) -> Discovery:
    """Find the sources among the files of these places."""
    found = Discovery()
    for walk in walks:
        found.refusals += walk.refusals
        fresh = [_candidate(path, now, owner) for path, now in walk.stamps.items() if path not in found.candidates]
        found.stamps.update(walk.stamps)
        found.candidates.update((file.path, file) for file in fresh)
        _ask(walk.importers, fresh, found)
        if are_given:
            _refuse_unclaimed(walk.place, walk.importers, fresh, found)
    _settle(found)
    if are_given:
        found.empty_places = [walk.place for walk in walks if not _holds_anything(walk.place, found)]
    return found


def _candidate(path: str, now: str, owner: Owner) -> Candidate:
    size_bytes, mtime_ns, inode = map(int, now.split(":"))
    return Candidate(path, size_bytes, mtime_ns, inode, *owner(path, now))


def _holds_anything(place: str, found: Discovery) -> bool:
    seen = chain((claim.source.path for claim in found.claims), (refusal.path for refusal in found.refusals))
    return any(path == place or path.startswith(place.rstrip(os.sep) + os.sep) for path in seen)


def _walk(place: str, importers: Sequence[Importer]) -> Walk:
    """Go through the files of a place; links to folders are not followed, but for the place."""
    walk = Walk(place, importers)
    folders = [place] if Path(place).is_dir() else []
    if not folders:
        _look_at(place, Path(place).stat, walk, ("",))
    suffixes = _suffixes(importers)
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=attrgetter("name"))
        except OSError as error:
            walk.refusals.append(_unreadable(folder, error))
            continue
        below = []
        for entry in listed:
            if entry.is_dir(follow_symlinks=False):
                below.append(entry.path)
            else:
                _look_at(entry.path, entry.stat, walk, suffixes)
        folders.extend(reversed(below))  # the first one is next: what comes in order is sorted in no time
    return walk


def _look_at(path: str, read_state: Callable[[], os.stat_result], walk: Walk, suffixes: tuple[str, ...]) -> None:
    try:
        state = read_state()
    except OSError as error:
        if path.lower().endswith(suffixes):  # a dangling link with another name is nobody's log
            walk.refusals.append(_unreadable(path, error))
        return
    if stat.S_ISREG(state.st_mode):
        walk.stamps[path] = stamp(state)


def _ask(importers: Iterable[Importer], files: Sequence[Candidate], found: Discovery) -> None:
    for importer in importers:
        try:
            found.claims.extend([Claim(_checked(source), importer) for source in importer.discover(files)])
        except Exception as error:  # a plugin may fail in any way; the others go on
            found.refusals.append(_crash(importer, error))


def _checked(source: object) -> Source:
    """Return a source, or raise TypeError or UnicodeError: nothing else checks what a plugin puts into one."""
    if not isinstance(source, Source) or not isinstance(source.sidecars, tuple):
        raise TypeError(f"it found something that is no source: {source!r}")
    texts = (source.path, source.key, source.group, source.stamp, *source.sidecars)
    if set(map(type, texts)) != {str}:
        raise TypeError(f"it found a source with something that is no text: {source!r}")
    readable("".join(texts))  # raises UnicodeError for text that no path can be
    return source


def _refuse_unclaimed(place: str, importers: Sequence[Importer], files: Sequence[Candidate], found: Discovery) -> None:
    """Name what the user may have wanted imported: the very file that was given, and what has the suffix of a log."""
    claimed = {path for claim in found.claims for path in claim.source.files}
    suffixes = _suffixes(importers)
    for file in files:
        if file.path in claimed or not (file.path == place or file.path.lower().endswith(suffixes)):
            continue
        if file.size_bytes == 0:
            found.refusals.append(Refusal(file.path, Refused.EMPTY, "it is empty"))
        elif error := _reading_error(file.path):
            found.refusals.append(_unreadable(file.path, error))
        elif file.path == place:
            found.refusals.append(Refusal(file.path, Refused.UNCLAIMED, "no importer recognises it"))
        else:
            found.refusals.append(Refusal(file.path, Refused.UNRECOGNISED, "no importer recognises it"))


def _suffixes(importers: Iterable[Importer]) -> tuple[str, ...]:
    return tuple(suffix for importer in importers for suffix in importer.suffixes)


def _settle(found: Discovery) -> None:
    """Leave each source to one importer, in an order that does not depend on how places were given."""
    by_name: dict[str, Claim] = {}
    owners: dict[str, str] = {}
    rivals: dict[str, set[str]] = {}
    for claim in found.claims:
        source, importer = claim.source, claim.importer.name
        by_name.setdefault(source.name, claim)
        if owners.setdefault(source.path, importer) != importer:
            rivals.setdefault(source.path, set()).update((owners[source.path], importer))
    found.claims = []
    for name, claim in sorted(by_name.items(), key=itemgetter(0)):
        claimants = rivals.get(claim.source.path)
        if claimants:
            reason = f"{' and '.join(sorted(claimants))} both claim it; choose one with --importer"
            found.refusals.append(Refusal(name, Refused.CONFLICT, reason))
        else:
            found.claims.append(claim)


def _reading_error(path: str) -> OSError | None:
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    except OSError as error:
        return error
    return None


def _unreadable(path: str, error: OSError) -> Refusal:
    return Refusal(path, Refused.UNREADABLE, f"it cannot be read: {error.strerror or error}")


def _crash(importer: Importer, error: Exception) -> Refusal:
    reason = f"it failed while it looked for its logs: {type(error).__name__}: {error}"
    return Refusal(f"importer {importer.name}", Refused.CRASH, reason)
