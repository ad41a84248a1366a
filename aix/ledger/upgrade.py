"""Files of an earlier schema version, read as if they were written today."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa

from aix.ledger.row_groups import read_row_groups
from aix.schema import Table
from aix.schema.arrow import arrow_schema
from aix.schema.migrations import upgrade_select


def upgraded_rows(table: Table, path: Path, written_version: int) -> Iterator[pa.RecordBatch]:
    """Go through the rows of a file in the table's schema of today, one row group at a time."""
    with duckdb.connect() as connection:
        for rows in read_row_groups(path):
            connection.register("old_rows", rows)
            new = connection.sql(upgrade_select(table, "old_rows", written_version)).to_arrow_table()
            yield from new.cast(arrow_schema(table)).to_batches()
