"""Deliveries: rows on their way into the ledger, kept in files until they are joined to what is there.

The files are streams of Arrow batches, which cost little to write and to read, and need not last.

Each row is a statement of one source. Which of its values were inferred stands in the delivery's rows of
`inferred_values` from the same source.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa

from aix.errors import RowError
from aix.schema import TABLES, Join, Table
from aix.schema.arrow import arrow_schema, check_batch
from aix.store.durable import NewFile, make_folder, writing_to
from aix.store.nodes import INFERRED_VALUES

SOURCE_COLUMN = "_source"

_STATEMENT_MARK = "#"

Files = Mapping[str, Path]
"""By table that has rows: the file of a delivery."""


class Delivery:
    """Rows of any tables from any number of sources, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open = ExitStack()
        self._writers: dict[str, pa.RecordBatchStreamWriter] = {}

    def __enter__(self) -> Self:
        """Add rows within a block, at the end of which the files are whole."""
        with writing_to(self._folder):
            make_folder(self._folder)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Finish the files."""
        with writing_to(self._folder):
            self._open.__exit__(kind, error, trace)

    def add(self, source: str | Sequence[str], table: Table, batch: pa.RecordBatch) -> None:
        """Add rows that a source gave, or each row with a source of its own."""
        check_batch(table, batch)
        if table is INFERRED_VALUES:
            check_marks(batch)
        if table.name not in self._writers:
            with writing_to(self._folder):
                self._writers[table.name] = self._new_writer(table)
        is_one = isinstance(source, str)
        sources = pa.repeat(pa.scalar(source), batch.num_rows) if is_one else pa.array(source, pa.string())
        with writing_to(self._folder):
            self._writers[table.name].write_batch(
                pa.RecordBatch.from_arrays([*batch.columns, sources], schema=delivery_schema(table))
            )

    def files(self) -> Files:
        """Return the file of each table that rows were added to."""
        return {name: self._path(name) for name in self._writers}

    def _new_writer(self, table: Table) -> pa.RecordBatchStreamWriter:
        file = NewFile(self._path(table.name))
        self._open.callback(file.close)
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        return self._open.enter_context(pa.ipc.new_stream(file, delivery_schema(table), options=options))

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.arrows"


def statement_name(source: str, part: object) -> str:
    """Return what tells one of several statements of a source apart from the others.

    >>> source_of(statement_name("/logs/a#1.jsonl", 2))
    '/logs/a#1.jsonl'
    """
    return f"{source}{_STATEMENT_MARK}{part}"


def source_of(statement: str) -> str:
    """Return whose statement it is."""
    return statement.rpartition(_STATEMENT_MARK)[0]


def delivery_schema(table: Table) -> pa.Schema:
    """Return the table's schema with the column that names the source of a row."""
    return arrow_schema(table).append(pa.field(SOURCE_COLUMN, pa.string()))


def check_marks(batch: pa.RecordBatch) -> None:
    """Raise `RowError` for marks that say nothing.

    Only a value that is joined by itself can be marked: not a key, a derived one, or a row of a set.
    """
    marks = set(zip(*(batch.column(name).to_pylist() for name in ("table_name", "column_name")), strict=True))
    refused = [
        f"{name}.{column} cannot be inferred" for name, column in sorted(marks) if not _can_be_marked(name, column)
    ]
    if refused:
        raise RowError(INFERRED_VALUES.name, tuple(refused))


def _can_be_marked(name: str, column_name: str) -> bool:
    table = TABLES.get(name)
    if table is None or column_name not in table.column_names:
        return False
    return table.column(column_name).join not in (Join.KEY, Join.DERIVED, Join.SET)
