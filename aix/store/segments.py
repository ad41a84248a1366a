"""Parquet files of rows: written and read in row groups of bounded size, and held against the manifest and the schema.

Whoever copies or scans a file never holds more than a row group. A row may be a few bytes or, as the ancestry of a long
thread, hundreds of kilobytes; a limit in rows would bound nothing.

To open a file takes time. So a file is checked when its rows are about to be copied, all files by `aix check` and when
a statement has failed: then they may be the reason. Rows of an earlier schema are read as if they were written today.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum, auto
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from aix.errors import LedgerDamagedError
from aix.schema import SCHEMA_VERSION, TABLES, Table
from aix.schema.arrow import arrow_schema
from aix.schema.migrations import changed_tables, former_node, upgrade_select
from aix.store.durable import NewFile
from aix.store.index import COMPONENT_FIELD
from aix.store.manifest import COMPONENT, Manifest, Segment, dead_in, segment_path
from aix.store.nodes import node_expressions
from aix.version import FIRST_NUMBERED


class Pace(Enum):
    """Whether speed or size matters more when rows are compressed."""

    FAST = auto()
    """For files that last as long as a change."""
    SMALL = auto()
    READ_OFTEN = auto()
    """For rows without long texts, of which queries read a few columns: fewer row groups are read sooner."""


_ROW_GROUP_BYTES = {Pace.FAST: 4 * 2**20, Pace.SMALL: 8 * 2**20, Pace.READ_OFTEN: 16 * 2**20}
_OPTIONS: dict[Pace, dict[str, Any]] = {
    Pace.FAST: {"compression": "lz4", "use_dictionary": False, "write_statistics": False},
    # Below that level, zstd does not look back far enough to see that a long ancestry repeats the one before it.
    Pace.SMALL: {"compression": "zstd", "compression_level": 3},
    Pace.READ_OFTEN: {"compression": "zstd", "compression_level": 1},
}


class RowGroupWriter:
    """Writes batches of any size into a Parquet file."""

    def __init__(self, file: NewFile, schema: pa.Schema, pace: Pace) -> None:
        self._schema = schema
        self._most_bytes = _ROW_GROUP_BYTES[pace]
        self._writer = pq.ParquetWriter(file, schema, **_OPTIONS[pace])
        self._held: list[pa.RecordBatch] = []
        self._held_bytes = 0
        self.rows = 0

    def __enter__(self) -> Self:
        """Write within a block, at the end of which the file is whole."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write what is held back, and the end of the file."""
        try:
            if error is None:
                self._flush()
        finally:
            self._writer.close()

    def write(self, batch: pa.RecordBatch) -> None:
        """Add the rows of a batch."""
        for piece in _pieces(batch, self._most_bytes):
            if self._held_bytes + piece.nbytes > self._most_bytes:
                self._flush()
            self._held.append(piece)
            self._held_bytes += piece.nbytes
            self.rows += piece.num_rows

    def _flush(self) -> None:
        if self._held:
            self._writer.write_table(pa.Table.from_batches(self._held, self._schema).combine_chunks())
        self._held, self._held_bytes = [], 0


def read_row_groups(path: Path, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """Go through a file one row group at a time."""
    with pq.ParquetFile(path) as file:
        for number in range(file.num_row_groups):
            yield file.read_row_group(number, columns=columns)


def read_live_rows(path: Path, dead: Collection[int], columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """Go through a file of a group one row group at a time, without the rows of dead families."""
    if not dead:
        yield from read_row_groups(path, columns)
        return
    for rows in read_row_groups(path, None if columns is None else [*columns, COMPONENT]):
        is_dead = pc.is_in(rows.column(COMPONENT), value_set=pa.array(dead, pa.int64()))
        live = rows.filter(pc.invert(is_dead))
        yield live if columns is None else live.select(columns)


def read_components(path: Path) -> pa.ChunkedArray:
    """Return the number of the family of each row of a file of a group."""
    with pq.ParquetFile(path) as file:
        return file.read([COMPONENT]).column(0)


def batches_of(tables: Iterable[pa.Table]) -> Iterator[pa.RecordBatch]:
    """Go through the batches of tables."""
    for table in tables:
        yield from table.to_batches()


def _pieces(batch: pa.RecordBatch, most_bytes: int) -> Iterator[pa.RecordBatch]:
    if batch.nbytes <= most_bytes or batch.num_rows == 1:
        if batch.num_rows:
            yield batch
        return
    half = batch.num_rows // 2
    yield from _pieces(batch.slice(0, half), most_bytes)
    yield from _pieces(batch.slice(half), most_bytes)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Report an error of the engines that read a file as damage to the ledger."""
    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise LedgerDamagedError(path, f"it cannot be read: {error}") from error


def checked_path(ledger: Path, table: Table, segment: Segment, schema_version: int = SCHEMA_VERSION) -> Path:
    """Return where the rows of a segment lie, once it is known to hold so many rows of that table."""
    is_outdated = table.name in changed_tables(schema_version)
    columns = {} if is_outdated else {field.name: field.type for field in arrow_schema(table)}
    return _checked(ledger, segment, columns | _component(segment, schema_version))


def check_segments(ledger: Path, manifest: Manifest, derived: Mapping[str, Iterable[str]]) -> None:
    """Raise LedgerDamagedError when a file of a table, or of these derived ones with their columns, is damaged."""
    for name, segments in manifest.tables.items():
        for segment in segments:
            checked_path(ledger, TABLES[name], segment, manifest.schema_version)
    for name, columns in derived.items():
        for segment in manifest.views[name]:
            _checked(ledger, segment, dict.fromkeys(columns) | _component(segment, manifest.schema_version))


def _component(segment: Segment, schema_version: int) -> dict[str, pa.DataType | None]:
    is_numbered = segment.group is not None and schema_version >= FIRST_NUMBERED
    return {COMPONENT: pa.int64()} if is_numbered else {}


def _checked(ledger: Path, segment: Segment, expected: Mapping[str, pa.DataType | None]) -> Path:
    path = segment_path(ledger, segment)
    with reading(path), pq.ParquetFile(path) as file:
        rows, schema = file.metadata.num_rows, file.schema_arrow
    if rows != segment.rows:
        raise LedgerDamagedError(path, f"it has {rows} rows, and the manifest says {segment.rows}")
    for name, data_type in expected.items():
        if name not in schema.names:
            raise LedgerDamagedError(path, f"it has no column {name}")
        if data_type is not None and schema.field(name).type != data_type:
            raise LedgerDamagedError(path, f"its column {name} is of type {schema.field(name).type}")
        if name == COMPONENT and schema.field(name).nullable:
            raise LedgerDamagedError(path, f"its column {name} may be NULL")
    return path


def rows_of_segment(ledger: Path, version: Manifest, table: Table, segment: Segment) -> Iterator[pa.RecordBatch]:
    """Go through the rows of a segment that are not dead, in the table's schema of today."""
    path = checked_path(ledger, table, segment, version.schema_version)
    dead = dead_in(version, segment)
    if table.name in changed_tables(version.schema_version):
        return upgraded_rows(table, read_live_rows(path, dead), version.schema_version)
    return batches_of(read_live_rows(path, dead, table.column_names))


def upgraded_rows(
    table: Table,
    old: Iterable[pa.Table],
    written_version: int,
    components: Callable[[pa.Table], pa.ChunkedArray] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Go through rows of an earlier version in the table's schema of today.

    `components` gives the number of the family of each old row, for a last column.
    """
    with duckdb.connect() as connection:
        for rows in old:
            connection.register("old_rows", rows)
            new = connection.sql(upgrade_select(table, "old_rows", written_version)).to_arrow_table()
            typed = new.cast(arrow_schema(table))
            if components is not None:
                typed = typed.append_column(COMPONENT_FIELD, components(rows))
            yield from typed.to_batches()


def first_nodes(table: Table, rows: pa.Table, written_version: int = SCHEMA_VERSION) -> pa.ChunkedArray:
    """Return the first node of each row, as the version that wrote the rows numbered it."""
    former = former_node(table, written_version)
    source = "some_rows" if former else f"({upgrade_select(table, 'some_rows', written_version)})"
    with duckdb.connect() as connection:
        connection.register("some_rows", rows)
        sql = f"select {former or node_expressions(table)[0]} as node from {source}"
        return connection.sql(sql).to_arrow_table().column("node")
