"""Reading sources: what a worker process does.

An order names some groups of sources. Rows of a small group wait in memory until all of it is read, so that a group
that fails leaves nothing behind, and are written together with those of others, which is much faster than each for
itself; a large group has an order, and so a delivery, of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import pyarrow as pa

from aix.merge.row_batches import Delivery, Files, check_marks, statement_name
from aix.pipeline.contract import Importer, Problem, Rows, Source, Ties, combined_hash, hash_file
from aix.pipeline.import_log import ProblemNotes
from aix.pipeline.plan import source_name, stamps_of
from aix.pipeline.registry import load_importer
from aix.pipeline.ties import TieNumbers
from aix.pipeline.worker_messages import Began, Delivered, Group, GroupRead, Order, Reading, explain, fail
from aix.schema import TABLES
from aix.schema.arrow import batch_from_columns, repaired
from aix.store.nodes import INFERRED_VALUES
from aix.store.raw_copies import keep_raw

_MOST_ROWS = 20_000
_MOST_CHARACTERS = 8_000_000
_SourcedBatch = tuple[str, list[str], pa.RecordBatch]
"""A table, the source of each row, and the rows."""
_LABELS = {"sessions": "label", "session_turns": "session_label"}
"""Where rows say which session they are of."""


class _GroupBuffer:
    """Rows of small groups that were read whole, kept until many can be written together."""

    def __init__(self, order: Order, rows: Delivery) -> None:
        self._order = order
        self._rows = rows
        self._groups: list[tuple[int, tuple[Reading, ...], list[Rows]]] = []
        self._row_count = self._characters = 0

    def put(self, number: int, readings: tuple[Reading, ...], pieces: list[Rows]) -> None:
        self._groups.append((number, readings, pieces))
        self._row_count += sum(sum(reading.rows.values()) for reading in readings)
        self._characters += sum(_characters(values) for piece in pieces for values in piece.columns.values())

    def is_full(self) -> bool:
        return self._row_count >= _MOST_ROWS or self._characters >= _MOST_CHARACTERS

    def clear(self) -> Iterator[GroupRead]:
        """Write the rows of all groups that did not fail."""
        sound = [
            (readings, pieces)
            for _, readings, pieces in self._groups
            if not any(reading.failure for reading in readings)
        ]
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
            sources.extend([_statement_of(self._order, piece)] * length)
            for name, values in columns.items():
                values.extend(piece.columns.get(name, [None] * length))
        batch = batch_from_columns(TABLES[table], columns)
        if table == INFERRED_VALUES.name:
            check_marks(batch)
        return table, sources, batch


class _Parts:
    """The deliveries of a group that is read alone, one for each part of its rows."""

    def __init__(self, folder: Path, first: Delivery) -> None:
        self._folder = folder
        self._number = 0
        self._current = first
        self._later: list[Delivery] = []

    def delivery(self, part: int) -> Delivery:
        """Return the delivery of a part; the one before it is finished."""
        if part > self._number:
            self.close()
            self._number = part
            self._current = Delivery(self._folder.with_name(f"{self._folder.name}-part-{part}")).__enter__()
            self._later.append(self._current)
        return self._current

    def close(self) -> None:
        """Finish the last of the later deliveries."""
        if self._later:
            self._current.__exit__(None, None, None)

    def files(self) -> tuple[Files, ...]:
        """Return the files of the deliveries behind the first."""
        return tuple(delivery.files() for delivery in self._later)


def _characters(values: Sequence[object]) -> int:
    return sum(len(value) for value in values if type(value) is str)


def _statement_of(order: Order, rows: Rows) -> str:
    """Return what tells the statements of a source, and its copies, apart from others."""
    return statement_name(source_name(rows.source, order.machine), rows.copy)


def carry_out(order: Order) -> Iterator[Began | GroupRead | Delivered]:
    """Read the groups of an order one after the other."""
    with Delivery(order.folder) as rows, Delivery(order.folder.with_name(f"{order.folder.name}-problems")) as notes:
        parts = _Parts(order.folder, rows)
        buffer = _GroupBuffer(order, rows)
        is_alone = len(order.groups) == 1
        leaves_rows = True
        for number, group in enumerate(order.groups):
            yield Began(number)
            readings, pieces = _read_group(order, group, notes, parts if is_alone else None)
            if is_alone:
                leaves_rows = not any(reading.failure for reading in readings)
                yield GroupRead(number, readings)
            else:
                buffer.put(number, readings, pieces)
                if buffer.is_full():
                    yield from buffer.clear()
        yield from buffer.clear()
        parts.close()
    yield Delivered(rows.files(), notes.files(), parts.files()) if leaves_rows else Delivered({}, notes.files())


def _read_group(
    order: Order, group: Group, notes: Delivery, straight_to: _Parts | None
) -> tuple[tuple[Reading, ...], list[Rows]]:
    """Read a group; its rows are returned, or go straight into a delivery."""
    readings = {source: Reading(source) for source in group.sources}
    problems = ProblemNotes(order, notes)
    ties = TieNumbers(group.importer, order.machine)
    held: list[Rows] = []
    try:
        importer = _importer(group.importer, tuple(sorted(group.options.items())))
        for reading, known_bytes in zip(readings.values(), group.known_bytes, strict=True):
            _take_fingerprint(order, importer, reading, known_bytes)
        for piece in importer.extract(group.sources):
            reading = _reading_of(readings, piece)
            if isinstance(piece, Problem):
                problems.add(piece)
                reading.problems += 1
                reading.notes += piece.kind in importer.notes
                reading.unread = piece.reason if piece.is_of_whole_source else reading.unread
                continue
            if isinstance(piece, Ties):
                ties.add(piece)
                continue
            _count(piece, reading)
            if straight_to is None:
                held.append(piece)
            else:
                table = TABLES[piece.table]
                delivery = straight_to.delivery(piece.part)
                delivery.add(_statement_of(order, piece), table, batch_from_columns(table, piece.columns))
        for reading in readings.values():
            _compare_fingerprint(reading)
            reading.ties = ties.of(reading.source)
    except (Exception, SystemExit) as error:  # whatever an importer raises: one bad source never stops the batch
        fail(readings.values(), explain(error))
    if order.strict and any(reading.problems for reading in readings.values()):
        fail(readings.values(), "it has problems, and --strict allows none")
    problems.flush()
    return tuple(readings.values()), held


def _reading_of(readings: Mapping[Source, Reading], piece: Rows | Problem | Ties) -> Reading:
    try:
        return readings[piece.source]
    except KeyError:
        raise ValueError(f"it gave rows of {piece.source.name}, which it was not asked for") from None


def _take_fingerprint(order: Order, importer: Importer, reading: Reading, known_bytes: int) -> None:
    source = reading.source
    reading.stamps = stamps_of(source, {})
    if source.key:
        reading.content = importer.fingerprint(source)
    else:
        main = hash_file(source.path, known_bytes)
        reading.main_hash, reading.size_bytes, reading.head_hash = main.whole, main.size_bytes, main.head
        if type(importer).fingerprint is Importer.fingerprint and not source.stamp:
            # What it would be, without reading the main file once more.
            reading.content = combined_hash([main.whole, *(hash_file(path).whole for path in source.sidecars)])
        else:
            reading.content = importer.fingerprint(source)
    if type(reading.content) is not str:
        raise TypeError(f"its fingerprint is {reading.content!r}, which is no text")
    is_kept = order.keep_raw and not source.key and not source.may_hold_secrets
    if is_kept and keep_raw(order.ledger, Path(source.path)) != reading.main_hash:
        reading.content = ""


def _compare_fingerprint(reading: Reading) -> None:
    """Forget the hash of what has changed while it was read: it may not be what the rows are from."""
    try:
        is_as_it_was = stamps_of(reading.source, {}) == reading.stamps
    except OSError:  # it is gone, but what was read of it is not
        is_as_it_was = False
    if not is_as_it_was:
        reading.content = ""


def _count(rows: Rows, reading: Reading) -> None:
    if rows.table not in TABLES:
        raise ValueError(f"there is no table {rows.table}")
    lengths = {len(values) for values in rows.columns.values()}
    if len(lengths) != 1:
        raise ValueError(f"the columns of {rows.table} differ in length, or there are none")
    reading.rows[rows.table] += lengths.pop()
    label = _LABELS.get(rows.table)
    if label:
        reading.labels.extend(repaired(str(value)) for value in rows.columns.get(label, ()))


@cache
def _importer(name: str, options: tuple[tuple[str, str], ...]) -> Importer:
    return load_importer(name, dict(options))
