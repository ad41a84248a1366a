"""Where a change is prepared: statements from the ledger and from deliveries, laid out table by table.

DuckDB reads the files and answers which rows belong together, which say the same, and what follows from them. Whole
rows are copied from file to file by their positions, so that long texts pass through one row group at a time.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from aix.errors import LedgerDamagedError, LedgerUnwritableError
from aix.ledger.durable import NewFile
from aix.ledger.engine import engine
from aix.ledger.nodes import node_expressions, row_key
from aix.ledger.row_groups import Pace, RowGroupWriter
from aix.ledger.staging import staging_folder
from aix.ledger.views import file_literal
from aix.schema import Table
from aix.schema.sql import empty_select, name_list

_ROW_BITS = 40
"""A place is the number of a file and, in the lower bits, of a row in it."""


@dataclass(frozen=True)
class StatementFile:
    """A Parquet file of rows, and SQL for the source that a row comes from: NULL for what the ledger holds."""

    path: Path
    source: str
    is_earlier: bool = False
    """Whether its bookkeeping is older than what the ledger has."""
    named: list[pa.Table] = field(default_factory=list, compare=False)
    """The nodes that its rows name, once they were asked for: a file does not change."""

    @property
    def is_stored(self) -> bool:
        """Whether the rows come from the ledger itself."""
        return self.source == "null"


Delivered = Sequence[tuple[Table, StatementFile]]
"""Rows that are to be joined into a ledger."""


class Workbench:
    """Statements about the rows of every table."""

    def __init__(self, scratch: Path, connection: duckdb.DuckDBPyConnection) -> None:
        self._scratch = scratch
        self.connection = connection
        self._files: dict[str, list[StatementFile]] = {}
        self._written = 0

    def lay(self, table: Table, file: StatementFile) -> None:
        """Put a file of the table's rows on the bench."""
        self._files.setdefault(table.name, []).append(file)

    def has(self, table: Table) -> bool:
        """Whether there are any rows of the table."""
        return table.name in self._files

    def files(self, table: Table) -> Sequence[StatementFile]:
        """Return the files of the table."""
        return self._files.get(table.name, ())

    def size_bytes(self) -> int:
        """Return the size of all files on the bench."""
        return sum(file.path.stat().st_size for files in self._files.values() for file in files)

    def write_scratch(self, table: Table, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Path:
        """Write rows to a file that lasts as long as the change."""
        self._written += 1
        return write_rows(self._scratch / f"{table.name}-{self._written}.parquet", schema, batches)

    def statements(self, table: Table) -> str:
        """Return SQL for all rows of the table, each with its place, source, key and first node."""
        node = node_expressions(table)[0]
        parts = [
            f"select {self.place(number)}::ubigint + file_row_number::ubigint as _place,"
            f" cast({file.source} as varchar) as _source, {row_key(table)} as _key, {node} as _node,"
            f" {name_list(table)} from {scan(file.path)}"
            for number, file in enumerate(self.files(table))
        ]
        if not parts:
            return (
                "select 0::ubigint as _place, null::varchar as _source, null::varchar as _key, 0::ubigint as _node, *"
                f" from ({empty_select(table)})"
            )
        return " union all ".join(parts)

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
def workbench(ledger: Path) -> Iterator[Workbench]:
    """Give an empty bench in the staging folder of a ledger."""
    with staging_folder(ledger) as scratch, engine_errors_of(ledger), engine(ledger) as connection:
        yield Workbench(scratch, connection)


@contextmanager
def engine_errors_of(ledger: Path) -> Iterator[None]:
    """Say what an error of the engines means for the ledger they read."""
    try:
        yield
    except (duckdb.InterruptException, RuntimeError) as error:
        if isinstance(error, duckdb.InterruptException) or str(error) == "Query interrupted":  # how DuckDB says Ctrl-C
            raise KeyboardInterrupt from error
        raise
    except duckdb.OutOfMemoryException as error:
        raise LedgerUnwritableError(ledger, f"there is not enough room to work in: {error}") from error
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        if "No space left" in str(error):
            raise LedgerUnwritableError(ledger, str(error)) from error
        raise LedgerDamagedError(ledger, f"a file of it cannot be read: {error}") from error


def write_rows(path: Path, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Path:
    """Write rows to a private file that need not outlast a power cut, and return its path."""
    file = NewFile(path)
    try:
        with RowGroupWriter(file, schema, Pace.FAST) as writer:
            for batch in batches:
                writer.write(batch)
    finally:
        file.close()
    return path


def scan(path: Path) -> str:
    """Return SQL that reads a Parquet file with the number of each row."""
    return f"read_parquet([{file_literal(path)}], hive_partitioning = false, file_row_number = true)"


def copy_rows(path: Path, rows: pa.Array, columns: Sequence[str], *, others: bool = False) -> Iterator[pa.Table]:
    """Go through the rows of a file that have these numbers, or all others; row groups that have none are not read."""
    with pq.ParquetFile(path) as file:
        start = 0
        for group in range(file.num_row_groups):
            count = file.metadata.row_group(group).num_rows
            inside = pc.and_(pc.greater_equal(rows, start), pc.less(rows, start + count))
            numbers = pc.subtract(rows.filter(inside), start)
            start += count
            if others:
                listed = pc.is_in(pa.array(range(count), pa.int64()), value_set=numbers)
                numbers = pc.indices_nonzero(pc.invert(listed))
            if len(numbers):
                content = file.read_row_group(group, columns=list(columns))
                yield content if len(numbers) == count else content.take(numbers)
