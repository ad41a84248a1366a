"""Commits: all tables move from one whole version to the next, or nothing does.

The Parquet files of the new version are written and synced first, beside those of the old one, which are never
touched. Then the manifest that lists them appears under the next number, in one step that fails when another writer
took that number; the change is then made again on top of the other's. A writer that dies leaves files that no
manifest names.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from pathlib import Path
from uuid import uuid4

import duckdb
import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from aix.errors import LedgerDamagedError, LedgerUnwritableError
from aix.ledger.catalog import refresh_catalog
from aix.ledger.durable import DiskError, is_absent, make_folder, new_file, place, remove, sync_folder
from aix.ledger.manifest import (
    DATA_FOLDER,
    EMPTY,
    VERSIONS_FOLDER,
    Manifest,
    Segment,
    is_ledger,
    manifest_path,
    read_latest,
    segments_of,
)
from aix.ledger.views import view_select
from aix.schema import SCHEMA_VERSION, TABLES, Table
from aix.schema.arrow import arrow_schema
from aix.schema.checks import check_batch
from aix.schema.migrations import changed_tables


class Stage:
    """The new files of a commit that is under way."""

    def __init__(self, ledger: Path) -> None:
        self._ledger = ledger
        self._written: list[Segment] = []

    def write(self, table: Table, batches: Iterable[pa.RecordBatch]) -> Segment:
        """Write rows that keep the table's schema into a new file."""
        name = f"{DATA_FOLDER}/{table.name}-{uuid4().hex}.parquet"
        path = self._ledger / name
        rows = 0
        with new_file(path) as file, pq.ParquetWriter(file, arrow_schema(table), compression="zstd") as writer:
            for batch in batches:
                check_batch(table, batch)
                writer.write_batch(batch)
                rows += batch.num_rows
        segment = Segment(path=name, rows=rows, size_bytes=path.stat().st_size)
        self._written.append(segment)
        return segment

    def has(self, segment: Segment) -> bool:
        """Whether the segment was written here."""
        return segment in self._written

    def discard_unless(self, named: Container[Segment]) -> None:
        """Remove the files that no manifest will name."""
        for segment in self._written:
            if segment not in named:
                remove(self._ledger / segment.path)


Change = Callable[[Manifest, Stage], Mapping[str, Sequence[Segment]]]
"""Takes the newest version and a stage for new files; returns the files of every table in the next version."""


def commit(ledger: Path, change: Change) -> Manifest:
    """Publish what `change` makes of the newest version and return the new one, or the newest when nothing changed.

    When another writer was faster, `change` is called again with that writer's version.
    """
    try:
        _prepare(ledger)
        overtaken_at = -1
        while True:
            base = read_latest(ledger) if is_ledger(ledger) else EMPTY
            if base.version <= overtaken_at:
                taken = manifest_path(ledger, base.version + 1)
                raise LedgerDamagedError(taken, "it was there, and is gone again")
            new = _attempt(ledger, base, change)
            if new is not None:
                refresh_catalog(ledger)
                return new
            overtaken_at = base.version
    except DiskError as error:
        raise LedgerUnwritableError(ledger, str(error)) from error


def _attempt(ledger: Path, base: Manifest, change: Change) -> Manifest | None:
    """Make the change and publish it as the version after `base`; None when another writer did so first."""
    stage = Stage(ledger)
    number = base.version + 1
    try:
        current = _upgrade(ledger, base, stage)
        new = Manifest(version=number, schema_version=SCHEMA_VERSION, tables=_named(change(current, stage)))
        if new.tables == _named(current.tables):
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
    stage.discard_unless(segments_of(new) if published else ())
    return new if published else None


def _named(tables: Mapping[str, Sequence[Segment]]) -> dict[str, tuple[Segment, ...]]:
    return {name: tuple(segments) for name, segments in tables.items() if segments}


def _check_origin(new: Manifest, current: Manifest, stage: Stage) -> None:
    """A file that is neither the base's nor this attempt's may be gone: a change must not keep any from elsewhere."""
    kept = segments_of(current)
    foreign = [segment.path for segment in segments_of(new) if segment not in kept and not stage.has(segment)]
    if foreign:
        raise ValueError(f"these files belong to no version and were not written in this commit: {foreign}")


def _upgrade(ledger: Path, base: Manifest, stage: Stage) -> Manifest:
    """Rewrite the tables that an earlier schema has in another form, so that all files of a version have one."""
    outdated = changed_tables(base.schema_version) & base.tables.keys()
    if not outdated:
        return base
    tables = dict(base.tables)
    with duckdb.connect() as connection:
        for name in outdated:
            table = TABLES[name]
            try:
                reader = pa.RecordBatchReader.from_stream(connection.sql(view_select(table, ledger, base)))
                batches = (batch.cast(arrow_schema(table)) for batch in reader)
                tables[name] = (stage.write(table, batches),)
            except (duckdb.Error, pa.ArrowException) as error:
                raise LedgerDamagedError(ledger, f"the files of table {name} cannot be read: {error}") from error
    return Manifest(version=base.version, schema_version=SCHEMA_VERSION, tables=tables)


def _prepare(ledger: Path) -> None:
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
