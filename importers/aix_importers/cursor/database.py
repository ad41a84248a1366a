"""SQLite files of a program that may be running: read, and never written, locked for long, or believed.

A file is opened read-only with its write-ahead log. Where that is refused, a copy is read instead.
"""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

MAGIC = b"SQLite format 3\0"
_WAIT_SECONDS = 2.0
_CACHE_KIB = 4_096

Value = bytes | int | float | None
Row = Sequence[Value]


@contextmanager
def opened(path: str) -> Iterator[sqlite3.Connection]:
    """Open a database for reading; texts come as bytes.

    Raises:
        sqlite3.Error: It is none, or it is damaged from the start.
    """
    copy = _COPIES.get((path, state_of(path)))
    try:
        connection = _connect(path, "ro") if copy is None else _connect(copy.path, "rw")
    except sqlite3.OperationalError:  # locked, or in a folder where SQLite may not put what it needs to share a log
        connection = _connect(_copy_of(path), "rw")
    with closing(connection):
        yield connection


def _connect(path: str, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(path)}?mode={mode}", uri=True, timeout=_WAIT_SECONDS, isolation_level=None
    )
    try:
        connection.text_factory = bytes
        connection.execute("pragma mmap_size = 0")
        connection.execute(f"pragma cache_size = -{_CACHE_KIB}")
        connection.execute("select 1 from sqlite_master limit 1").fetchall()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def state_of(path: str) -> str:
    """Return what tells whether a database, with its log of writes, is as it was."""
    return "|".join(map(_state, (path, f"{path}-wal")))


def _state(path: str) -> str:
    try:
        state = Path(path).stat()
    except OSError:
        return ""
    return f"{state.st_size}:{state.st_mtime_ns}:{state.st_ino}"


class _Copy:
    """A database copied with its log, until nobody needs it."""

    def __init__(self, path: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="aix-copy-", ignore_cleanup_errors=True)
        self.path = str(Path(self._folder.name) / "copy.db")
        for suffix in ("", "-wal", "-journal"):
            if Path(path + suffix).exists():
                shutil.copyfile(path + suffix, self.path + suffix)


_COPIES: dict[tuple[str, str], _Copy] = {}
"""By path and state: one conversation after the other is read of one file."""
_MOST_COPIES = 2


def _copy_of(path: str) -> str:
    while len(_COPIES) >= _MOST_COPIES:
        del _COPIES[next(iter(_COPIES))]
    copy = _COPIES[path, state_of(path)] = _Copy(path)
    return copy.path


def table_names(connection: sqlite3.Connection) -> set[str]:
    """Return the names of the tables."""
    rows = connection.execute("select name from sqlite_master where type = 'table'").fetchall()
    return {os.fsdecode(name) for (name,) in rows if isinstance(name, bytes)}


def as_bytes(value: object) -> bytes | None:
    """Return a value as the bytes of the text that it is; NULL where it is none."""
    match value:
        case bytes():
            return value
        case str():
            return value.encode("utf-8", "surrogatepass")
        case int() | float():
            return str(value).encode()
        case _:
            return None
