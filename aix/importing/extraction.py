"""Reading sources: what a worker process does.

An order names some groups of sources. Rows of a small group wait in memory until all of it is read, so that a group
that fails leaves nothing behind; a large group has an order, and so a delivery, of its own.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pyarrow as pa

from aix.errors import AixError
from aix.importing.contract import Importer, Problem, Rows, Source, content_hash
from aix.importing.plan import source_name, stamps_of
from aix.importing.registry import load_importer
from aix.ledger.delivery import Delivery, Files, check_marks
from aix.ledger.nodes import INFERRED_VALUES
from aix.ledger.raw import keep_raw
from aix.schema import TABLES
from aix.schema.checks import batch_from_columns, repaired

_MOST_PROBLEMS_AT_ONCE = 1_000
_MOST_ROWS_ON_SHELF = 20_000
_MOST_CHARACTERS_ON_SHELF = 32_000_000
_SAMPLE_CHARACTERS = 200
_REASON_CHARACTERS = 1_000
_LABELS = {"sessions": "label", "session_turns": "session_label"}
"""Where rows say which session they are of."""

_SourcedBatch = tuple[str, list[str], pa.RecordBatch]
"""A table, the source of each row, and the rows."""


@dataclass(frozen=True)
class Group:
    """Sources that are read together, and who reads them."""

    importer: str
    options: Mapping[str, str]
    sources: tuple[Source, ...]
    size_bytes: int


@dataclass(frozen=True)
class Order:
    """What a worker is to do."""

    groups: tuple[Group, ...]
    folder: Path
    """Where rows are put: it does not exist yet."""
    ledger: Path
    run_id: str
    machine: str | None = None
    strict: bool = False
    keep_raw: bool = False


@dataclass(frozen=True)
class Began:
    """A worker has begun to read a group."""

    number: int


@dataclass
class Reading:
    """What became of reading one source."""

    source: Source
    stamps: tuple[str, ...] = ()
    content: str = ""
    """Hash of what was read; empty when it changed meanwhile."""
    main_hash: str | None = None
    """Hash of the main file."""
    rows: Counter[str] = field(default_factory=Counter)
    labels: list[str] = field(default_factory=list)
    problems: int = 0
    failure: str = ""


@dataclass(frozen=True)
class GroupRead:
    """A worker has read a group, or failed to."""

    number: int
    readings: tuple[Reading, ...]


@dataclass(frozen=True)
class Delivered:
    """A worker has done what it was told, and this is where the rows are."""

    rows: Files
    problems: Files


def carry_out(order: Order) -> Iterator[Began | GroupRead | Delivered]:
    """Read the groups of an order one after the other."""
    with _delivery(order.folder) as rows, _delivery(order.folder.with_name(order.folder.name + "-problems")) as notes:
        shelf = _Shelf(order, rows)
        is_alone = len(order.groups) == 1
        leaves_rows = True
        for number, group in enumerate(order.groups):
            yield Began(number)
            readings, pieces = _read_group(order, group, notes, rows if is_alone else None)
            if is_alone:
                leaves_rows = not any(reading.failure for reading in readings)
                yield GroupRead(number, readings)
            else:
                shelf.put(number, readings, pieces)
                if shelf.is_full():
                    yield from shelf.clear()
        yield from shelf.clear()
    yield Delivered(rows.files() if leaves_rows else {}, notes.files())


def _delivery(folder: Path) -> Delivery:
    folder.mkdir(mode=0o700)
    return Delivery(folder)


def _read_group(
    order: Order, group: Group, notes: Delivery, straight_to: Delivery | None
) -> tuple[tuple[Reading, ...], list[Rows]]:
    """Read a group; its rows are returned, or go straight into a delivery."""
    readings = {source: Reading(source) for source in group.sources}
    problems = _Problems(order, notes)
    held: list[Rows] = []
    try:
        importer = _importer(group.importer, tuple(sorted(group.options.items())))
        for reading in readings.values():
            _take_fingerprint(order, importer, reading)
        for piece in importer.extract(group.sources):
            reading = _reading_of(readings, piece)
            if isinstance(piece, Problem):
                problems.add(piece)
                reading.problems += 1
                continue
            _count(piece, reading)
            if straight_to is None:
                held.append(piece)
            else:
                table = TABLES[piece.table]
                straight_to.add(_statement_of(order, piece), table, batch_from_columns(table, piece.columns))
        for reading in readings.values():
            _compare_fingerprint(reading)
    except Exception as error:  # whatever an importer raises: one bad source never stops the batch
        _fail(readings.values(), _explain(error))
    if order.strict and any(reading.problems for reading in readings.values()):
        _fail(readings.values(), "it has problems, and --strict allows none")
    problems.flush()
    return tuple(readings.values()), held


class _Shelf:
    """Rows of small groups that were read whole; many together are written much faster than each for itself."""

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
        return self._row_count >= _MOST_ROWS_ON_SHELF or self._characters >= _MOST_CHARACTERS_ON_SHELF

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
            _fail(readings, _explain(error))
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


def _characters(values: Sequence[object]) -> int:
    return sum(len(value) for value in values if type(value) is str)


def _statement_of(order: Order, rows: Rows) -> str:
    return f"{source_name(rows.source, order.machine)}#{rows.copy}"


def _failed(reading: Reading) -> bool:
    return bool(reading.failure)


def _reading_of(readings: Mapping[Source, Reading], piece: Rows | Problem) -> Reading:
    try:
        return readings[piece.source]
    except KeyError:
        raise ValueError(f"it gave rows of {piece.source.name}, which it was not asked for") from None


def _take_fingerprint(order: Order, importer: Importer, reading: Reading) -> None:
    source = reading.source
    reading.stamps = stamps_of(source, {})
    reading.content = importer.fingerprint(source)
    if type(reading.content) is not str:
        raise TypeError(f"its fingerprint is {reading.content!r}, which is no text")
    if not source.key:
        is_content = not source.sidecars and type(importer).fingerprint is Importer.fingerprint
        reading.main_hash = reading.content if is_content else content_hash((source.path,))
        if order.keep_raw and keep_raw(order.ledger, Path(source.path)) != reading.main_hash:
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


def _fail(readings: Iterable[Reading], reason: str) -> None:
    for reading in readings:
        reading.failure = repaired(reason)[:_REASON_CHARACTERS]
        reading.rows.clear()
        reading.labels.clear()


def _explain(error: Exception) -> str:
    if isinstance(error, AixError):
        return str(error)
    if isinstance(error, FileNotFoundError):
        return f"{error.filename or 'a file of it'} has vanished"
    if isinstance(error, OSError):
        return f"{error.filename or 'a file of it'} cannot be read: {error.strerror or error}"
    return f"the importer failed: {type(error).__name__}: {error}"


@cache
def _importer(name: str, options: tuple[tuple[str, str], ...]) -> Importer:
    return load_importer(name, dict(options))


class _Problems:
    """Problems on their way into the ledger, numbered by source."""

    def __init__(self, order: Order, notes: Delivery) -> None:
        self._order = order
        self._notes = notes
        self._held: list[Problem] = []
        self._numbers: Counter[str] = Counter()

    def add(self, problem: Problem) -> None:
        _check(problem)
        self._held.append(problem)
        if len(self._held) >= _MOST_PROBLEMS_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        if not self._held:
            return
        columns = problem_columns(self._order.run_id, self._order.machine, self._held, self._numbers)
        table = TABLES["import_problems"]
        self._notes.add("run", table, batch_from_columns(table, columns))
        self._held.clear()


def _check(problem: Problem) -> None:
    texts = (problem.kind, problem.reason, problem.sample or "")
    numbers = (problem.line or 0, problem.byte_offset or 0)
    if not all(type(text) is str for text in texts) or not all(type(n) is int and 0 <= n < 2**63 for n in numbers):
        raise TypeError(f"it gave a problem that is none: {problem!r}")


def problem_columns(
    run_id: str, machine: str | None, problems: Sequence[Problem], numbers: Counter[str]
) -> dict[str, list[object]]:
    """Return problems as columns of `import_problems`; `numbers` counts those of each source."""
    columns: dict[str, list[object]] = {name: [] for name in TABLES["import_problems"].column_names}
    for problem in problems:
        name = source_name(problem.source, machine)
        row = {
            "run_id": run_id,
            "source_key": name,
            "seq": numbers[name],
            "line": problem.line,
            "byte_offset": problem.byte_offset,
            "kind": problem.kind,
            "reason": problem.reason,
            "sample": problem.sample and problem.sample[:_SAMPLE_CHARACTERS],
        }
        numbers[name] += 1
        for column, value in row.items():
            columns[column].append(value)
    return columns
