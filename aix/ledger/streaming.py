"""Rows of DuckDB as a stream of Arrow batches, whatever its release calls that."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:
    import pyarrow as pa

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
