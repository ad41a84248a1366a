"""Where a change is prepared: statements from the ledger and from deliveries, table by table.

DuckDB reads the files and answers which rows belong together, which say the same, and what follows from them. Whole
rows are copied from file to file by their positions, so that long texts pass through one row group at a time.

An entry is a row without its values: its number, its key, and the things that the row names. A change decides nearly
everything about rows by these numbers, and one statement reads those of many files, of all tables. Keys and owners are
hashes: where two are equal, the texts behind them are compared before anything is joined.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from aix.process import return_large_blocks
from aix.schema import TABLES, Table
from aix.schema.sql import empty_select, name_list, quote_name
from aix.store.durable import NewFile
from aix.store.engine import computed_rows, engine, engine_errors_of, start_reader
from aix.store.index import Pairs
from aix.store.locks import staging_folder
from aix.store.manifest import COMPONENT
from aix.store.nodes import is_taken_together, node_expressions, owner_column, row_key
from aix.store.segments import Pace, RowGroupWriter
from aix.store.views import file_literal

_BATCH_ROWS = 100_000
_FEW_ROWS = 1_000
_MOST_NODES = max(len(node_expressions(table)) for table in TABLES.values())
_NODES = ["node", *(f"node{place}" for place in range(1, _MOST_NODES))]
_COLUMNS = ("row", "node", "key")
_COLUMNS_TOGETHER = (*_COLUMNS, "owner", "source")
_ROW_BITS = 40
"""A place is the number of a file and, in the lower bits, of a row in it."""
_MANY_BYTES = 128 * 2**20
_ROW_BYTES = 256
_NONE_KEPT = pa.table({"place": pa.array([], pa.uint64()), "node": pa.array([], pa.uint64())})


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


@dataclass(frozen=True)
class StatementFile:
    """A Parquet file of rows, and SQL for the source that a row comes from: NULL for what the ledger holds."""

    path: Path
    source: str
    is_earlier: bool = False
    """Whether its bookkeeping is older than what the ledger has."""
    entries: list[Entries] = field(default_factory=list, compare=False)
    """Those of its rows, once they were read: a file does not change."""

    @property
    def is_stored(self) -> bool:
        """Whether the rows come from the ledger itself."""
        return self.source == "null"


Delivered = Sequence[tuple[Table, StatementFile]]
"""Rows that are to be joined into a ledger."""


def _rough_bytes(path: Path) -> int:
    """Return the size of a file; rows that are alike take little of it, and still much memory."""
    rows: int = pq.read_metadata(path).num_rows
    return max(path.stat().st_size, _ROW_BYTES * rows)


class MergeWorkspace:
    """Statements about the rows of every table."""

    def __init__(self, scratch: Path, connection: duckdb.DuckDBPyConnection) -> None:
        self._scratch = scratch
        self.connection = connection
        self._files: dict[str, list[StatementFile]] = {}
        self._entries: dict[str, list[pa.Table]] = {}
        self._added: dict[str, int] = {}
        """By table, how many rows lie in the workspace."""
        self._kept: dict[str, pa.Table] = {}
        self._partly: set[str] = set()
        self.size_bytes = 0
        """How much lies in the workspace: of files of which some rows do, their share."""
        self._written = 0

    def read(self, delivered: Delivered) -> list[Entries]:
        """Return the entries of files, of all that were not read before in one statement."""
        unread = [(table, file) for table, file in delivered if not file.entries]
        scans = [Scan(table, scan(file.path), file.source) for table, file in unread]
        are_many = sum(_rough_bytes(file.path) for _, file in unread) > _MANY_BYTES
        if are_many:
            return_large_blocks()
        for (_, file), entries in zip(unread, read_entries(self.connection, scans, are_many=are_many), strict=True):
            file.entries.append(entries)
        return [file.entries[0] for _, file in delivered]

    def add(self, table: Table, file: StatementFile, entries: pa.Table | None = None) -> None:
        """Put the rows of a file in the workspace, or those that have these entries."""
        rows = self.read([(table, file)])[0].rows if entries is None else entries
        count = len(rows) if entries is None else pq.read_metadata(file.path).num_rows
        if len(rows) < count:
            self._partly.add(table.name)
        self.size_bytes += file.path.stat().st_size * len(rows) // max(count, 1)
        first = pa.scalar(self.place(len(self.files(table))), pa.uint64())
        placed = rows.set_column(0, "place", pc.add(rows.column("row"), first))
        self._files.setdefault(table.name, []).append(file)
        self._entries.setdefault(table.name, []).append(placed)
        self._added[table.name] = self._added.get(table.name, 0) + len(placed)

    def forget_entries(self) -> None:
        """Let go of the entries of all rows: once it is settled which of them are kept, they are of no use."""
        self._entries.clear()

    def has(self, table: Table) -> bool:
        """Whether there are any rows of the table."""
        return table.name in self._files

    def files(self, table: Table) -> Sequence[StatementFile]:
        """Return the files of the table."""
        return self._files.get(table.name, ())

    def entries(self, table: Table) -> pa.Table:
        """Return the entries of all rows of the table, with the place of each."""
        return pa.concat_tables(self._entries[table.name])

    def entries_of_last(self, table: Table) -> pa.Table:
        """Return the entries of the file that was added last."""
        return self._entries[table.name][-1]

    def keep(self, table: Table, entries: pa.Table) -> None:
        """Keep these rows, beside those that are kept."""
        more = entries.select(["place", "node"])
        known = self._kept.get(table.name)
        self._kept[table.name] = more if known is None else pa.concat_tables([known, more])

    def drop(self, table: Table, places: pa.Array) -> None:
        """Keep the rows at these places no longer."""
        kept = self.kept(table)
        self._kept[table.name] = kept.filter(pc.invert(pc.is_in(kept.column("place"), value_set=places)))

    def kept(self, table: Table) -> pa.Table:
        """Return the place and first node of every row that is kept."""
        return self._kept.get(table.name, _NONE_KEPT)

    def rows_at(self, table: Table, places: pa.ChunkedArray) -> str:
        """Return SQL for the rows of the table at these places, each with its place, source, key and first node."""
        is_all = table.name not in self._partly and len(places) == self._added.get(table.name, 0)
        if is_all:
            return f"select * from ({self.statements(table)})"
        self._written += 1
        self.connection.register(f"places_{self._written}", pa.table({"_place": places}))
        return f"select * from ({self.statements(table)}) semi join places_{self._written} using (_place)"

    def added_rows(self, table: Table) -> str:
        """Return SQL for the rows that were added to the workspace."""
        return self.rows_at(table, self.entries(table).column("place")) if self.has(table) else self.no_rows(table)

    def kept_rows(self, table: Table) -> str:
        """Return SQL for the rows that are kept."""
        return self.rows_at(table, self.kept(table).column("place"))

    def write_scratch(self, table: Table, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Path:
        """Write rows to a file that lasts as long as the change."""
        self._written += 1
        return write_rows(self._scratch / f"{table.name}-{self._written}.parquet", schema, batches)

    def statements(self, table: Table) -> str:
        """Return SQL for all rows in the files of the table, also for those that are not in the workspace, or dead."""
        node = node_expressions(table)[0]
        parts = [
            f"select {self.place(number)}::ubigint + file_row_number::ubigint as _place,"
            f" cast({file.source} as varchar) as _source, {row_key(table)} as _key, {node} as _node,"
            f" {name_list(table)} from {scan(file.path)}"
            for number, file in enumerate(self.files(table))
        ]
        return " union all ".join(parts) or self.no_rows(table)

    @staticmethod
    def no_rows(table: Table) -> str:
        """Return SQL for no rows of the table, with the columns of `statements`."""
        return (
            "select 0::ubigint as _place, null::varchar as _source, null::varchar as _key, 0::ubigint as _node, *"
            f" from ({empty_select(table)})"
        )

    @staticmethod
    def place(file_number: int) -> int:
        """Return the place of the first row of a file."""
        return file_number << _ROW_BITS

    @contextmanager
    def temporary(self, column: str, values: pa.Array) -> Iterator[str]:
        """Give the name of a relation with one column of these values."""
        self._written += 1
        name = f"temporary_{self._written}"
        self.connection.register(name, pa.table({column: values}))
        try:
            yield name
        finally:
            self.connection.unregister(name)

    def count(self, relation: str) -> int:
        """Return how many rows a relation has."""
        [(count,)] = self.connection.execute(f"select count(*) from {relation}").fetchall()
        return int(count)

    def fetch(self, query: str) -> pa.Table:
        """Return the rows of a query."""
        return self.connection.sql(query).to_arrow_table()

    def file_at(self, table: Table, place: int) -> StatementFile:
        """Return the file that a place is in."""
        return self.files(table)[place >> _ROW_BITS]

    def copy(self, table: Table, places: pa.Array, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Go through the rows at these places, in ascending order, one row group at a time."""
        file_numbers = pc.shift_right(places, pa.scalar(_ROW_BITS, pa.uint64()))
        for number, file in enumerate(self.files(table)):
            here = places.filter(pc.equal(file_numbers, pa.scalar(number, pa.uint64())))
            if len(here):
                rows = pc.bit_wise_and(here, pa.scalar((1 << _ROW_BITS) - 1, pa.uint64()))
                yield from copy_rows(file.path, rows.cast(pa.int64()), columns or table.column_names)


@contextmanager
def open_workspace(ledger: Path) -> Iterator[MergeWorkspace]:
    """Give an empty workspace in the staging folder of a ledger."""
    with staging_folder(ledger) as scratch, engine_errors_of(ledger), engine(ledger) as connection:
        yield MergeWorkspace(scratch, connection)


def write_rows(path: Path, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Path:
    """Write rows to a private file that need not outlast a power cut, and return its path."""
    file = NewFile(path)
    try:
        with RowGroupWriter(file, schema, Pace.FAST) as writer:
            for batch in batches:
                writer.write(batch)
    except BaseException:
        file.discard()
        raise
    file.close()
    return path


def scan(path: Path) -> str:
    """Return SQL that reads a Parquet file with the number of each row."""
    return f"read_parquet([{file_literal(path)}], hive_partitioning = false, file_row_number = true)"


def copy_rows(path: Path, rows: pa.Array, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Go through the rows of a file that have these numbers; row groups that have none are not read."""
    with pq.ParquetFile(path) as file:
        start = 0
        for group in range(file.num_row_groups):
            count = file.metadata.row_group(group).num_rows
            inside = pc.and_(pc.greater_equal(rows, start), pc.less(rows, start + count))
            numbers = pc.subtract(rows.filter(inside), start)
            start += count
            if len(numbers):
                content = file.read_row_group(group, columns=list(columns))
                yield content if len(numbers) == count else content.take(numbers)
