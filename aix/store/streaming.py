"""Rows of DuckDB as a stream of Arrow batches, whatever its release calls that."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:
    import pyarrow as pa

_numbers = count(1)

Parameters = Sequence[object] | Mapping[str, object]


def start_reader(
    connection: duckdb.DuckDBPyConnection, select: str, batch_rows: int, parameters: Parameters | None = None
) -> "pa.RecordBatchReader":
    """Run a SELECT; the connection can do nothing else until its rows are read."""
    # Before DuckDB 2.0 relations with parameters do not stream, and since then only relations do.
    fetch_reader = getattr(connection, "fetch_record_batch", None)
    if fetch_reader:
        connection.execute(select, parameters)
        return fetch_reader(batch_rows)
    return connection.sql(select, params=parameters).to_arrow_reader(batch_rows)


@contextmanager
def computed_rows(
    connection: duckdb.DuckDBPyConnection, select: str, batch_rows: int
) -> Iterator["pa.RecordBatchReader"]:
    """Compute the rows of a SELECT, and give a reader of them.

    DuckDB 2.0 plans a statement twice before it streams its rows, which takes longer than a short detour by a table.
    """
    table = f"computed_{next(_numbers)}"
    connection.execute(f"create temp table {table} as {select}")
    yield start_reader(connection, f"from {table}", batch_rows)
    connection.execute(f"drop table {table}")  # after an error, the connection is of no use any more
