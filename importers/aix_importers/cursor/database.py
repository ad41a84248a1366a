"""SQLite files of a program that may be running: read, and never written, locked for long, or believed.

SQLite itself writes beside a file that it only reads: it makes the index of a write-ahead log, and leaves it there. How
a file is opened therefore depends on what lies beside it.
"""

import os
import shutil
import sqlite3
import struct
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from aix_importers.cursor.paths import DATABASE_MAGIC

_WAIT_SECONDS = 2.0
_CACHE_KIB = 4_096
_LARGEST_VALUE = 512 * 2**20
_LONGEST_MESSAGE = 200
_CAN_REMOVE_OPEN_FILES = os.name == "posix"
_MOST_UNUSED = 2 if _CAN_REMOVE_OPEN_FILES else 0
_MOST_TRIES = 3
_READ_VERSION_AT, _READ_VERSION_OF_LOGS = 19, 2
_READ_ONLY = "mode=ro"
_BESIDE_A_WRITER = "mode=ro&readonly_shm=1"
_AT_REST = "mode=ro&immutable=1"
_WORK_STEP = 1_000_000
"""Instructions of SQLite's machine."""
_MOST_WORK = 500
_MAGICS = {0x377F0682: "<", 0x377F0683: ">"}
"""With the order of bytes of the words that checksums are made of."""
_HEADER = struct.Struct(">IIIIIIII")
_FRAME = struct.Struct(">IIIIII")
_MOST_SUMMED = 4 * 2**20
"""Checksums of a longer log are not looked at: a program that runs keeps its log shorter."""
_WORD = 2**32 - 1

PYTHON_ERRORS = (UnicodeError, OverflowError, MemoryError, sqlite3.InterfaceError, sqlite3.Warning)
"""Errors that Python's module raises about a damaged file in place of `sqlite3.DatabaseError`.

A message of SQLite that quotes bytes of the file which are not UTF-8 becomes a UnicodeDecodeError.
"""


class Database:
    """A database that is open for reading; texts come as bytes."""

    def __init__(self, path: str, stack: ExitStack) -> None:
        self._path = path
        self._stack = stack
        self._state_at_rest: str | None = None
        self._work = 0
        self._most_work = _MOST_WORK
        state, way = state_of(path), _way_into(path)
        if way is not None and (path, state) not in _COPIES:
            with suppress(sqlite3.OperationalError):  # locked, or left in the middle of a write
                self._use(*_connect(path, way))
                stack.enter_context(closing(self.connection))
                self._state_at_rest = state if way == _AT_REST else None
                return
        self._open_copy()

    def _use(self, connection: sqlite3.Connection, schema_error: str | None) -> None:
        self.connection, self.schema_error = connection, schema_error
        connection.set_progress_handler(self._is_too_much, _WORK_STEP)

    def _open_copy(self) -> None:
        self._use(*self._stack.enter_context(_copied(self._path)))

    def _is_too_much(self) -> bool:
        """Whether a query is to be broken off: a view may be made so that it never ends."""
        self._work += 1
        return self._work > self._most_work

    @property
    def log_error(self) -> str | None:
        """Sentence about what is wrong with the database's log of writes."""
        return _log_damage(self._path, state_of(self._path))

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


def error_text(error: BaseException) -> str:
    """Return the message of an error about a database as one line of printable text."""
    if isinstance(error, UnicodeDecodeError):  # `object` is SQLite's message
        written = bytes(error.object).decode("utf-8", "backslashreplace")
    else:
        written = str(error) or type(error).__name__
    return "".join(each if each.isprintable() else " " for each in written)[:_LONGEST_MESSAGE]


def as_sqlite_error(error: BaseException) -> sqlite3.DatabaseError:
    """Return an error of Python's module as one of SQLite."""
    return sqlite3.DatabaseError(error_text(error))


def state_of(path: str) -> str:
    """Return a mark that shows whether a database, with its log of writes, has changed."""
    return f"{_state(path)}|{_state(f'{path}-wal')}"


def _state(path: str) -> str:
    try:
        state = os.stat(path)  # noqa: PTH116 # asked for after every query, where `Path` takes longer than the system
    except OSError:
        return ""
    return f"{state.st_size}:{state.st_mtime_ns}:{state.st_ino}"


def _size(path: str) -> int | None:
    try:
        return os.stat(path).st_size  # noqa: PTH116 # faster
    except OSError:
        return None


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


def _keeps_a_log(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            head = file.read(_READ_VERSION_AT + 1)
    except OSError:
        return False
    return head.startswith(DATABASE_MAGIC) and head[_READ_VERSION_AT:] == bytes([_READ_VERSION_OF_LOGS])


def _connect(path: str, way: str, *, is_private: bool = False) -> tuple[sqlite3.Connection, str | None]:
    """Open a file, with parameters of SQLite's addresses, as one that others use or as one that nobody else knows.

    Returns the connection, and an error in the schema if there is one: tables whose definition is intact can be read.

    Raises:
        sqlite3.Error: It is no database, or somebody holds it locked.
    """
    address = f"file:{quote(os.fsencode(path))}?{way}"
    connection = sqlite3.connect(
        address, uri=True, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        connection.text_factory = bytes
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_VALUE)
        if is_private:  # the index of its log is then kept in memory
            connection.execute("pragma locking_mode = exclusive")
        connection.execute("pragma trusted_schema = off")
        schema_error = _schema_error(connection)
        connection.execute("pragma mmap_size = 0")
        connection.execute(f"pragma cache_size = -{_CACHE_KIB}")
    except sqlite3.Error:
        connection.close()
        raise
    except PYTHON_ERRORS as error:
        connection.close()
        raise as_sqlite_error(error) from error
    return connection, schema_error


def _schema_error(connection: sqlite3.Connection) -> str | None:
    """Read the schema; if SQLite refuses a definition in it, let it go on without that one."""
    check = "select 1 from sqlite_master limit 1"
    try:
        connection.execute(check).fetchall()
    except (sqlite3.DatabaseError, UnicodeError) as error:
        if isinstance(error, sqlite3.OperationalError):  # locked, or not to be opened
            raise
        connection.execute("pragma writable_schema = on")  # skips definitions that cannot be parsed
        connection.execute(check).fetchall()
        return error_text(error)
    return None


class _Copy:
    """A database copied with its log, since it cannot be read where it lies.

    A copy holds what the database holds, also the user's tokens: it lies in a folder that only the user may enter. The
    folder is removed as soon as the copy is open, which the system allows except on Windows: from then on nothing is
    left behind however the process ends, and the conversations of one database are read of one copy.
    """

    def __init__(self, path: str) -> None:
        self.users = 0
        self._folder = tempfile.TemporaryDirectory(prefix="aix-copy-", ignore_cleanup_errors=True)
        try:
            target = str(Path(self._folder.name) / "copy.db")
            _copy_files(path, target)
            self.connection, self.schema_error = _connect(target, "mode=rw", is_private=True)
        except BaseException:
            self._folder.cleanup()
            raise
        if _CAN_REMOVE_OPEN_FILES:
            self._folder.cleanup()

    def close(self) -> None:
        self.connection.close()
        self._folder.cleanup()


_COPIES: dict[tuple[str, str], _Copy] = {}
"""By path and state."""


@contextmanager
def _copied(path: str) -> Iterator[tuple[sqlite3.Connection, str | None]]:
    """Open a copy of a database; give the connection, and an error in the schema if there is one.

    Raises:
        sqlite3.Error: It cannot be copied, or is no database.
    """
    key = path, state_of(path)
    copy = _COPIES.get(key)
    if copy is None:
        copy = _COPIES[key] = _Copy(path)
    copy.users += 1
    try:
        yield copy.connection, copy.schema_error
    finally:
        copy.users -= 1
        _close_unused()


def _close_unused() -> None:
    unused = [key for key, copy in _COPIES.items() if not copy.users]
    for key in unused[: max(0, len(unused) - _MOST_UNUSED)]:
        _COPIES.pop(key).close()


def _copy_files(path: str, target: str) -> None:
    """Copy a database with its log, again if somebody wrote meanwhile."""
    try:
        for _ in range(_MOST_TRIES):
            state = state_of(path)
            for suffix in ("", "-wal", "-journal"):
                Path(target + suffix).unlink(missing_ok=True)
                if Path(path + suffix).exists():
                    shutil.copyfile(path + suffix, target + suffix)
            if state == state_of(path):
                return
    except OSError as error:
        message = f"it cannot be copied: {error.strerror}"
        raise sqlite3.OperationalError(message) from error


@lru_cache(maxsize=16)
def _log_damage(path: str, state: str) -> str | None:  # noqa: ARG001
    """Return a sentence about what is wrong with the log of a database; nothing where the log is whole or missing.

    SQLite reads a log up to the first frame whose checksum is wrong, and says nothing about those behind it: after a
    crash that is the right thing to do, after damage it loses what was written.
    """
    try:
        with Path(f"{path}-wal").open("rb") as file:
            log = file.read(_MOST_SUMMED)
    except OSError:
        return None
    if not log.strip(b"\0"):
        return None
    if len(log) < _HEADER.size:
        return "The log of writes is cut: what only it held is lost."
    magic, _, page_size, _, salt, other_salt, first, second = _HEADER.unpack_from(log)
    sums = _sums(log[:24], _MAGICS.get(magic, ">"), (0, 0))
    if magic not in _MAGICS or sums != (first, second) or not 512 <= page_size <= 65_536:
        return "The log of writes is damaged at its beginning: what only it held is lost."
    length = _FRAME.size + page_size
    lost, is_damaged = 0, False
    for at in range(_HEADER.size, len(log) - length + 1, length):
        _, commit, *salts, first, second = _FRAME.unpack_from(log, at)
        if salts != [salt, other_salt]:
            break  # of an earlier log, which has been written into the database
        if not is_damaged:
            sums = _sums(log[at : at + 8], _MAGICS[magic], sums)
            sums = _sums(log[at + _FRAME.size : at + length], _MAGICS[magic], sums)
            is_damaged = sums != (first, second)
        lost += is_damaged and commit > 0
    return f"The log of writes is damaged: {lost} transactions that only it held are lost." if lost else None


def _sums(data: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    first, second = sums
    for even, odd in struct.iter_unpack(f"{order}II", data):
        first = (first + even + second) & _WORD
        second = (second + odd + first) & _WORD
    return first, second
