"""Rows of small groups of sources, kept until many can be written together."""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from aix.merge.row_batches import Delivery, check_marks, statement_name
from aix.pipeline.contract import Rows
from aix.pipeline.plan import source_name
from aix.pipeline.worker_messages import GroupRead, Order, Reading, explain, fail
from aix.schema import TABLES
from aix.schema.arrow import batch_from_columns
from aix.store.nodes import INFERRED_VALUES

_MOST_ROWS = 20_000
_MOST_CHARACTERS = 8_000_000

_SourcedBatch = tuple[str, list[str], pa.RecordBatch]
"""A table, the source of each row, and the rows."""


class GroupBuffer:
    """Rows of small groups that were read whole; many together are written much faster than each for itself."""

    def __init__(self, order: Order, rows: Delivery) -> None:
        self._order = order
        self._rows = rows
        self._groups: list[tuple[int, tuple[Reading, ...], list[Rows]]] = []
        self._row_count = self._characters = 0

    def put(self, number: int, readings: tuple[Reading, ...], pieces: list[Rows]) -> None:
        """Keep the rows of a group."""
        self._groups.append((number, readings, pieces))
        self._row_count += sum(sum(reading.rows.values()) for reading in readings)
        self._characters += sum(_characters(values) for piece in pieces for values in piece.columns.values())

    def is_full(self) -> bool:
        """Whether it is time to write what is kept."""
        return self._row_count >= _MOST_ROWS or self._characters >= _MOST_CHARACTERS

    def clear(self) -> Iterator[GroupRead]:
        """Write the rows of all groups that did not fail."""
        sound = [(readings, pieces) for _, readings, pieces in self._groups if not any(map(_failed, readings))]
        try:
            batches = self._batches([piece for _, pieces in sound for piece in pieces])
        except Exception:  # one of them is to blame, and only that one fails
            batches = [batch for readings, pieces in sound for batch in self._batches_or_failure(readings, pieces)]
        for table, sources, batch in batches:
            self._rows.add(sources, TABLES[table], batch)
        yield from (GroupRead(number, readings) for number, readings, _ in self._groups)
        self._groups = []
        self._row_count = self._characters = 0

    def _batches_or_failure(self, readings: Sequence[Reading], pieces: Sequence[Rows]) -> list[_SourcedBatch]:
        try:
            return self._batches(pieces)
        except Exception as error:  # whatever its rows do
            fail(readings, explain(error))
            return []

    def _batches(self, pieces: Sequence[Rows]) -> list[_SourcedBatch]:
        by_table: dict[str, list[Rows]] = {}
        for piece in pieces:
            by_table.setdefault(piece.table, []).append(piece)
        return [self._batch(table, alike) for table, alike in by_table.items()]

    def _batch(self, table: str, pieces: Sequence[Rows]) -> _SourcedBatch:
        columns: dict[str, list[object]] = {name: [] for name in set().union(*(piece.columns for piece in pieces))}
        sources: list[str] = []
        for piece in pieces:
            length = len(next(iter(piece.columns.values()), ()))
            sources.extend([statement_of(self._order, piece)] * length)
            for name, values in columns.items():
                values.extend(piece.columns.get(name, [None] * length))
        batch = batch_from_columns(TABLES[table], columns)
        if table == INFERRED_VALUES.name:
            check_marks(batch)
        return table, sources, batch


def _characters(values: Sequence[object]) -> int:
    return sum(len(value) for value in values if type(value) is str)


def statement_of(order: Order, rows: Rows) -> str:
    """Return what tells the statements of a source, and its copies, apart from others."""
    return statement_name(source_name(rows.source, order.machine), rows.copy)


def _failed(reading: Reading) -> bool:
    return bool(reading.failure)
