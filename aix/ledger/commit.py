"""Commits: all tables move from one whole version to the next, or nothing does.

The Parquet files of the new version are written and synced first, beside those of the old one, which are never
touched. Then the manifest that lists them appears under the next number, in one step that fails when another writer
took that number; the change is then made again on top of the other's. A writer that dies leaves files that no
manifest names.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from uuid import uuid4

import duckdb
import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from aix.errors import LedgerUnwritableError
from aix.ledger.durable import DiskError, make_folder, new_file, place, sync_folder
from aix.ledger.manifest import (
    DATA_FOLDER,
    EMPTY,
    VERSIONS_FOLDER,
    Manifest,
    Segment,
    is_ledger,
    manifest_path,
    read_latest,
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
        self._paths: list[Path] = []

    def write(self, table: Table, batches: Iterable[pa.RecordBatch]) -> Segment:
        """Write rows that keep the table's schema into a new file."""
        name = f"{DATA_FOLDER}/{table.name}-{uuid4().hex}.parquet"
        path = self._ledger / name
        self._paths.append(path)
        rows = 0
        with new_file(path) as file, pq.ParquetWriter(file, arrow_schema(table), compression="zstd") as writer:
            for batch in batches:
                check_batch(table, batch)
                writer.write_batch(batch)
                rows += batch.num_rows
        return Segment(path=name, rows=rows, size=path.stat().st_size)

    def discard(self) -> None:
        """Remove the files again: no manifest will name them."""
        for path in self._paths:
            path.unlink(missing_ok=True)


Change = Callable[[Manifest, Stage], Mapping[str, Sequence[Segment]]]
"""Takes the newest version and a stage for new files; returns the files of every table in the next version."""


def commit(ledger: Path, change: Change) -> Manifest:
    """Publish what `change` makes of the newest version and return the new one, or the newest when nothing changed.

    When another writer was faster, `change` is called again with that writer's version.
    """
    try:
        _prepare(ledger)
        while True:
            base = read_latest(ledger) if is_ledger(ledger) else EMPTY
            new = _attempt(ledger, base, change)
            if new is not None:
                return new
    except DiskError as error:
        raise LedgerUnwritableError(ledger, str(error)) from error


def _attempt(ledger: Path, base: Manifest, change: Change) -> Manifest | None:
    """Make the change and publish it as the version after `base`; None when another writer did so first."""
    stage = Stage(ledger)
    number = base.version + 1
    try:
        current = _upgrade(ledger, base, stage)
        tables = {name: tuple(segments) for name, segments in change(current, stage).items() if segments}
        if tables == current.tables:
            stage.discard()
            return base
        new = Manifest(version=number, schema_version=SCHEMA_VERSION, tables=tables)
        if _publish(ledger, new):
            return new
    except BaseException:
        # The manifest may be this commit's own: then its files must stay, whatever went wrong afterwards.
        if not manifest_path(ledger, number).exists():
            stage.discard()
        raise
    stage.discard()
    return None


def _upgrade(ledger: Path, base: Manifest, stage: Stage) -> Manifest:
    """Rewrite the tables that an earlier schema has in another form, so that all files of a version have one."""
    outdated = changed_tables(base.schema_version) & base.tables.keys()
    if not outdated:
        return base
    connection = duckdb.connect()
    tables = dict(base.tables)
    for name in outdated:
        table = TABLES[name]
        reader = pa.RecordBatchReader.from_stream(connection.sql(view_select(table, ledger, base)))
        tables[name] = (stage.write(table, (batch.cast(arrow_schema(table)) for batch in reader)),)
    return Manifest(version=base.version, schema_version=SCHEMA_VERSION, tables=tables)


def _prepare(ledger: Path) -> None:
    for folder in (ledger, ledger / DATA_FOLDER, ledger / VERSIONS_FOLDER):
        make_folder(folder)


def _publish(ledger: Path, new: Manifest) -> bool:
    sync_folder(ledger / DATA_FOLDER)
    part = ledger / VERSIONS_FOLDER / f".{uuid4().hex}.part"
    with new_file(part) as file:
        file.write(msgspec.json.format(msgspec.json.encode(new), indent=1))
    try:
        return place(part, manifest_path(ledger, new.version))
    finally:
        part.unlink(missing_ok=True)
