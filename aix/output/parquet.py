"""The `parquet` format."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from aix.output import Listing
from aix.output.text import escape_unsafe
from aix.schema.arrow import arrow_type

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

_ROWS_PER_BATCH = 50_000


def write_parquet(listing: Listing, stream: "SupportsWrite[bytes]") -> None:
    """Write the listing as one Parquet file."""
    if listing.arrow_reader is not None:
        with listing.arrow_reader() as reader, pq.ParquetWriter(stream, reader.schema, compression="zstd") as writer:
            for batch in reader:
                writer.write_batch(batch)
        return
    schema = pa.schema([(column.name, arrow_type(column.type)) for column in listing.columns])
    with pq.ParquetWriter(stream, schema, compression="zstd") as writer:
        for batch in _batches(listing, schema):
            writer.write_batch(batch)


def count_rows(path: Path) -> int:
    """Return how many rows a Parquet file has."""
    return int(pq.read_metadata(path).num_rows)


def _batches(listing: Listing, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    rows = iter(listing.rows)
    while chunk := list(islice(rows, _ROWS_PER_BATCH)):
        columns = zip(*chunk, strict=True)
        arrays = [_array(values, field.type) for values, field in zip(columns, schema, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _array(values: tuple[object, ...], wanted: pa.DataType) -> pa.Array:
    try:
        return pa.array(values, wanted)
    except UnicodeEncodeError:
        # Names of files that are not UTF-8 hold lone surrogates, which Parquet cannot.
        return pa.array([escape_unsafe(value) if isinstance(value, str) else value for value in values], wanted)
