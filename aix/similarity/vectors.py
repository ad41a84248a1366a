"""The vectors of the turns and programs of a group of files, in the cache.

    LEDGER/cache/GROUP/vectors-DIGEST.parquet

A vector is the list of the places that words count in, with a weight for each (`aix.similarity.features`). How rare a
word is depends on the whole ledger and is no part of it.
"""

from array import array
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aix.errors import LedgerDamagedError, LedgerUnwritableError
from aix.similarity.features import features_of
from aix.similarity.texts import TABLES_READ, GroupTexts
from aix.store.cache_files import CacheFile
from aix.store.durable import new_file
from aix.store.stored_files import ends_with
from aix.thread_pool import map_in_threads
from aix.version import VECTORS_VERSION

if TYPE_CHECKING:
    import pyarrow as pa

_END_OF_PARQUET = b"PAR1"
_BATCH_ROWS = 16_384


@dataclass(frozen=True)
class Vectors:
    """Vectors of one table, a row for each: its key, and a list of places and one of weights."""

    keys: "pa.StringArray"
    places: "pa.ListArray"
    weights: "pa.ListArray"


class VectorFile(CacheFile):
    """The vectors of one group of files of a version."""

    prefix, suffix = "vectors", ".parquet"
    form = VECTORS_VERSION
    tables = TABLES_READ

    @property
    def is_made(self) -> bool:
        """Whether it is in the cache; a file that was cut short is not."""
        return ends_with(self.path, _END_OF_PARQUET)

    def make(self) -> Iterator[int]:
        """Make it, and put it into the cache; give, step by step, how many bytes of the files are in it."""
        import pyarrow.parquet as pq

        texts = GroupTexts(self.ledger, self.files)
        yield from texts.read()
        with (
            self.keeping() as part,
            new_file(part) as file,
            pq.ParquetWriter(file, _schema(), compression="zstd", compression_level=1, use_dictionary=False) as writer,
        ):
            for batch in _batches(texts):
                writer.write_batch(batch)

    def read(self, table: str) -> list[Vectors]:
        """Return the vectors of a table, without dead ones; where the cache cannot be written, make them for this once.

        A file that cannot be read is removed, and its vectors are made again.
        """
        if self.is_made:
            try:
                return self._stored(table)
            except LedgerDamagedError:
                self.discard()
                with suppress(LedgerUnwritableError, OSError):
                    for _ in self.make():
                        pass
                    return self._stored(table)
        texts = GroupTexts(self.ledger, self.files)
        for _ in texts.read():
            pass
        return [self._live(batch, table) for batch in _batches(texts)]

    def _stored(self, table: str) -> list[Vectors]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        from aix.store.segments import reading

        with reading(self.path), pq.ParquetFile(self.path) as file:
            if not file.schema_arrow.equals(_schema()):
                raise LedgerDamagedError(self.path, "it has other columns")
            numbers = range(file.num_row_groups)

        def read(number: int) -> Vectors:
            with reading(self.path), pq.ParquetFile(self.path) as file:
                found = file.read_row_group(number, use_threads=False).combine_chunks().to_batches()
            rows = found[0] if found else pa.RecordBatch.from_pylist([], _schema())
            if not _is_whole(rows):
                raise LedgerDamagedError(self.path, "places and weights do not belong together")
            return self._live(rows, table)

        return map_in_threads(read, numbers)

    def _live(self, rows: "pa.RecordBatch", table: str) -> Vectors:
        import pyarrow as pa
        import pyarrow.compute as pc

        wanted = pc.equal(rows.column("table"), table)
        if self.dead:
            is_dead = pc.is_in(rows.column("component"), value_set=pa.array(self.dead, pa.int64()))
            wanted = pc.and_not(wanted, is_dead)
        rows = rows.filter(wanted)
        return Vectors(rows.column("key"), rows.column("places"), rows.column("weights"))


def _is_whole(rows: "pa.RecordBatch") -> bool:
    """Whether each row has as many weights as places, and nothing is NULL in them."""
    places, weights = rows.column("places"), rows.column("weights")
    nulls = places.null_count + weights.null_count + places.values.null_count + weights.values.null_count
    return nulls == 0 and bool(places.offsets.equals(weights.offsets))


def _schema() -> "pa.Schema":
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("table", pa.string()),
            pa.field("key", pa.string()),
            pa.field("component", pa.int64()),
            pa.field("places", pa.list_(pa.uint16())),
            pa.field("weights", pa.list_(pa.uint8())),
        ]
    )


def _batches(texts: GroupTexts) -> "Iterator[pa.RecordBatch]":
    import pyarrow as pa

    for begin in range(0, len(texts.found), _BATCH_ROWS):
        rows = texts.found[begin : begin + _BATCH_ROWS]
        places, weights, ends = array("H"), array("B"), array("i", [0])
        for row in rows:
            features = features_of(row.pieces())
            places.extend(features.keys())
            weights.extend(features.values())
            ends.append(len(places))
        offsets = pa.array(ends, pa.int32())
        columns = [
            pa.array([row.table for row in rows], pa.string()),
            pa.array([row.key for row in rows], pa.string()),
            pa.array([row.component for row in rows], pa.int64()),
            pa.ListArray.from_arrays(offsets, pa.array(places, pa.uint16())),
            pa.ListArray.from_arrays(offsets, pa.array(weights, pa.uint8())),
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=_schema())
