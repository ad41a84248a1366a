"""Rewriting families of rows: gather them on the bench, settle what is said about each row, derive, and write.

These are the steps that every change of a ledger is made of.
"""

from collections.abc import Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from aix.derived.columns import COLUMNS_READ, DERIVED_TABLES, derive, register, stated_threads, thread_rows
from aix.ledger.families import concatenated
from aix.ledger.groups import Groups, Rows
from aix.ledger.index import COMPONENT_FIELD, Index
from aix.ledger.nodes import INFERRED_VALUES, is_derived, namespace, node_column, node_number
from aix.ledger.resolution import resolve, resolve_marks
from aix.ledger.workbench import StatementFile, Workbench
from aix.schema import TABLES, Join, Table
from aix.schema.arrow import arrow_schema


def lay_part(bench: Workbench, groups: Groups, name: str, part: Index) -> None:
    """Put the rows of some families of a group on the bench."""
    for table, path, rows in groups.entries(bench, name, part):
        if not is_derived(table) and len(rows):
            bench.lay(table, StatementFile(path, "null"), rows)


def settle(bench: Workbench) -> pa.Array:
    """Settle what is said about every row, and return a node of each row that is not as the ledger has it."""
    stored = {table.name: sum(file.is_stored for file in bench.files(table)) for table in TABLES.values()}
    tables = [table for table in TABLES.values() if bench.has(table) and table is not INFERRED_VALUES]
    resolve_marks(bench, tables, [mark for table in tables for mark in resolve(bench, table)])
    changed: list[pa.ChunkedArray] = []
    for table in (*tables, INFERRED_VALUES):
        standing = bench.standing(table)
        first_new = pa.scalar(bench.place(stored[table.name]), pa.uint64())
        changed.append(standing.column("node").filter(pc.greater_equal(standing.column("place"), first_new)))
    return pc.unique(concatenated(changed))


def write_families(bench: Workbench, groups: Groups, index: Index, size_bytes: int) -> None:
    """Write the rows that stand of the families of an index, and what follows from them, as a new group."""
    groups.add(_rows(bench, _chosen(bench, index.nodes), index), index, size_bytes)


def _chosen(bench: Workbench, nodes: pa.Array) -> dict[str, pa.Table]:
    """Return by table the place and first node of the rows that stand and that name these nodes, in order."""
    chosen = {}
    for table in TABLES.values():
        if bench.has(table):
            standing = bench.standing(table)
            own = standing.filter(pc.is_in(standing.column("node"), value_set=nodes))
            if len(own):
                chosen[table.name] = own.sort_by("place")
    return chosen


def _rows(bench: Workbench, chosen: Mapping[str, pa.Table], index: Index) -> Rows:
    """Go through tables with their rows; those that depend on other rows come last, and take a while.

    All that asks the engine is done here, and not where rows are read: it answers one thread only.
    """
    for name, own in chosen.items():
        if name not in DERIVED_TABLES:
            yield TABLES[name], _copied(bench, TABLES[name], own, index)
    if COLUMNS_READ.keys().isdisjoint(chosen):  # from what lies beside conversations nothing follows
        return
    read = {
        name: bench.copy(TABLES[name], chosen[name].column("place").combine_chunks(), columns)
        for name, columns in COLUMNS_READ.items()
        if name in chosen
    }
    register(bench.connection, read)
    derived = derive(bench.connection)
    stated = stated_threads(bench.connection)
    for name, columns in derived.columns.items():
        if name in chosen:
            yield TABLES[name], _copied(bench, TABLES[name], chosen[name], index, columns)
    yield TABLES["session_history"], _numbered(TABLES["session_history"], iter([derived.history]), index)
    yield TABLES["threads"], _numbered(TABLES["threads"], thread_rows(stated, derived.tree), index)


def _numbered(table: Table, batches: Iterator[pa.RecordBatch], index: Index) -> Iterator[pa.RecordBatch]:
    """Give each row the number of the family that it belongs to."""
    column = node_column(table)
    space = namespace(table, column)
    for batch in batches:
        nodes = [node_number(space, value) for value in batch.column(column.name).to_pylist()]
        yield batch.append_column(COMPONENT_FIELD, index.components(pa.array(nodes, pa.uint64())))


def _copied(
    bench: Workbench, table: Table, chosen: pa.Table, index: Index, derived: pa.Table | None = None
) -> Iterator[pa.RecordBatch]:
    components = index.components(chosen.column("node"))
    start = 0
    for rows in bench.copy(table, chosen.column("place").combine_chunks()):
        numbers = components[start : start + len(rows)]
        start += len(rows)
        yield from _filled_in(table, rows, derived).append_column(COMPONENT_FIELD, numbers).to_batches()


def _filled_in(table: Table, rows: pa.Table, derived: pa.Table | None) -> pa.Table:
    """Replace the derived columns of rows."""
    if derived is None:
        return rows
    [key] = table.key
    order = pc.index_in(rows.column(key), value_set=derived.column(key))
    for number, column in enumerate(table):
        if column.join is Join.DERIVED:
            values = derived.column(column.name).take(order)
            field = arrow_schema(table).field(column.name)
            rows = rows.set_column(number, field, values.cast(field.type))
    return rows
