"""Joining rows into a ledger.

A change gathers the families that the new rows belong to, from whatever groups hold them, joins what is said about
each row, derives what follows from it, and writes these families as a new group. The groups they came from are
rewritten without them. Everything else stays as it is, so that a change costs what it touches.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from aix.errors import LedgerDamagedError, LedgerUnwritableError
from aix.ledger.commit import Stage, commit
from aix.ledger.delivery import SOURCE_COLUMN, Files
from aix.ledger.derivation import TABLES_READ, Derived, derive, thread_rows
from aix.ledger.families import Families
from aix.ledger.groups import Groups, rows_naming
from aix.ledger.index import Index
from aix.ledger.manifest import Manifest, Segment
from aix.ledger.nodes import INFERRED_VALUES, is_derived, node_expressions
from aix.ledger.resolution import resolve, resolve_marks
from aix.ledger.row_groups import batches_of
from aix.ledger.staging import staging_folder
from aix.ledger.workbench import StatementFile, Workbench, copy_rows, scan
from aix.schema import TABLES, Join, Table
from aix.schema.arrow import arrow_schema
from aix.schema.sql import quote_name, quote_text

Delivered = list[tuple[Table, StatementFile]]


def add(ledger: Path, deliveries: Sequence[Files]) -> Manifest:
    """Join the rows of deliveries, given as their files, into a ledger, and return the version that holds them."""
    delivered = [
        (TABLES[name], StatementFile(path, f"'{number}:' || {quote_name(SOURCE_COLUMN)}"))
        for number, files in enumerate(deliveries)
        for name, path in files.items()
    ]

    def change(base: Manifest, stage: Stage) -> Mapping[str, Sequence[Segment]]:
        with staging_folder(ledger) as scratch, Workbench(scratch) as bench, _reading_from(ledger):
            return _join(base, stage, bench, delivered + _ungrouped(ledger, base))

    return commit(ledger, change)


@contextmanager
def _reading_from(ledger: Path) -> Iterator[None]:
    """Say what an error of the engines means for the ledger."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise LedgerUnwritableError(ledger, f"there is not enough room to work in: {error}") from error
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        if "No space left" in str(error):
            raise LedgerUnwritableError(ledger, str(error)) from error
        raise LedgerDamagedError(ledger, f"a file of it cannot be read: {error}") from error


def _ungrouped(ledger: Path, base: Manifest) -> Delivered:
    """Return the files of a ledger that knew no groups: its rows are joined as if they were new."""
    return [
        (TABLES[name], StatementFile(ledger / segment.path, quote_text("")))
        for name, segments in base.tables.items()
        for segment in segments
        if segment.group is None
    ]


def _join(base: Manifest, stage: Stage, bench: Workbench, delivered: Delivered) -> Mapping[str, Sequence[Segment]]:
    families = Families()
    for table, file in delivered:
        _link(bench, families, table, file.path)
    groups = Groups(base, stage)
    touched = groups.holding(pa.array(families.nodes(), pa.uint64()))
    for name, part in touched.items():
        families.link(part.pairs())
        _lay_part(bench, groups, name, part)
    for table, file in delivered:
        if not is_derived(table):
            bench.lay(table, file)
    changed = _resolve(bench)
    moving = {families.of(node) for node in changed}
    if not moving:
        return base.tables
    nodes = [node for node in families.nodes() if families.of(node) in moving]
    with bench.temporary("node", pa.array(nodes, pa.uint64())) as moving_nodes:
        _make_current(bench, moving_nodes)
        new = uuid4().hex
        for table, batches in _rows(bench, derive(bench.connection)):
            groups.add(new, table, stage.write(table, batches, new))
    groups.put_index(new, Index.of((node, families.of(node)) for node in nodes))
    for name, part in touched.items():
        leaving = pa.array(
            [family for family in part.families.to_pylist() if families.of(family) in moving], pa.uint64()
        )
        if len(leaving):
            groups.remove(bench, name, part.split(leaving)[0])
    groups.merge()
    return groups.tables()


def _link(bench: Workbench, families: Families, table: Table, path: Path) -> None:
    expressions = node_expressions(table)
    names = ", ".join(f"{expression} as n{place}" for place, expression in enumerate(expressions))
    columns = [column.to_pylist() for column in bench.fetch(f"select distinct {names} from {scan(path)}").columns]
    for column in columns:
        families.link((first, node) for first, node in zip(columns[0], column, strict=True) if node is not None)


def _lay_part(bench: Workbench, groups: Groups, name: str, part: Index) -> None:
    """Put the rows of some families of a group on the bench."""
    with bench.temporary("node", part.nodes) as nodes:
        for table, path in groups.segments(name):
            if is_derived(table):
                continue
            if not groups.is_whole(name, part):
                rows = rows_naming(bench, table, path, nodes)
                if not len(rows):
                    continue
                path = bench.write_scratch(table, batches_of(copy_rows(path, rows, table)), arrow_schema(table))
            bench.lay(table, StatementFile(path, "null"))


def _resolve(bench: Workbench) -> set[int]:
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


def _make_current(bench: Workbench, moving_nodes: str) -> None:
    """Make the views `current_<table>` of all rows of the families that change."""
    for table in TABLES.values():
        rows = f"select * from ({bench.statements(table)})"
        if not bench.has(table) and table.name not in TABLES_READ:
            continue
        if bench.has(table):
            bench.connection.execute(
                f"create temp table final_{table.name} as select _place from chosen_{table.name}"
                f" where _node in (select node from {moving_nodes})"
            )
            rows += f" semi join final_{table.name} using (_place)"
        bench.connection.execute(f"create temp view current_{table.name} as {rows}")


def _rows(bench: Workbench, derived: Derived) -> Iterator[tuple[Table, Iterator[pa.RecordBatch]]]:
    """Go through the tables with all rows of the families that change."""
    for table in TABLES.values():
        if table.name == "threads":
            yield table, thread_rows(bench.connection, derived.tree)
        elif table.name == "session_history":
            yield table, iter([derived.history])
        elif bench.has(table):
            places = bench.fetch(f"select _place from final_{table.name} order by _place").column(0).combine_chunks()
            columns = derived.columns.get(table.name)
            yield table, batches_of(_filled_in(table, rows, columns) for rows in bench.copy(table, places))


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
