"""The vectors of the turns and programs of a group of files, in the cache.

    LEDGER/cache/GROUP/vectors-DIGEST.parquet

A vector is the list of the places that words count in, with a weight for each (`aix.similarity.features`). How rare a
word is depends on the whole ledger and is no part of it. Files of a group never change, and the digest names them: so a
file of vectors is either missing or right. It goes with its group, by `aix vacuum` and `aix forget`.
"""

from array import array
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from aix.errors import LedgerDamagedError, LedgerUnwritableError
from aix.search.index import Progress, make_in_cache
from aix.similarity.features import features_of
from aix.similarity.texts import TABLES_READ, GroupTexts, size_of
from aix.store.cache_files import check_cache, keep_in_cache
from aix.store.durable import new_file, writing_to
from aix.store.manifest import CACHE_FOLDER, Manifest, Segment, groups_of, ungrouped_cache
from aix.store.stored_files import ends_with
from aix.thread_pool import map_in_threads
from aix.version import VECTORS_VERSION

if TYPE_CHECKING:
    import pyarrow as pa

_PREFIX, _SUFFIX = "vectors-", ".parquet"
_END_OF_PARQUET = b"PAR1"
_BATCH_ROWS = 16_384


@dataclass(frozen=True)
class Vectors:
    """Vectors of one table, a row for each: its key, and a list of places and one of weights."""

    keys: "pa.StringArray"
    places: "pa.ListArray"
    weights: "pa.ListArray"


class VectorFile:
    """The vectors of one group of files of a version."""

    def __init__(self, ledger: Path, manifest: Manifest, group: str | None, files: dict[str, list[Segment]]) -> None:
        self._ledger = ledger
        self._version = manifest.version
        self._dead = manifest.dead[group].components if group in manifest.dead else ()
        self._files = files
        folder = ledger / CACHE_FOLDER / (group or ungrouped_cache(manifest))
        self.path = folder / f"{_PREFIX}{_digest(files)}{_SUFFIX}"

    @property
    def size_bytes(self) -> int:
        """How large the files are whose texts it stands for."""
        return size_of(self._files)

    @property
    def is_made(self) -> bool:
        """Whether it is in the cache; a file that was cut short is not."""
        return ends_with(self.path, _END_OF_PARQUET)

    def make(self) -> Iterator[int]:
        """Make it, and put it into the cache; give, step by step, how many bytes of the files are in it."""
        import pyarrow.parquet as pq

        texts = GroupTexts(self._ledger, self._files)
        yield from texts.read()
        with (
            writing_to(self._ledger),
            keep_in_cache(self._ledger, self._version, self.path) as part,
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
                with suppress(OSError):
                    self.path.unlink()
                with suppress(LedgerUnwritableError, OSError):
                    for _ in self.make():
                        pass
                    return self._stored(table)
        texts = GroupTexts(self._ledger, self._files)
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
        if self._dead:
            is_dead = pc.is_in(rows.column("component"), value_set=pa.array(self._dead, pa.int64()))
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


def _digest(files: dict[str, list[Segment]]) -> str:
    """Return what changes with the files of a group, and with the form of vectors."""
    paths = sorted(segment.path for table in TABLES_READ for segment in files.get(table, ()))
    return sha256("\0".join([str(VECTORS_VERSION), *paths]).encode()).hexdigest()[:16]


def vector_files(ledger: Path, manifest: Manifest) -> list[VectorFile]:
    """Return the vectors of each group of a version that has turns or programs, whether they are made or not."""
    groups = groups_of(manifest.tables).items()
    found = [VectorFile(ledger, manifest, group, files) for group, files in groups if {*TABLES_READ} & files.keys()]
    for file in found:
        check_cache(ledger, file.path.parent)
    return found


def is_vectors_of(version: Manifest, path: Path) -> bool:
    """Whether a file in the cache has vectors of a version, in the form of today."""
    groups = groups_of(version.tables).items()
    return any(
        path.parent.name == (group or ungrouped_cache(version)) and path.name == f"{_PREFIX}{_digest(files)}{_SUFFIX}"
        for group, files in groups
    )


def _ignore(_: int) -> None:
    pass


def make_vectors(ledger: Path, manifest: Manifest, progress: Progress = _ignore, workers: int = 1) -> None:
    """Make the vectors of a version that are missing; where the cache cannot be written, none.

    More workers than one are processes, which only a program can start whose main module may be imported again.
    """
    missing = [vectors for vectors in vector_files(ledger, manifest) if not vectors.is_made]
    make_in_cache(missing, progress, workers)
