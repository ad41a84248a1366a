"""Private folders inside a ledger, for rows on their way into it."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from aix.store.durable import make_folder, writing_to
from aix.store.manifest import STAGING_FOLDER, check_folders


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
