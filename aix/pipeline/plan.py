"""The plan of a run: which sources are new, which have changed, and which need not be read.

Nothing here reads rows, and nothing heavy is imported: a run over thousands of sources that have not changed ends here.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

import msgspec

from aix.pipeline.contract import Importer, Source, readable
from aix.pipeline.discovery import Claim, Discovery, Owner, stamp
from aix.store.sources import Fingerprint, Fingerprints, source_id


class State(StrEnum):
    """How a source stands to what the ledger knows of it."""

    NEW = "new"
    CHANGED = "changed"
    RETRY = "failed before"
    OUTDATED = "read by another version"
    UNCHANGED = "unchanged"
    GONE = "gone"

    @property
    def must_be_read(self) -> bool:
        """Whether the source has to be read now."""
        return self not in _LEFT_ALONE


_LEFT_ALONE = (State.UNCHANGED, State.GONE)


class Planned(msgspec.Struct, frozen=True, gc=False):
    """A source, and what is to be done with it."""

    claim: Claim
    name: str
    """The name of the source in the ledger."""
    id: str
    state: State
    stamps: tuple[str, ...]
    is_touched: bool = False
    """Whether its files look changed and hold what they held."""
    is_known: bool = False
    """Whether rows of it are in the ledger."""
    replaces: bool = False
    """Whether what it gives takes the place of what it gave, because something else read it or it is asked for."""

    @property
    def source(self) -> Source:
        """The source."""
        return self.claim.source

    @property
    def size_bytes(self) -> int:
        """How large its files are; 0 when nobody can say."""
        return 0 if self.source.stamp else sum(map(int, _sizes(self.stamps)))


def source_name(source: Source, machine: str | None) -> str:
    """Return the name of a source in the ledger: its path, after the name of the machine where the user gives one.

    >>> source_name(Source("/logs/a.jsonl"), "laptop")
    'laptop:/logs/a.jsonl'
    """
    name = readable(source.name)
    return f"{machine}:{name}" if machine else name


_id_of = lru_cache(100_000)(source_id)  # asked for when a file is found, and again when it is compared


def version_of(importer: Importer) -> str:
    """Return the version of an importer with its options: with others, it would give other rows."""
    options = "".join(f";{name}={value}" for name, value in sorted(importer.options.items()))
    return f"{importer.version}{options}"


def owner_by(importers: Sequence[Importer], known: Fingerprints, machine: str | None) -> Owner:
    """Return a function that looks up whose a file was when it was last read, and whether it surely still is."""
    prefix = f"{machine}:" if machine else ""
    versions = {importer.name: version_of(importer) for importer in importers}

    def owner(path: str, stamp: str) -> tuple[str | None, str | None]:
        entry = known.get(_id_of(prefix + readable(path))) if known else None
        if entry is None:
            return None, None
        is_as_it_was = not entry.failure and entry.stamps[:1] == (stamp,)
        is_sure = is_as_it_was and versions.get(entry.importer) == entry.version
        return entry.importer if is_sure else None, entry.importer

    return owner


def stamps_of(source: Source, seen: Mapping[str, str]) -> tuple[str, ...]:
    """Return the stamps of a source: of its files as they were seen, else as they are."""
    if source.stamp:
        return (source.stamp,)
    return tuple([seen.get(path) or stamp(Path(path).stat()) for path in source.files])


def make_plan(found: Discovery, known: Fingerprints, *, machine: str | None, reparse: bool) -> list[Planned]:
    """Say for each source what is to be done with it, sources of one group side by side."""
    importers = {claim.importer.name: claim.importer for claim in found.claims}
    versions = {name: version_of(importer) for name, importer in importers.items()}
    plan = []
    for claim in found.claims:
        version = None if reparse else versions[claim.importer.name]
        plan.append(_plan(claim, found.stamps, known, machine, version))
    if any(each.source.group for each in plan):
        plan.sort(key=lambda each: (each.source.group or each.source.name, each.source.name))
    return plan


def _plan(
    claim: Claim, seen: Mapping[str, str], known: Fingerprints, machine: str | None, version: str | None
) -> Planned:
    source = claim.source
    name = source_name(source, machine)
    identity = _id_of(name)
    entry = known.get(identity)
    try:
        stamps = stamps_of(source, seen)
    except OSError:  # it is gone since it was found: reading it will say so
        return Planned(claim, name, identity, State.CHANGED if entry else State.NEW, (), is_known=_is_known(entry))
    is_outdated = entry is not None and (entry.version != version or entry.importer != claim.importer.name)
    state, is_touched = _state(claim, entry, stamps, is_outdated=is_outdated)
    return Planned(claim, name, identity, state, stamps, is_touched, _is_known(entry), is_outdated)


def _is_known(entry: Fingerprint | None) -> bool:
    return entry is not None and bool(entry.content or not entry.failure)


def _state(
    claim: Claim, entry: Fingerprint | None, stamps: tuple[str, ...], *, is_outdated: bool
) -> tuple[State, bool]:
    """Return how a source stands, and whether it was touched."""
    if entry is None:
        return State.NEW, False
    if entry.failure:
        return State.RETRY, False
    if not entry.content:
        return State.CHANGED, False
    if is_outdated:
        return State.OUTDATED, False
    if entry.stamps == stamps:
        return State.UNCHANGED, False
    if not claim.source.stamp and _sizes(entry.stamps) != _sizes(stamps):
        return State.CHANGED, False
    try:
        is_equal = claim.importer.fingerprint(claim.source) == entry.content
    except Exception:  # whatever is wrong with it, reading it will say so
        is_equal = False
    return (State.UNCHANGED, True) if is_equal else (State.CHANGED, False)


def _sizes(stamps: tuple[str, ...]) -> list[str]:
    return [each.partition(":")[0] for each in stamps]
