"""The few operations on files that a commit is made of.

Each returns only when the disk holds what it did, so that a power cut between any two of them loses nothing that a
later one relies on. Files are private: folders 0700, files 0600, whatever the umask.
"""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}

# Bound here so that tests can make each of them fail.
fsync = os.fsync
link = os.link
write = os.write


class DiskError(Exception):
    """The disk did not do what was asked; an error of whoever makes the data is never taken for one."""


class NewFile:
    """A file that is being written; encoders of Parquet and JSON write to it."""

    closed = False

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, data: bytes) -> int:
        """Write all of the data, however little the system takes at a time."""
        rest = memoryview(data).cast("B")
        with _explained():
            while rest:
                rest = rest[write(self._descriptor, rest) :]
        return len(data)

    def flush(self) -> None:
        """Do nothing: nothing is held back."""


@contextmanager
def new_file(path: Path) -> Iterator[NewFile]:
    """Give a file that did not exist before; its content is on disk when the block ends."""
    with _explained():
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        yield NewFile(descriptor)
        with _explained():
            fsync(descriptor)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, unless it is there."""
    if path.is_dir():
        return
    make_folder(path.parent)
    with _explained():
        path.mkdir(mode=0o700, exist_ok=True)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Put the names in a folder on disk."""
    with _explained():
        descriptor = os.open(path, os.O_RDONLY)
        try:
            fsync(descriptor)
        finally:
            os.close(descriptor)


def place(part: Path, final: Path) -> bool:
    """Give a finished file its final name, all at once; False when that name is taken."""
    with _explained():
        try:
            link(part, final)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
            if not _rename_unless_taken(part, final):
                return False
    sync_folder(final.parent)
    return True


def _rename_unless_taken(part: Path, final: Path) -> bool:
    # A rename replaces what has the name already, so look first, and let no other writer do so meanwhile. The system
    # releases the lock when the process dies.
    descriptor = os.open(final.with_name(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if final.exists():
            return False
        part.rename(final)
    finally:
        os.close(descriptor)
    return True


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DiskError(error.strerror or str(error)) from error
