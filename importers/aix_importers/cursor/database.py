"""SQLite files of a program that may be running: read, and never written, locked for long, or believed.

SQLite itself writes beside a file that it only reads: it makes the index of a write-ahead log, and leaves it there. How
a file is opened therefore depends on what lies beside it.
"""

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from aix_importers.cursor.connections import PYTHON_ERRORS, as_sqlite_error, connect
from aix_importers.cursor.copies import copied, has_copy, state_of
from aix_importers.cursor.default_paths import DATABASE_MAGIC
from aix_importers.cursor.write_ahead_logs import log_damage

_READ_VERSION_AT, _READ_VERSION_OF_LOGS = 19, 2

_READ_ONLY = "mode=ro"
_BESIDE_A_WRITER = "mode=ro&readonly_shm=1"
_AT_REST = "mode=ro&immutable=1"

_WORK_STEP = 1_000_000
"""Instructions of SQLite's machine."""
_MOST_WORK = 500

Value = bytes | int | float | None
Row = Sequence[Value]


class Database:
    """A database that is open for reading; texts come as bytes."""

    def __init__(self, path: str, stack: ExitStack) -> None:
        self._path = path
        self._stack = stack
        self._state_at_rest: str | None = None
        self._work = 0
        self._most_work = _MOST_WORK
        state, way = state_of(path), _way_into(path)
        if way is None or has_copy(path):
            self._open_copy()
            return
        try:
            self.connection, self.schema_error = connect(path, way)
        except sqlite3.OperationalError:  # locked, or left in the middle of a write
            self._open_copy()
            return
        stack.enter_context(closing(self.connection))
        self.connection.set_progress_handler(self._is_too_much, _WORK_STEP)
        if way == _AT_REST:
            self._state_at_rest = state

    def _open_copy(self) -> None:
        self.connection, self.schema_error = self._stack.enter_context(copied(self._path))
        self.connection.set_progress_handler(self._is_too_much, _WORK_STEP)

    def _is_too_much(self) -> bool:
        """Whether a query is to be broken off: a view may be made so that it never ends."""
        self._work += 1
        return self._work > self._most_work

    @property
    def log_error(self) -> str | None:
        """Sentence about what is wrong with the database's log of writes."""
        return log_damage(self._path, state_of(self._path))

    @property
    def size_bytes(self) -> int:
        """How large the file is, without its log."""
        return _size(self._path) or 0

    def rows(
        self, sql: str, given: Sequence[object] | Mapping[str, object] = (), *, most_work: int | None = None
    ) -> list[Any]:
        """Return the rows of a query; they are read again, from a copy, if somebody wrote meanwhile.

        `most_work` bounds the work, in millions of SQLite's instructions, where it is to be less than for others.
        """
        self._most_work = most_work or _MOST_WORK
        try:
            found = self._ask(sql, given)
        except sqlite3.DatabaseError:
            if not self._has_been_written():
                raise
        else:
            if not self._has_been_written():
                return found
        self._state_at_rest = None
        self._open_copy()
        return self._ask(sql, given)

    def columns(self, sql: str) -> list[str]:
        """Return the names of the columns of a query, as printable text."""
        self._work = 0
        try:
            described = self.connection.execute(sql).description
        except PYTHON_ERRORS as error:
            raise as_sqlite_error(error) from error
        return ["".join(each if each.isprintable() else " " for each in name) for name, *_ in described]

    def _ask(self, sql: str, given: Sequence[object] | Mapping[str, object]) -> list[Any]:
        self._work = 0
        try:
            return self.connection.execute(sql, given).fetchall()
        except PYTHON_ERRORS as error:
            raise as_sqlite_error(error) from error

    def _has_been_written(self) -> bool:
        return self._state_at_rest not in (None, state_of(self._path))


@contextmanager
def opened(path: str) -> Iterator[Database]:
    """Open a database for reading.

    Raises:
        sqlite3.Error: The file is not a database, or it is damaged from the start.
    """
    with ExitStack() as stack:
        yield Database(path, stack)


def _way_into(path: str) -> str | None:
    """Return how SQLite reads a file without writing beside it; nothing where only a copy can be read so."""
    log, index = _size(f"{path}-wal"), _size(f"{path}-shm")
    if log is None and not _keeps_a_log(path):
        return _READ_ONLY
    if not _size(path):
        return _AT_REST  # SQLite would remove the log of an empty file
    if log is not None and index is not None:
        return _BESIDE_A_WRITER
    # `immutable` hides a log, and what is written meanwhile: it is only for files that have no log with content, and
    # `Database` looks after each query whether it still holds.
    return None if log else _AT_REST


def _size(path: str) -> int | None:
    try:
        return os.stat(path).st_size  # noqa: PTH116 # faster
    except OSError:
        return None


def _keeps_a_log(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            head = file.read(_READ_VERSION_AT + 1)
    except OSError:
        return False
    return head.startswith(DATABASE_MAGIC) and head[_READ_VERSION_AT:] == bytes([_READ_VERSION_OF_LOGS])


def table_kinds(database: Database) -> dict[str, str]:
    """Return by name whether it is that of a table or of a view."""
    rows = database.rows("select name, type from sqlite_master where type in ('table', 'view')")
    return {os.fsdecode(name): kind.decode() for name, kind in rows if isinstance(name, bytes)}


def table_names(database: Database) -> set[str]:
    """Return the names of the tables."""
    return {name for name, kind in table_kinds(database).items() if kind == "table"}


def as_bytes(value: object) -> bytes | None:
    """Return a value as the bytes of its text; NULL for a value that is not a text, blob or number."""
    match value:
        case bytes():
            return value
        case str():
            return value.encode("utf-8", "surrogatepass")
        case int() | float():
            return str(value).encode()
        case _:
            return None
