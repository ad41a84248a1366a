"""Files of an earlier schema version, read as if they were written today, and written so by the next commit."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import msgspec
import pyarrow as pa

from aix.schema import SCHEMA_VERSION, TABLES, Table
from aix.schema.arrow import arrow_schema
from aix.schema.migrations import changed_tables, upgrade_select
from aix.store.index import COMPONENT_FIELD, Index, StoredIndex
from aix.store.manifest import EntryFile, Manifest, Segment, dead_in
from aix.store.nodes import node_expressions
from aix.store.row_groups import batches_of, read_live_rows, read_row_groups
from aix.store.segment_checks import checked_path, reading
from aix.store.stage import Stage


def rows_of_segment(ledger: Path, version: Manifest, table: Table, segment: Segment) -> Iterator[pa.RecordBatch]:
    """Go through the rows of a segment that are not dead, in the table's schema of today."""
    path = checked_path(ledger, table, segment, version.schema_version)
    if table.name in changed_tables(version.schema_version):
        return _upgraded_rows(table, path, version.schema_version)
    return batches_of(read_live_rows(path, dead_in(version, segment), table.column_names))


def upgraded(base: Manifest, stage: Stage) -> Manifest:
    """Rewrite the files that an earlier schema has in another form, so that all files of a version have one."""
    if base.schema_version == SCHEMA_VERSION:
        return base
    outdated = changed_tables(base.schema_version)
    components = base.components
    indexes = {}
    for group, file in base.indexes.items():
        indexes[group] = _numbered_index(stage.ledger, file, components + 1)
        components += len(indexes[group].families)
    tables = {
        name: tuple(
            _rewritten(TABLES[name], segment, base.schema_version, stage, indexes.get(segment.group or ""))
            if name in outdated or segment.group is not None
            else segment
            for segment in segments
        )
        for name, segments in base.tables.items()
    }
    return msgspec.structs.replace(
        base,
        schema_version=SCHEMA_VERSION,
        tables=tables,
        indexes={group: stage.write_index(index) for group, index in indexes.items()},
        components=components,
    )


def _numbered_index(ledger: Path, file: EntryFile, first: int) -> Index:
    """Number the families of a group: up to schema version 4, one of its nodes stood for a family."""
    stored = StoredIndex(ledger, file)
    if file.sha256 is None:
        stored.check_order()
    return stored.whole.numbered(first)


def _rewritten(table: Table, segment: Segment, written_version: int, stage: Stage, index: Index | None) -> Segment:
    path = checked_path(stage.ledger, table, segment, written_version)
    with reading(path):
        return stage.write(table, _upgraded_rows(table, path, written_version, index), segment.group)


def _upgraded_rows(
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
