"""Copies of databases that cannot be read where they lie.

A copy holds what the database holds, also the user's tokens: it lies in a folder that only the user may enter. The
folder is removed as soon as the copy is open, which the system allows except on Windows: from then on nothing is left
behind however the process ends, and the conversations of one database are read of one copy.
"""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aix_importers.cursor.connections import connect

_CAN_REMOVE_OPEN_FILES = os.name == "posix"
_MOST_UNUSED = 2 if _CAN_REMOVE_OPEN_FILES else 0
_MOST_TRIES = 3


class _Copy:
    """A database copied with its log."""

    def __init__(self, path: str) -> None:
        self.users = 0
        self._folder = tempfile.TemporaryDirectory(prefix="aix-copy-", ignore_cleanup_errors=True)
        try:
            target = str(Path(self._folder.name) / "copy.db")
            _copy_files(path, target)
            self.connection, self.schema_error = connect(target, "mode=rw", is_private=True)
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
def copied(path: str) -> Iterator[tuple[sqlite3.Connection, str | None]]:
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


def has_copy(path: str) -> bool:
    """Whether a database was copied as it is now."""
    return (path, state_of(path)) in _COPIES


def state_of(path: str) -> str:
    """Return a mark that shows whether a database, with its log of writes, has changed."""
    return f"{_state(path)}|{_state(f'{path}-wal')}"


def _state(path: str) -> str:
    try:
        state = os.stat(path)  # noqa: PTH116 # asked for after every query, where `Path` takes longer than the system
    except OSError:
        return ""
    return f"{state.st_size}:{state.st_mtime_ns}:{state.st_ino}"


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
