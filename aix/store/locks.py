"""Locks of a ledger: any number of writers, or one process that removes files at once.

Writers need no lock to keep each other's commits whole. The lock is for those who remove files that no version names:
such a file may belong to a commit that is under way. The system releases it when its holder dies; where a file system
has no locks, files are removed only when they are old.
"""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aix.store.durable import DiskError
from aix.store.manifest import VERSIONS_FOLDER

_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EBADF, errno.EINVAL, errno.ENOSYS}


@contextmanager
def among_writers(ledger: Path) -> Iterator[None]:
    """Hold the ledger together with other writers."""
    with _held(ledger, fcntl.LOCK_SH):
        yield


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
        if error.errno not in _NO_LOCKS:
            raise DiskError(error.strerror or str(error)) from error
        return False
    return True
