"""Commits: all tables move from one whole version to the next, or nothing does.

The Parquet files of the new version are written and synced first, beside those of the old one, which are never
touched. Then the manifest that lists them appears under the next number, in one step that fails when another writer
took that number; the change is then applied again on top of the other's. A writer that dies leaves files that no
manifest names.

    commit(ledger, Change(adds=Addition(rows), fingerprints=fingerprints, derived=DerivedData(prices)))

A change is a value. Its steps and what is derived know what rows mean; here, there are files and versions.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar, cast

import msgspec

from aix.errors import LedgerDamagedError
from aix.store.durable import is_absent, make_folder, new_file, part_file, place, sync_folder, writing_to
from aix.store.fingerprints import Fingerprints
from aix.store.locks import among_writers
from aix.store.manifest import (
    DATA_FOLDER,
    EMPTY,
    VERSIONS_FOLDER,
    Manifest,
    Segment,
    check_folders,
    files_of,
    is_ledger,
    manifest_path,
    read_latest,
    segments_of,
)
from aix.store.source_ties import StoredTies
from aix.store.stage import Stage
from aix.store.upgrade import upgraded

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class Step(Protocol[Result_co]):
    """A part of a change, described by a value: rows that leave a version, or that are joined into it."""

    def apply(self, base: Manifest, stage: Stage) -> tuple[Manifest, Result_co]:
        """Return the version after this step, and whatever the writer wants to know of it."""


class Derived(Protocol):
    """Data that follows from rows and lies beside them."""

    def prepare(self) -> None:
        """Get ready to derive, beside the steps of a change."""

    def without(self, version: Manifest) -> Manifest:
        """Return a version as steps see it: what is derived is not theirs to join, group or forget."""

    def derive(self, before: Manifest, version: Manifest, stage: Stage) -> Manifest:
        """Return a version with what follows from its rows, given the version before."""

    def refresh(self, ledger: Path) -> None:
        """Bring files up to date that follow from the newest version and are no part of it."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """A description of what a commit does to the newest version of a ledger, whichever that is."""

    leaves: Sequence[Step[object]] = ()
    """Steps that remove rows, before anything is added."""
    adds: Step[object] | None = None
    """The rows that are joined into it."""
    fingerprints: Fingerprints = field(default_factory=dict)
    """Of the sources that the rows were read from."""
    ties: StoredTies = field(default_factory=dict)
    """Of the same sources."""
    finished: Collection[str] = ()
    """Runs that had yet to read together what is connected."""
    derived: Derived

    @property
    def steps(self) -> Sequence[Step[object]]:
        """Steps that remove rows, then the one that adds some."""
        return self.leaves if self.adds is None else [*self.leaves, self.adds]


@dataclass(frozen=True)
class Committed:
    """The version that a commit made, or found when there was nothing to change."""

    version: Manifest
    results: Sequence[tuple[Step[object], object]]
    """Each step with its result, as it was last applied."""

    def result(self, step: Step[Result]) -> Result:
        """Return what a step of the change returned."""
        return cast("Result", next(result for each, result in self.results if each is step))


def commit(ledger: Path, change: Change) -> Committed:
    """Publish what a change makes of the newest version, unless that is the same.

    When another writer was faster, it is applied again to that writer's version.
    """
    with writing_to(ledger):
        _prepare(ledger)
        with among_writers(ledger):
            committed = _commit(ledger, change)
        change.derived.refresh(ledger)
        return committed


def _commit(ledger: Path, change: Change) -> Committed:
    overtaken_at = -1
    while True:
        base = read_latest(ledger) if is_ledger(ledger) else EMPTY
        if base.version <= overtaken_at:
            taken = manifest_path(ledger, base.version + 1)
            raise LedgerDamagedError(taken, "it was there, and is gone again")
        committed = _attempt(ledger, base, change)
        if committed is not None:
            return committed
        overtaken_at = base.version


def _attempt(ledger: Path, base: Manifest, change: Change) -> Committed | None:
    """Apply the change and publish it as the version after `base`; None when another writer did so first."""
    stage = Stage(ledger)
    number = base.version + 1
    try:
        current = upgraded(base, stage)
        applied = _applied(change, current, stage)
        new = applied.version
        if _says_nothing_new(new, current, change):
            if base.version:
                sync_folder(ledger / VERSIONS_FOLDER)  # its writer may have died before it could
            stage.discard_unless(())
            return Committed(base, applied.results)
        _check_origin(new, current, stage)
        published = _publish(ledger, new)
    except BaseException:
        # The manifest may be this commit's own: then its files must stay, whatever went wrong afterwards.
        if is_absent(manifest_path(ledger, number)):
            stage.discard_unless(())
        raise
    stage.discard_unless(files_of(new) if published else ())
    return applied if published else None


def _applied(change: Change, current: Manifest, stage: Stage) -> Committed:
    """Return what a change makes of a version."""
    change.derived.prepare()
    version = msgspec.structs.replace(change.derived.without(current), replaces_rows=False)
    results = []
    for step in change.steps:
        version, result = step.apply(version, stage)
        results.append((step, result))
    version = msgspec.structs.replace(
        version,
        version=current.version + 1,
        fingerprints=stage.write_fingerprints(version, change.fingerprints),
        ties=stage.write_ties(version, change.ties),
        unfinished=tuple(run for run in version.unfinished if run not in change.finished),
    )
    version = change.derived.derive(current, version, stage)
    return Committed(msgspec.structs.replace(version, tables=_named(version.tables)), results)


def _says_nothing_new(new: Manifest, current: Manifest, change: Change) -> bool:
    names = ("fingerprints", "ties", "unfinished", "prices", "dead")
    is_silent = all(getattr(new, name) == getattr(current, name) for name in names)
    is_silent = is_silent and new.tables == _named(current.tables)
    if (new.views_made_by, new.rules) == (current.views_made_by, current.rules) or not current.version:
        return is_silent
    # That views were made again, or in vain, is news for whoever asked for it and would do so again and again.
    return is_silent and bool(change.steps) and new.views == current.views


def _named(tables: Mapping[str, Sequence[Segment]]) -> dict[str, tuple[Segment, ...]]:
    return {name: tuple(segments) for name, segments in tables.items() if segments}


def _check_origin(new: Manifest, current: Manifest, stage: Stage) -> None:
    """A file that is neither the base's nor this attempt's may be gone: a change must not keep any from elsewhere."""
    kept = segments_of(current)
    foreign = [segment.path for segment in segments_of(new) if segment not in kept and not stage.has(segment)]
    if foreign:
        raise ValueError(f"these files belong to no version and were not written in this commit: {foreign}")


def _prepare(ledger: Path) -> None:
    check_folders(ledger)
    for folder in (ledger, ledger / DATA_FOLDER, ledger / VERSIONS_FOLDER):
        make_folder(folder)
    if not is_ledger(ledger):
        # Whoever made the folders may have died before their names were on disk.
        sync_folder(ledger)
        sync_folder(ledger.absolute().parent)


def _publish(ledger: Path, new: Manifest) -> bool:
    sync_folder(ledger / DATA_FOLDER)
    with part_file(ledger / VERSIONS_FOLDER) as part:
        with new_file(part) as file:
            file.write(msgspec.json.format(msgspec.json.encode(new), indent=1))
        return place(part, manifest_path(ledger, new.version))
