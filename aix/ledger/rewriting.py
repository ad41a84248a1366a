"""Rewriting families of rows: gather them on the bench, settle what is said about each row, derive, and write.

These are the steps that every change of a ledger is made of.
"""

from collections.abc import Iterator, Sequence
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc

from aix.ledger.derivation import TABLES_READ, Derived, derive, stated_threads, thread_rows
from aix.ledger.families import Families
from aix.ledger.groups import Groups, rows_naming
from aix.ledger.index import Index
from aix.ledger.nodes import INFERRED_VALUES, in_conversations, is_derived, node_expressions
from aix.ledger.resolution import resolve, resolve_marks
from aix.ledger.row_groups import batches_of
from aix.ledger.workbench import StatementFile, Workbench, copy_rows, scan
from aix.schema import TABLES, Join, Table
from aix.schema.arrow import arrow_schema
from aix.threads import map_in_threads

ALL = tuple(TABLES.values())
BESIDE = tuple(table for table in ALL if table is INFERRED_VALUES or not in_conversations(table))
"""Tables of what is noted beside conversations."""


def link_rows(bench: Workbench, families: Families, table: Table, relation: str) -> list[int]:
    """Put what each row of a relation names into one family, and return the first node of each."""
    return _link(families, _named(bench, table, relation))


def link_file(bench: Workbench, families: Families, table: Table, file: StatementFile) -> list[int]:
    """Do the same with the rows of a file, whose nodes are kept with it."""
    if not file.named:
        file.named.append(_named(bench, table, scan(file.path)))
    return _link(families, file.named[0])


def _named(bench: Workbench, table: Table, relation: str) -> pa.Table:
    expressions = enumerate(node_expressions(table))
    return bench.fetch(
        f"select distinct {', '.join(f'{each} as n{place}' for place, each in expressions)} from {relation}"
    )


def _link(families: Families, nodes: pa.Table) -> list[int]:
    first: list[int] = nodes.column(0).to_pylist()
    for column in nodes.columns[1:]:
        families.link((own, node) for own, node in zip(first, column.to_pylist(), strict=True) if node is not None)
    families.add(first)
    return first


def lay_part(bench: Workbench, groups: Groups, name: str, part: Index) -> None:
    """Put the rows of some families of a group on the bench."""
    with bench.temporary("node", part.nodes) as nodes:
        for table, path in groups.segments(name):
            if is_derived(table):
                continue
            if groups.is_whole(name, part):
                bench.lay(table, StatementFile(path, "null"))
                continue
            rows = rows_naming(bench, table, path, nodes)
            if len(rows):
                copied = batches_of(copy_rows(path, rows, table.column_names))
                bench.lay(table, StatementFile(bench.write_scratch(table, copied, arrow_schema(table)), "null"))


def settle(bench: Workbench) -> set[int]:
    """Settle what is said about every row, and return a node of each row that is not as the ledger has it."""
    stored = {table.name: sum(file.is_stored for file in bench.files(table)) for table in TABLES.values()}
    bench.connection.execute(
        "create temp table marks as select table_name, row_key, _source,"
        " string_agg(column_name || '=' || coalesce(basis, ''), ',' order by column_name) as inferred"
        f" from ({bench.statements(INFERRED_VALUES)}) group by table_name, row_key, _source"
    )
    tables = [table for table in TABLES.values() if bench.has(table) and table is not INFERRED_VALUES]
    resolve_marks(bench, tables, [mark for table in tables for mark in resolve(bench, table)])
    changed = set()
    for table in (*tables, INFERRED_VALUES):
        rows = bench.fetch(
            f"select distinct _node from chosen_{table.name} where _place >= {bench.place(stored[table.name])}"
        )
        changed.update(rows.column(0).to_pylist())
    return changed


def make_current(bench: Workbench, nodes: pa.Array, tables: Sequence[Table] = ALL) -> None:
    """Choose the rows of tables that stand and that name these nodes, and make views `current_<table>` of them.

    Of what lies beside conversations nothing is derived, so it needs no views.
    """
    with bench.temporary("node", nodes) as moving:
        for table in tables:
            if bench.has(table):
                bench.connection.execute(
                    f"create or replace temp table final_{table.name} as select _place from chosen_{table.name}"
                    f" where _node in (select node from {moving})"
                )
    for table in tables if tables is ALL else ():
        if table.name in TABLES_READ:
            rows = f"select * from ({bench.statements(table)})"
            if bench.has(table):
                rows += f" semi join final_{table.name} using (_place)"
            bench.connection.execute(f"create or replace temp view current_{table.name} as {rows}")


def write_current(bench: Workbench, groups: Groups, index: Index, tables: Sequence[Table] = ALL) -> None:
    """Write the chosen rows of tables, and what follows from them, as a new group."""
    name = uuid4().hex
    derived = derive(bench.connection) if tables is ALL else None
    rows = list(_rows(bench, tables, derived))  # the engine answers one thread only
    map_in_threads(lambda each: groups.write(name, *each), rows)
    groups.put_index(name, index)


def _rows(
    bench: Workbench, tables: Sequence[Table], derived: Derived | None
) -> Iterator[tuple[Table, Iterator[pa.RecordBatch]]]:
    for table in tables:
        if derived and table.name == "threads":
            yield table, thread_rows(stated_threads(bench.connection), derived.tree)
        elif derived and table.name == "session_history":
            yield table, iter([derived.history])
        elif bench.has(table):
            places = bench.fetch(f"select _place from final_{table.name} order by _place").column(0).combine_chunks()
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
