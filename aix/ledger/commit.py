"""Commits: all tables move from one whole version to the next, or nothing does.

The Parquet files of the new version are written and synced first, beside those of the old one, which are never
touched. Then the manifest that lists them appears under the next number, in one step that fails when another writer
took that number; the change is then made again on top of the other's. A writer that dies leaves files that no
manifest names.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import duckdb
import msgspec
import pyarrow as pa

from aix.derived.catalog import refresh_catalog
from aix.derived.materialised_tables import keep_views
from aix.derived.pricing import with_prices, without_prices
from aix.errors import LedgerDamagedError
from aix.ledger.durable import is_absent, make_folder, new_file, place, remove, sync_folder, writing_to
from aix.ledger.fingerprints import Fingerprints, encode, files_to_merge, read_fingerprints
from aix.ledger.index import COMPONENT_FIELD, Index, StoredIndex
from aix.ledger.locks import among_writers
from aix.ledger.manifest import (
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
    segments_of,
)
from aix.ledger.row_groups import Pace, RowGroupWriter
from aix.ledger.segment_checks import checked_path
from aix.ledger.ties import StoredTies, encode_ties, read_ties, weight
from aix.ledger.upgrade import upgraded_rows
from aix.prices.table import PriceTable
from aix.schema import SCHEMA_VERSION, TABLES, Table
from aix.schema.arrow import arrow_schema
from aix.schema.checks import check_batch
from aix.schema.migrations import changed_tables


class Stage:
    """The new files of a commit that is under way."""

    def __init__(self, ledger: Path, components: int = 0) -> None:
        self.ledger = ledger
        self.components = components
        """The highest number that was given to a family."""
        self.fingerprints: Fingerprints = {}
        """Of the sources that the rows of this commit were read from."""
        self.ties: StoredTies = {}
        """Of the same sources."""
        self.prices: PriceTable | None = None
        """The price lines in force; None when the writer does not know of any but the ledger's own."""
        self._written: list[Segment] = []
        self._entry_files: list[EntryFile] = []

    def write(self, table: Table, batches: Iterable[pa.RecordBatch], group: str | None = None) -> Segment:
        """Write rows that keep the table's schema into a new file; those of a group are numbered, in a last column."""
        schema = arrow_schema(table) if group is None else arrow_schema(table).append(COMPONENT_FIELD)
        return self._write(table.name, schema, _checked(table, batches), group, Pace.SMALL)

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
        size = (self.ledger / path).stat().st_size
        segment = Segment(path=path, rows=writer.rows, size_bytes=size, group=group)
        self._written.append(segment)
        return segment

    def write_index(self, index: Index) -> EntryFile:
        """Write the index of a group whose files are written here."""
        return self._write_entries(f"index-{uuid4().hex}.bin", index.to_bytes(), len(index))

    def write_fingerprints(self, base: Manifest) -> tuple[EntryFile, ...]:
        """Write the fingerprints of this commit, and return the files of all there are."""
        if not self.fingerprints:
            return base.fingerprints
        kept = len(base.fingerprints) - files_to_merge(base.fingerprints, len(self.fingerprints))
        taken_in = msgspec.structs.replace(base, fingerprints=base.fingerprints[kept:])
        entries = {**read_fingerprints(self.ledger, taken_in), **self.fingerprints}
        written = self._write_entries(f"fingerprints-{uuid4().hex}.json", encode(entries), len(entries))
        return (*base.fingerprints[:kept], written)

    def write_ties(self, base: Manifest) -> tuple[EntryFile, ...]:
        """Write the ties of this commit, and return the files of all there are."""
        if not self.ties:
            return base.ties
        kept = len(base.ties) - files_to_merge(base.ties, weight(self.ties))
        entries = {**read_ties(self.ledger, base.ties[kept:]), **self.ties}
        if not kept:  # nothing is left that an empty entry would have to override
            entries = {source: ties for source, ties in entries.items() if ties.count}
        written = self._write_entries(f"ties-{uuid4().hex}.bin", encode_ties(entries), weight(entries))
        return (*base.ties[:kept], written)

    def _write_entries(self, name: str, content: bytes, entries: int) -> EntryFile:
        written = EntryFile(f"{DATA_FOLDER}/{name}", entries, sha256(content).hexdigest())
        with new_file(self.ledger / written.path) as file:
            file.write(content)
        self._entry_files.append(written)
        return written

    def has(self, segment: Segment) -> bool:
        """Whether the segment was written here."""
        return segment in self._written

    def discard_unless(self, named: Container[str]) -> None:
        """Remove the files that no manifest will name."""
        for path in [*(segment.path for segment in self._written), *(file.path for file in self._entry_files)]:
            if path not in named:
                remove(self.ledger / path)


def _checked(table: Table, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        is_numbered = batch.schema.names[-1:] == [COMPONENT]
        check_batch(table, batch.remove_column(batch.num_columns - 1) if is_numbered else batch)
        yield batch


Change = Callable[[Manifest, Stage], Manifest]
"""Takes the newest version and a stage for new files; returns that version with what is different in the next one."""


def commit(ledger: Path, change: Change) -> Manifest:
    """Publish what `change` makes of the newest version and return the new one, or the newest when nothing changed.

    When another writer was faster, `change` is called again with that writer's version.
    """
    with writing_to(ledger):
        _prepare(ledger)
        with among_writers(ledger):
            new = _commit(ledger, change)
        refresh_catalog(ledger)
        return new


def _commit(ledger: Path, change: Change) -> Manifest:
    overtaken_at = -1
    while True:
        base = read_latest(ledger) if is_ledger(ledger) else EMPTY
        if base.version <= overtaken_at:
            taken = manifest_path(ledger, base.version + 1)
            raise LedgerDamagedError(taken, "it was there, and is gone again")
        new = _attempt(ledger, base, change)
        if new is not None:
            return new
        overtaken_at = base.version


def _attempt(ledger: Path, base: Manifest, change: Change) -> Manifest | None:
    """Make the change and publish it as the version after `base`; None when another writer did so first."""
    stage = Stage(ledger, base.components)
    number = base.version + 1
    try:
        current = _upgrade(base, stage)
        changed = change(msgspec.structs.replace(without_prices(current), replaces_rows=False), stage)
        new = msgspec.structs.replace(
            changed,
            version=number,
            tables=_named(with_prices(current, stage, changed)),
            fingerprints=stage.write_fingerprints(base),
            ties=stage.write_ties(base),
            prices=stage.prices.digest if stage.prices else base.prices,
        )
        new = keep_views(current, new, stage)
        if _says_nothing_new(new, current, stage):
            if base.version:
                sync_folder(ledger / VERSIONS_FOLDER)  # its writer may have died before it could
            stage.discard_unless(())
            return base
        _check_origin(new, current, stage)
        published = _publish(ledger, new)
    except BaseException:
        # The manifest may be this commit's own: then its files must stay, whatever went wrong afterwards.
        if is_absent(manifest_path(ledger, number)):
            stage.discard_unless(())
        raise
    stage.discard_unless(files_of(new) if published else ())
    return new if published else None


def _says_nothing_new(new: Manifest, current: Manifest, stage: Stage) -> bool:
    is_silent = not stage.fingerprints and not stage.ties and new.unfinished == current.unfinished
    is_silent = is_silent and new.prices == current.prices and new.dead == current.dead
    is_silent = is_silent and new.tables == _named(current.tables)
    if (new.views_made_by, new.rules) == (current.views_made_by, current.rules) or not current.version:
        return is_silent
    # That views were made anew, or in vain, is news for an import, which else would try it again and again.
    return is_silent and stage.prices is None and new.views == current.views


def _named(tables: Mapping[str, Sequence[Segment]]) -> dict[str, tuple[Segment, ...]]:
    return {name: tuple(segments) for name, segments in tables.items() if segments}


def _check_origin(new: Manifest, current: Manifest, stage: Stage) -> None:
    """A file that is neither the base's nor this attempt's may be gone: a change must not keep any from elsewhere."""
    kept = segments_of(current)
    foreign = [segment.path for segment in segments_of(new) if segment not in kept and not stage.has(segment)]
    if foreign:
        raise ValueError(f"these files belong to no version and were not written in this commit: {foreign}")


def _upgrade(base: Manifest, stage: Stage) -> Manifest:
    """Rewrite the files that an earlier schema has in another form, so that all files of a version have one."""
    if base.schema_version == SCHEMA_VERSION:
        return base
    outdated = changed_tables(base.schema_version)
    indexes = {group: _numbered_index(file, stage) for group, file in base.indexes.items()}
    tables = {
        name: tuple(
            _rewritten(TABLES[name], segment, base.schema_version, stage, indexes.get(segment.group or ""))
            if name in outdated or segment.group is not None
            else segment
            for segment in segments
        )
        for name, segments in base.tables.items()
    }
    return msgspec.structs.replace(
        base,
        schema_version=SCHEMA_VERSION,
        tables=tables,
        indexes={group: stage.write_index(index) for group, index in indexes.items()},
        components=stage.components,
    )


def _numbered_index(file: EntryFile, stage: Stage) -> Index:
    """Number the families of a group: up to schema version 4, one of its nodes stood for a family."""
    stored = StoredIndex(stage.ledger / file.path, file.entries, file.sha256)
    if file.sha256 is None:
        stored.check_order()
    first = stage.components + 1
    stage.components += len(stored.whole.families)
    return stored.whole.numbered(first)


def _rewritten(table: Table, segment: Segment, written_version: int, stage: Stage, index: Index | None) -> Segment:
    path = checked_path(stage.ledger, table, segment, written_version)
    try:
        return stage.write(table, upgraded_rows(table, path, written_version, index), segment.group)
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise LedgerDamagedError(path, f"it cannot be read: {error}") from error


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
    part = ledger / VERSIONS_FOLDER / f".{uuid4().hex}.part"
    with new_file(part) as file:
        file.write(msgspec.json.format(msgspec.json.encode(new), indent=1))
    try:
        return place(part, manifest_path(ledger, new.version))
    finally:
        remove(part)
