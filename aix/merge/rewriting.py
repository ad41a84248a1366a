"""Rewriting families of rows: gather them, settle what is said about each row, derive, and write.

These are the steps that every change of a ledger is made of. Whole groups of files are rewritten as well: small ones
are put together, whatever their number, and dead rows are left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from aix.derived.columns import COLUMNS_READ, DERIVED_TABLES, derive, thread_rows
from aix.derived.derived_data import DerivedData
from aix.merge.conflicts import resolve, resolve_marks
from aix.merge.groups import Groups, Rows
from aix.merge.workspace import MergeWorkspace, Scan, StatementFile, paired, read_entries
from aix.schema import TABLES, Join, Table
from aix.schema.arrow import arrow_schema
from aix.store.commit import Change, Stage, commit
from aix.store.engine import engine_errors_of
from aix.store.index import COMPONENT_FIELD, Families, Index, concatenated
from aix.store.manifest import Manifest, read_latest
from aix.store.nodes import INFERRED_VALUES, is_derived, namespace, node_column, node_number, node_of

_NAMED_BY_DERIVED_ROWS = ("turns", "threads", "sessions")
"""Tables whose rows those of `threads` and `session_history` follow from, and name."""


def add_part(workspace: MergeWorkspace, groups: Groups, name: str, part: Index) -> None:
    """Add the rows of some families of a group to the workspace."""
    for table, path, rows in groups.entries(workspace, name, part):
        if not is_derived(table) and len(rows):
            workspace.add(table, StatementFile(path, "null"), rows)


def settle(workspace: MergeWorkspace) -> pa.Array:
    """Settle what is said about every row, and return a node of each row that is not as the ledger has it."""
    stored = {table.name: sum(file.is_stored for file in workspace.files(table)) for table in TABLES.values()}
    tables = [table for table in TABLES.values() if workspace.has(table) and table is not INFERRED_VALUES]
    resolve_marks(workspace, tables, [mark for table in tables for mark in resolve(workspace, table)])
    changed: list[pa.ChunkedArray] = []
    for table in (*tables, INFERRED_VALUES):
        kept = workspace.kept(table)
        first_new = pa.scalar(workspace.place(stored[table.name]), pa.uint64())
        changed.append(kept.column("node").filter(pc.greater_equal(kept.column("place"), first_new)))
    workspace.forget_entries()
    return pc.unique(concatenated(changed))


def write_families(workspace: MergeWorkspace, groups: Groups, index: Index, size_bytes: int) -> None:
    """Write the rows that are kept of the families of an index, and what follows from them, as a new group."""
    groups.add(_rows(workspace, _chosen(workspace, index), index), index, size_bytes)


def write_remaining_rows(workspace: MergeWorkspace, groups: Groups, touched: Mapping[str, Index]) -> None:
    """Write the rows that are still kept of these parts of groups as a new group, in families of their own."""
    tables = [table for table in TABLES.values() if workspace.has(table)]
    scans = [
        Scan(table, f"(select *, _place as file_row_number from ({workspace.kept_rows(table)}))") for table in tables
    ]
    families = Families(
        [pairs for entries in read_entries(workspace.connection, scans) for pairs in paired(entries.named)]
    )
    for name, part in touched.items():
        groups.remove(name, part)
    if len(families.nodes):
        write_families(workspace, groups, groups.numbered(families.nodes, families.numbers), workspace.size_bytes)


def nodes_of(workspace: MergeWorkspace, table: Table, key: str, values: Sequence[str]) -> pa.Array:
    """Return the nodes of the rows of a table that have these keys."""
    with workspace.temporary(key, pa.array(values, pa.string())) as given:
        found = workspace.fetch(f"select {node_of(table, key)} as node from {given}")
    return found.column(0).combine_chunks()


def _chosen(workspace: MergeWorkspace, index: Index) -> dict[str, pa.Table]:
    """Return by table the place and family of the rows that are kept and are of the families of an index, in order."""
    kept = {table.name: workspace.kept(table) for table in TABLES.values() if workspace.has(table)}
    # All at once: each lookup goes through the whole index.
    components = index.components(concatenated(rows.column("node") for rows in kept.values()))
    chosen = {}
    start = 0
    for name, rows in kept.items():
        own = components[start : start + len(rows)]
        start += len(rows)
        if own.null_count < len(own):
            placed = pa.table({"place": rows.column("place"), "component": own})
            chosen[name] = (placed.drop_null() if own.null_count else placed).sort_by("place")
    return chosen


def _rows(workspace: MergeWorkspace, chosen: Mapping[str, pa.Table], index: Index) -> Rows:
    """Go through tables with their rows; those that depend on other rows come last, and take a while.

    All that asks the engine is done here, and not where rows are read: it answers one thread only.
    """
    for name, own in chosen.items():
        if name not in DERIVED_TABLES:
            yield TABLES[name], _copied(workspace, TABLES[name], own)
    if COLUMNS_READ.keys().isdisjoint(chosen):  # from what lies beside conversations nothing follows
        return
    read = {
        name: workspace.copy(TABLES[name], chosen[name].column("place").combine_chunks(), columns)
        for name, columns in COLUMNS_READ.items()
        if name in chosen
    }
    derived = derive(workspace.connection, read)
    index = index.only(concatenated(workspace.kept(TABLES[name]).column("node") for name in _NAMED_BY_DERIVED_ROWS))
    for name, columns in derived.columns.items():
        if name in chosen:
            yield TABLES[name], _copied(workspace, TABLES[name], chosen[name], columns)
    yield TABLES["session_history"], _numbered(TABLES["session_history"], iter([derived.history]), index)
    yield TABLES["threads"], _numbered(TABLES["threads"], thread_rows(derived.stated_threads, derived.tree), index)


def _numbered(table: Table, batches: Iterator[pa.RecordBatch], index: Index) -> Iterator[pa.RecordBatch]:
    """Give each row the number of the family that it belongs to."""
    column = node_column(table)
    space = namespace(table, column)
    for batch in batches:
        nodes = [node_number(space, value) for value in batch.column(column.name).to_pylist()]
        yield batch.append_column(COMPONENT_FIELD, index.components(pa.array(nodes, pa.uint64())))


def _copied(
    workspace: MergeWorkspace, table: Table, chosen: pa.Table, derived: pa.Table | None = None
) -> Iterator[pa.RecordBatch]:
    """Go through rows, with their derived columns, which are in the same order, and the numbers of their families."""
    start = 0
    for rows in workspace.copy(table, chosen.column("place").combine_chunks()):
        if derived is not None:
            rows = _filled_in(table, rows, derived.slice(start, len(rows)))
        numbers = chosen.column("component").slice(start, len(rows))
        start += len(rows)
        yield from rows.append_column(COMPONENT_FIELD, numbers).to_batches()


def _filled_in(table: Table, rows: pa.Table, derived: pa.Table) -> pa.Table:
    for number, column in enumerate(table):
        if column.join is Join.DERIVED:
            field = arrow_schema(table).field(column.name)
            rows = rows.set_column(number, field, derived.column(column.name).cast(field.type))
    return rows


def untidy_groups(ledger: Path) -> dict[str, int]:
    """Return the groups that would be written again, with their sizes."""
    version = read_latest(ledger)
    groups = Groups(version, Stage(ledger))
    return {name: groups.size_of(name) for name in dict.fromkeys([*groups.untidy(), *version.dead])}


def tidy_groups(ledger: Path) -> dict[str, int]:
    """Put small groups together, drop all dead rows, and return the groups that were written again."""
    read_latest(ledger)
    step = Tidying()
    return commit(ledger, Change(leaves=[step], derived=DerivedData())).result(step)


@dataclass(frozen=True)
class Tidying:
    """Dead rows, and the small groups that others take in."""

    def apply(self, base: Manifest, stage: Stage) -> tuple[Manifest, dict[str, int]]:
        """Return a version without them, and the groups that were written again."""
        tidied: dict[str, int] = {}
        groups = Groups(base, stage)
        with engine_errors_of(stage.ledger):
            while untidy := groups.untidy():
                tidied.update({name: groups.size_of(name) for name in untidy if name in base.indexes})
                groups.put_together(untidy)
        return groups.version() if tidied else base, tidied
