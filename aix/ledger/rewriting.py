"""Rewriting families of rows: gather them on the bench, settle what is said about each row, derive, and write.

These are the steps that every change of a ledger is made of.
"""

from collections.abc import Iterator, Mapping, Sequence
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc

from aix.ledger.derivation import TABLES_READ, Derived, derive, stated_threads, thread_rows
from aix.ledger.groups import Groups
from aix.ledger.index import Index
from aix.ledger.nodes import INFERRED_VALUES, in_conversations, is_derived
from aix.ledger.resolution import resolve, resolve_marks
from aix.ledger.row_groups import batches_of
from aix.ledger.workbench import StatementFile, Workbench
from aix.schema import TABLES, Join, Table
from aix.schema.arrow import arrow_schema
from aix.threads import map_in_threads

ALL = tuple(TABLES.values())
BESIDE = tuple(table for table in ALL if table is INFERRED_VALUES or not in_conversations(table))
"""Tables of what is noted beside conversations."""


def lay_part(bench: Workbench, groups: Groups, name: str, part: Index) -> None:
    """Put the rows of some families of a group on the bench."""
    is_whole = groups.is_whole(name, part)
    for table, path, rows in groups.entries(bench, name, part):
        if not is_derived(table) and len(rows):
            bench.lay(table, StatementFile(path, "null"), rows, is_whole=is_whole)


def settle(bench: Workbench) -> set[int]:
    """Settle what is said about every row, and return a node of each row that is not as the ledger has it."""
    stored = {table.name: sum(file.is_stored for file in bench.files(table)) for table in TABLES.values()}
    tables = [table for table in TABLES.values() if bench.has(table) and table is not INFERRED_VALUES]
    resolve_marks(bench, tables, [mark for table in tables for mark in resolve(bench, table)])
    changed: set[int] = set()
    for table in (*tables, INFERRED_VALUES):
        standing = bench.standing(table)
        first_new = pa.scalar(bench.place(stored[table.name]), pa.uint64())
        new = standing.column("node").filter(pc.greater_equal(standing.column("place"), first_new))
        changed.update(pc.unique(new).to_pylist())
    return changed


def choose(bench: Workbench, nodes: pa.Array, tables: Sequence[Table] = ALL) -> dict[str, pa.ChunkedArray]:
    """Return by table the places of the rows that stand and that name these nodes."""
    return {
        table.name: standing.column("place").filter(pc.is_in(standing.column("node"), value_set=nodes))
        for table in tables
        if bench.has(table)
        for standing in [bench.standing(table)]
    }


def write_chosen(
    bench: Workbench,
    groups: Groups,
    index: Index,
    chosen: Mapping[str, pa.ChunkedArray],
    tables: Sequence[Table] = ALL,
) -> None:
    """Write the chosen rows of tables, and what follows from them, as a new group.

    From what lies beside conversations nothing follows.
    """
    derived = None
    if tables is ALL:
        for read in TABLES_READ:
            select = bench.rows_at(TABLES[read], chosen[read]) if read in chosen else bench.statements(TABLES[read])
            bench.connection.execute(f"create or replace temp view current_{read} as {select}")
        derived = derive(bench.connection)
    name = uuid4().hex
    rows = list(_rows(bench, tables, chosen, derived))  # the engine answers one thread only
    map_in_threads(lambda each: groups.write(name, *each), rows)
    groups.put_index(name, index)


def _rows(
    bench: Workbench, tables: Sequence[Table], chosen: Mapping[str, pa.ChunkedArray], derived: Derived | None
) -> Iterator[tuple[Table, Iterator[pa.RecordBatch]]]:
    for table in tables:
        if derived and table.name == "threads":
            yield table, thread_rows(stated_threads(bench.connection), derived.tree)
        elif derived and table.name == "session_history":
            yield table, iter([derived.history])
        elif table.name in chosen:
            places = chosen[table.name].combine_chunks()
            places = places.take(pc.sort_indices(places))
            yield table, batches_of(_copied(bench, table, places, derived.columns.get(table.name) if derived else None))


def _copied(bench: Workbench, table: Table, places: pa.Array, derived: pa.Table | None) -> Iterator[pa.Table]:
    for rows in bench.copy(table, places):
        yield _filled_in(table, rows, derived)


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
