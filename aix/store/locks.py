"""Locks of a ledger: any number of writers, or one process that removes files at once.

Writers need no lock to keep each other's commits whole. The lock is for those who remove files that no version names:
such a file may belong to a commit that is under way. The system releases it when its holder dies; where a file system
has no locks, files are removed only when they are old.

Rows on their way into a ledger lie in private folders inside it, each with a lock of its own process.
"""

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from aix.store.durable import DiskError, make_folder, writing_to
from aix.store.manifest import STAGING_FOLDER, VERSIONS_FOLDER, check_folders

_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EBADF, errno.EINVAL, errno.ENOSYS}


@contextmanager
def among_writers(ledger: Path) -> Iterator[None]:
    """Hold the ledger together with other writers."""
    with _held(ledger, fcntl.LOCK_SH):
        yield


@contextmanager
def without_waiting(ledger: Path) -> Iterator[bool]:
    """Hold the ledger together with other writers, and yield True; yield False when another process writes to it."""
    with ExitStack() as stack:
        try:
            stack.enter_context(_held(ledger, fcntl.LOCK_SH | fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield not any(map(_is_in_use, (ledger / STAGING_FOLDER).glob("*")))


@contextmanager
def alone(ledger: Path) -> Iterator[bool]:
    """Wait until no writer is at work, keep others waiting, and tell whether the file system can do that."""
    with _held(ledger, fcntl.LOCK_EX) as is_held:
        yield is_held


@contextmanager
def _held(ledger: Path, kind: int) -> Iterator[bool]:
    try:
        descriptor = os.open(ledger / VERSIONS_FOLDER, os.O_RDONLY)
    except OSError as error:
        raise DiskError(error.strerror or str(error)) from error
    try:
        yield _lock(descriptor, kind)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind)
    except OSError as error:
        if kind & fcntl.LOCK_NB and isinstance(error, BlockingIOError):
            raise
        if error.errno not in _NO_LOCKS:
            raise DiskError(error.strerror or str(error)) from error
        return False
    return True


def _is_in_use(folder: Path) -> bool:
    """Whether the process of a private folder lives."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


@contextmanager
def staging_folder(ledger: Path) -> Iterator[Path]:
    """Give a folder that is gone when the block ends.

    The lock on it shows that its process lives; a folder left by a killed one does no harm.
    """
    check_folders(ledger)
    with writing_to(ledger):
        folder, descriptor = _locked_folder(ledger)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def abandoned_folders(ledger: Path) -> Iterator[Path]:
    """Go through the folders whose process has died: a living one holds a lock on its own."""
    for folder in (ledger / STAGING_FOLDER).glob("*"):
        with suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                yield folder
            finally:
                os.close(descriptor)


def _locked_folder(ledger: Path) -> tuple[Path, int]:
    """Make a folder and lock it; whoever collects what is left behind may be faster, then make another."""
    while True:
        folder = ledger / STAGING_FOLDER / uuid4().hex
        for private in (ledger, folder.parent, folder):
            make_folder(private)
        with suppress(FileNotFoundError):
            descriptor = os.open(folder, os.O_RDONLY)
            with suppress(OSError):  # a file system may have no locks
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if folder.exists():
                return folder, descriptor
            os.close(descriptor)
