"""Entries: rows without their values. Each has the number of its row, its key, and the things that the row names.

A change decides nearly everything about rows by these numbers, and one statement reads those of many files, of all
tables. Keys and owners are hashes: where two are equal, the texts behind them are compared before anything is joined.
"""

from collections.abc import Sequence
from typing import NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from aix.schema import TABLES, Table
from aix.schema.sql import quote_name
from aix.store.engine import computed_rows, start_reader
from aix.store.index import Pairs
from aix.store.manifest import COMPONENT
from aix.store.nodes import is_taken_together, node_expressions, owner_column, row_key

_BATCH_ROWS = 100_000
_FEW_ROWS = 1_000
_MOST_NODES = max(len(node_expressions(table)) for table in TABLES.values())
_NODES = ["node", *(f"node{place}" for place in range(1, _MOST_NODES))]
_COLUMNS = ("row", "node", "key")
_COLUMNS_TOGETHER = (*_COLUMNS, "owner", "source")


class Scan(NamedTuple):
    """Rows of a table to be read."""

    table: Table
    relation: str
    """SQL with `file_row_number` and the columns of the table."""
    source: str = "null"
    """SQL for the source of a row."""


class Entries(NamedTuple):
    """The entries of a file."""

    rows: pa.Table
    """One per row: its number in the file, first node and key; owner and source where rows are taken together."""
    named: pa.Table
    """The nodes that rows name, the first node first; of a combination that many rows have, few are listed."""


def read_entries(
    connection: duckdb.DuckDBPyConnection,
    scans: Sequence[Scan],
    components: str | None = None,
    *,
    are_many: bool = False,
) -> list[Entries]:
    """Return the entries of rows, or of those whose component is in that relation; many are not held twice."""
    found: list[list[Entries]] = [[_split(scan.table, _NO_ROWS)] for scan in scans]
    if scans:
        select = _select(scans, components)
        reading = start_reader if are_many else computed_rows
        with reading(connection, select, _BATCH_ROWS) as batches:
            for batch in batches:
                for number in pc.unique(batch.column("scan")).to_pylist():
                    own = pa.Table.from_batches([batch.filter(pc.equal(batch.column("scan"), number))])
                    found[number].append(_split(scans[number].table, own))
    return [
        Entries(
            pa.concat_tables(each.rows for each in parts), _distinct(pa.concat_tables(each.named for each in parts))
        )
        for parts in found
    ]


def paired(named: pa.Table) -> list[Pairs]:
    """Return the first node that each row names with the others, or with itself where it names no other."""
    first, *others = named.columns
    return [(first, pc.coalesce(other, first)) for other in others or [first]]


def repeated(table: Table, entries: pa.Table) -> pa.ChunkedArray | None:
    """Return which rows may be statements about the same thing as others; None when there are none."""
    keys = entries.column("key")
    doubled = _values_seen_again(keys) if pc.count_distinct(keys).as_py() < len(keys) else None
    if not is_taken_together(table):
        return None if doubled is None else pc.is_in(keys, value_set=doubled)
    owners = entries.column("owner")
    sides = entries.group_by("owner").aggregate([("source", "count_distinct")])
    several = sides.filter(pc.greater(sides.column("source_count_distinct"), 1)).column("owner").combine_chunks()
    if doubled is not None:
        again = owners.filter(pc.is_in(keys, value_set=doubled)).combine_chunks()
        several = pa.concat_arrays([several, again])
    return pc.is_in(owners, value_set=several) if len(several) else None


def _values_seen_again(values: pa.ChunkedArray) -> pa.Array:
    counted = pc.value_counts(values)
    return counted.field("values").filter(pc.greater(counted.field("counts"), 1))


def _select(scans: Sequence[Scan], components: str | None) -> str:
    parts = []
    for number, (table, relation, source) in enumerate(scans):
        own = node_expressions(table)
        padded = (*own, *["null"] * (_MOST_NODES - len(own)))
        named = ", ".join(f"cast({each} as ubigint) as {name}" for name, each in zip(_NODES, padded, strict=True))
        owner = f"hash({quote_name(owner_column(table))})" if is_taken_together(table) else "0"
        where = f" where {COMPONENT} in (select {COMPONENT} from {components})" if components else ""
        parts.append(
            f"select {number} as scan, cast(file_row_number as ubigint) as row, hash({row_key(table)}) as key,"
            f" cast({owner} as ubigint) as owner, hash(cast({source} as varchar)) as source, {named}"
            f" from {relation}{where}"
        )
    return " union all ".join(parts)


def _split(table: Table, rows: pa.Table) -> Entries:
    columns = _COLUMNS_TOGETHER if is_taken_together(table) else _COLUMNS
    return Entries(rows.select(columns), _distinct(rows.select(_NODES[: len(node_expressions(table))])))


def _distinct(rows: pa.Table) -> pa.Table:
    """Return each combination once, where there are so many that linking them again takes longer."""
    return rows if len(rows) < _FEW_ROWS else rows.group_by(rows.column_names).aggregate([])


_NO_ROWS = pa.schema(
    [("scan", pa.int32()), *((name, pa.uint64()) for name in ("row", "key", "owner", "source"))]
    + [(name, pa.uint64()) for name in _NODES]
).empty_table()
