"""Commits: all tables move from one whole version to the next, or nothing does.

The Parquet files of the new version are written and synced first, beside those of the old one, which are never
touched. Then the manifest that lists them appears under the next number, in one step that fails when another writer
took that number; the change is then applied again on top of the other's. A writer that dies leaves files that no
manifest names.

    commit(ledger, Change(adds=Addition(rows), fingerprints=fingerprints, derived=DerivedData(prices)))

A change is a value. Its steps and what is derived know what rows mean; here, there are files and versions.
"""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Protocol, TypeVar, cast
from uuid import uuid4

import msgspec
import pyarrow as pa

from aix.errors import LedgerDamagedError
from aix.schema import SCHEMA_VERSION, TABLES, Table
from aix.schema.arrow import arrow_schema, check_batch
from aix.schema.migrations import changed_tables, former_node
from aix.store.durable import is_absent, make_folder, new_file, part_file, place, remove, sync_folder, writing_to
from aix.store.index import COMPONENT_FIELD, Index, StoredIndex
from aix.store.locks import among_writers
from aix.store.manifest import (
    COMPONENT,
    DATA_FOLDER,
    EMPTY,
    VERSIONS_FOLDER,
    EntryFile,
    Manifest,
    Segment,
    check_folders,
    files_of,
    is_ledger,
    manifest_path,
    read_latest,
    segment_path,
    segments_of,
)
from aix.store.segments import (
    Pace,
    RowGroupWriter,
    checked_path,
    first_nodes,
    read_row_groups,
    reading,
    upgraded_rows,
)
from aix.store.sources import (
    Fingerprints,
    StoredTies,
    files_to_merge,
    read_fingerprints,
    read_ties,
    weight,
)
from aix.version import FIRST_NUMBERED

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class Stage:
    """The new files of a commit that is under way."""

    def __init__(self, ledger: Path) -> None:
        self.ledger = ledger
        self._written: list[str] = []

    def write(self, table: Table, batches: Iterable[pa.RecordBatch], group: str | None = None) -> Segment:
        """Write rows that keep the table's schema into a new file; those of a group are numbered, in a last column."""
        schema = arrow_schema(table) if group is None else arrow_schema(table).append(COMPONENT_FIELD)
        return self._write(table.name, schema, _checked_batches(table, batches), group, Pace.SMALL)

    def write_view(self, name: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch], group: str | None) -> Segment:
        """Write what a view makes of a group into a new file."""
        return self._write(name, schema, batches, group, Pace.READ_OFTEN)

    def _write(
        self, name: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch], group: str | None, pace: Pace
    ) -> Segment:
        path = f"{DATA_FOLDER}/{name}-{uuid4().hex}.parquet"
        with new_file(self.ledger / path) as file, RowGroupWriter(file, schema, pace) as writer:
            for batch in batches:
                writer.write(batch)
        self._written.append(path)
        return Segment(path, writer.rows, (self.ledger / path).stat().st_size, group)

    def write_index(self, index: Index) -> EntryFile:
        """Write the index of a group whose files are written here."""
        return self._write_entries(f"index-{uuid4().hex}.bin", index.to_bytes(), len(index))

    def write_fingerprints(self, base: Manifest, new: Fingerprints) -> tuple[EntryFile, ...]:
        """Write fingerprints beside those of a version, and return the files of all there are."""
        if not new:
            return base.fingerprints
        kept = len(base.fingerprints) - files_to_merge(base.fingerprints, len(new))
        entries = {**read_fingerprints(self.ledger, base.fingerprints[kept:]), **new}
        written = self._write_entries(f"fingerprints-{uuid4().hex}.json", msgspec.json.encode(entries), len(entries))
        return (*base.fingerprints[:kept], written)

    def write_ties(self, base: Manifest, new: StoredTies) -> tuple[EntryFile, ...]:
        """Write ties beside those of a version, and return the files of all there are."""
        if not new:
            return base.ties
        kept = len(base.ties) - files_to_merge(base.ties, weight(new))
        entries = {**read_ties(self.ledger, base.ties[kept:]), **new}
        if not kept:  # nothing is left that an empty entry would have to override
            entries = {source: ties for source, ties in entries.items() if ties.count}
        written = self._write_entries(f"ties-{uuid4().hex}.bin", msgspec.msgpack.encode(entries), weight(entries))
        return (*base.ties[:kept], written)

    def _write_entries(self, name: str, content: bytes, entries: int) -> EntryFile:
        written = EntryFile(f"{DATA_FOLDER}/{name}", entries, sha256(content).hexdigest())
        with new_file(self.ledger / written.path) as file:
            file.write(content)
        self._written.append(written.path)
        return written

    def has(self, segment: Segment) -> bool:
        """Whether the segment was written here."""
        return segment.path in self._written

    def discard_unless(self, named: Container[str]) -> None:
        """Remove the files that no manifest will name."""
        for path in self._written:
            if path not in named:
                remove(self.ledger / path)


def _checked_batches(table: Table, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        is_numbered = batch.schema.names[-1:] == [COMPONENT]
        check_batch(table, batch.remove_column(batch.num_columns - 1) if is_numbered else batch)
        yield batch


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
        current = _upgraded(base, stage)
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


def _upgraded(base: Manifest, stage: Stage) -> Manifest:
    """Rewrite the files that an earlier schema has in another form, so that all files of a version have one."""
    if base.schema_version == SCHEMA_VERSION:
        return base
    upgrade = _Upgrade(base, stage)
    tables = {
        name: tuple(upgrade.rewritten(TABLES[name], segment) for segment in segments)
        for name, segments in base.tables.items()
    }
    return msgspec.structs.replace(
        base,
        schema_version=SCHEMA_VERSION,
        tables=tables,
        indexes={**base.indexes, **{group: stage.write_index(index) for group, index in upgrade.indexes.items()}},
        components=upgrade.components,
    )


class _Upgrade:
    """The files of a version of an earlier schema, written in the form of today where that is another."""

    def __init__(self, base: Manifest, stage: Stage) -> None:
        self._base = base
        self._stage = stage
        self._outdated = changed_tables(base.schema_version)
        self._is_numbered = base.schema_version >= FIRST_NUMBERED
        self.components = base.components
        self.indexes: dict[str, Index] = {}
        """The indexes that differ from those of the version, by group."""
        for group, file in base.indexes.items() if not self._is_numbered else ():
            self.indexes[group] = _numbered_index(stage.ledger, file, self.components + 1)
            self.components += len(self.indexes[group].families)

    def rewritten(self, table: Table, segment: Segment) -> Segment:
        """Return a segment that has the same rows in the form of today."""
        group = segment.group
        if table.name not in self._outdated and (group is None or self._is_numbered):
            return segment
        written_version = self._base.schema_version
        path = checked_path(self._stage.ledger, table, segment, written_version)

        def components(rows: pa.Table) -> pa.ChunkedArray:
            if self._is_numbered:
                return rows.column(COMPONENT)
            return self.indexes[group or ""].components(first_nodes(table, rows, written_version))

        with reading(path):
            numbers = components if group is not None else None
            new = self._stage.write(table, upgraded_rows(table, read_row_groups(path), written_version, numbers), group)
        if group is not None and former_node(table, written_version):
            self._index_again(table, new, group)
        return new

    def _index_again(self, table: Table, segment: Segment, group: str) -> None:
        """Add the nodes that rows have since the key of their table changed."""
        stored = self.indexes.get(group) or StoredIndex(self._stage.ledger, self._base.indexes[group]).whole
        for rows in read_row_groups(segment_path(self._stage.ledger, segment)):
            stored = stored.extended(first_nodes(table, rows), rows.column(COMPONENT))
        self.indexes[group] = stored


def _numbered_index(ledger: Path, file: EntryFile, first: int) -> Index:
    """Number the families of a group: up to schema version 4, one of its nodes stood for a family."""
    stored = StoredIndex(ledger, file)
    if file.sha256 is None:
        stored.check_order()
    return stored.whole.numbered(first)


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
    names = ("fingerprints", "ties", "unfinished", "prices", "personas", "dead")
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
