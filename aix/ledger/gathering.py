"""Putting deliveries together: joining a few large files costs far less than joining many small ones."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from aix.ledger.delivery import SOURCE_COLUMN, Files, delivery_schema, source_of
from aix.ledger.row_groups import read_row_groups
from aix.ledger.workbench import write_rows
from aix.schema import TABLES


@dataclass(frozen=True)
class Part:
    """A delivery, and the names of sources whose rows in it do not count."""

    files: Files
    left_out: Collection[str] = ()


def gather(parts: Sequence[Part], folder: Path) -> Files:
    """Write the rows of deliveries into one file per table.

    What one source says in two deliveries stays two statements. A single delivery stays where it is.
    """
    if len(parts) == 1 and not parts[0].left_out:
        return parts[0].files
    names = dict.fromkeys(name for part in parts for name in part.files)
    return {
        name: write_rows(folder / f"{name}.parquet", delivery_schema(TABLES[name]), _rows(name, parts))
        for name in names
    }


def _rows(name: str, parts: Sequence[Part]) -> Iterator[pa.RecordBatch]:
    for number, part in enumerate(parts):
        if name in part.files:
            for rows in read_row_groups(part.files[name]):
                yield from _numbered(number, rows, part.left_out).to_batches()


def _numbered(number: int, rows: pa.Table, left_out: Collection[str]) -> pa.Table:
    sources = rows.column(SOURCE_COLUMN)
    if left_out:
        absent = [source for source in pc.unique(sources).to_pylist() if source_of(source) in left_out]
        if absent:
            rows = rows.filter(pc.invert(pc.is_in(sources, value_set=pa.array(absent, pa.string()))))
            sources = rows.column(SOURCE_COLUMN)
    apart = pc.binary_join_element_wise(f"{number}:", sources, "")
    return rows.set_column(rows.num_columns - 1, rows.schema.field(SOURCE_COLUMN), apart)
