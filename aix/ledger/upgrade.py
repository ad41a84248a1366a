"""Files of an earlier schema version, read as if they were written today."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa

from aix.ledger.index import COMPONENT_FIELD, Index
from aix.ledger.manifest import Manifest, Segment, dead_in
from aix.ledger.nodes import node_expressions
from aix.ledger.row_groups import batches_of, read_live_rows, read_row_groups
from aix.ledger.segment_checks import checked_path
from aix.schema import Table
from aix.schema.arrow import arrow_schema
from aix.schema.migrations import changed_tables, upgrade_select


def rows_of_segment(ledger: Path, version: Manifest, table: Table, segment: Segment) -> Iterator[pa.RecordBatch]:
    """Go through the rows of a segment that are not dead, in the table's schema of today."""
    path = checked_path(ledger, table, segment, version.schema_version)
    if table.name in changed_tables(version.schema_version):
        return upgraded_rows(table, path, version.schema_version)
    return batches_of(read_live_rows(path, dead_in(version, segment), table.column_names))


def upgraded_rows(
    table: Table, path: Path, written_version: int, index: Index | None = None
) -> Iterator[pa.RecordBatch]:
    """Go through the rows of a file in the table's schema of today, one row group at a time.

    With the index of their group, each has the number of its family, in a last column.
    """
    select = f"select *, {node_expressions(table)[0]} as _node from ({{}})"
    with duckdb.connect() as connection:
        for rows in read_row_groups(path):
            connection.register("old_rows", rows)
            upgraded = upgrade_select(table, "old_rows", written_version)
            new = connection.sql(select.format(upgraded)).to_arrow_table()
            typed = new.select(table.column_names).cast(arrow_schema(table))
            if index is not None:
                typed = typed.append_column(COMPONENT_FIELD, index.components(new.column("_node")))
            yield from typed.to_batches()
