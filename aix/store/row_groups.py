"""Parquet files in row groups of bounded size, so that whoever copies or scans one never holds more than that.

A row may be a few bytes or, as the ancestry of a long thread, hundreds of kilobytes; a limit in rows would bound
nothing.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import Enum, auto
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from aix.store.durable import NewFile
from aix.store.manifest import COMPONENT


class Pace(Enum):
    """Whether speed or size matters more when rows are compressed."""

    FAST = auto()
    """For files that last as long as a change."""
    SMALL = auto()
    READ_OFTEN = auto()
    """For rows without long texts, of which queries read a few columns: fewer row groups are read sooner."""


_ROW_GROUP_BYTES = {Pace.FAST: 4 * 2**20, Pace.SMALL: 8 * 2**20, Pace.READ_OFTEN: 24 * 2**20}
_OPTIONS: dict[Pace, dict[str, Any]] = {
    Pace.FAST: {"compression": "lz4", "use_dictionary": False, "write_statistics": False},
    # Below that level, zstd does not look back far enough to see that a long ancestry repeats the one before it.
    Pace.SMALL: {"compression": "zstd", "compression_level": 3},
    Pace.READ_OFTEN: {"compression": "zstd", "compression_level": 1},
}


class RowGroupWriter:
    """Writes batches of any size into a Parquet file."""

    def __init__(self, file: NewFile, schema: pa.Schema, pace: Pace = Pace.SMALL) -> None:
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
