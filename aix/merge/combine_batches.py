"""Putting deliveries together: joining a few large files costs far less than joining many small ones."""

from collections.abc import Collection, Iterator, Sequence
from itertools import count
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from aix.merge.row_batches import SOURCE_COLUMN, Files, delivery_schema, source_of
from aix.merge.workspace import Delivered, StatementFile, write_rows
from aix.schema import TABLES, Table
from aix.schema.sql import quote_name
from aix.store.durable import make_folder, writing_to
from aix.thread_pool import map_in_threads


class Part(msgspec.Struct, frozen=True):
    """A delivery, and the names of sources whose rows in it do not count."""

    files: Files
    left_out: Collection[str] = ()


def gather(parts: Sequence[Part], folder: Path) -> Delivered:
    """Write the rows of deliveries into one Parquet file per table, and return them as statements of their sources.

    Which of them are statements of one source is all that is kept of the names of sources; what a source says in two
    deliveries stays two statements.
    """
    names = dict.fromkeys(name for part in parts for name in part.files)
    numbers = _Numbers()

    def write(name: str) -> tuple[Table, StatementFile]:
        rows = _rows(name, parts, numbers)
        path = write_rows(folder / f"{name}.parquet", delivery_schema(TABLES[name]), rows)
        return TABLES[name], StatementFile(path, quote_name(SOURCE_COLUMN))

    with writing_to(folder):
        make_folder(folder)
        return map_in_threads(write, names)


class _Numbers:
    """Numbers for names, the same for a name wherever it stands; several threads may ask for them."""

    def __init__(self) -> None:
        self._next = count()
        self._by_name: dict[str, int] = {}

    def of(self, name: str) -> int:
        """Return the number of a name."""
        return self._by_name.setdefault(name, next(self._next))


def _rows(name: str, parts: Sequence[Part], numbers: _Numbers) -> Iterator[pa.RecordBatch]:
    for number, part in enumerate(parts):
        if name in part.files:
            with pa.OSFile(str(part.files[name])) as file, pa.ipc.open_stream(file) as batches:
                for batch in batches:
                    yield _numbered(batch, part.left_out, number, numbers)


def _numbered(batch: pa.RecordBatch, left_out: Collection[str], number: int, numbers: _Numbers) -> pa.RecordBatch:
    sources = batch.column(SOURCE_COLUMN).dictionary_encode()
    names = sources.dictionary.to_pylist()
    absent = [place for place, name in enumerate(names) if source_of(name) in left_out]
    if absent:
        kept = pc.invert(pc.is_in(sources.indices, value_set=pa.array(absent, pa.int32())))
        batch, sources = batch.filter(kept), sources.filter(kept)
    short = pa.array([f"{number}:{numbers.of(name)}" for name in names], pa.string())
    return batch.set_column(batch.num_columns - 1, batch.schema.field(SOURCE_COLUMN), short.take(sources.indices))
