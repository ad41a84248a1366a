"""Files of the cache: they follow from the files of a group, are no part of a version, and can be made again."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aix.errors import LedgerDamagedError
from aix.store.durable import make_folder, part_file
from aix.store.locks import among_writers
from aix.store.manifest import CACHE_FOLDER, manifest_path, read_latest
from aix.store.stored_files import check_folder


def check_cache(ledger: Path, folder: Path) -> None:
    """Raise LedgerDamagedError when the cache, or the folder of a group in it, is a link or no folder."""
    check_folder(ledger / CACHE_FOLDER)
    check_folder(folder)


@contextmanager
def keep_in_cache(ledger: Path, version: int, path: Path) -> Iterator[Path]:
    """Give a path to write a file to, and put it into its place when the block ends.

    A version that was removed meanwhile may hold what was to be forgotten: then the file is not kept.
    """
    check_cache(ledger, path.parent)
    make_folder(path.parent)
    with part_file(path.parent) as part:
        yield part
        # Whoever removes the rows of this group for good was here before, or waits.
        with among_writers(ledger):
            if not manifest_path(ledger, version).exists() or version < read_latest(ledger).oldest:
                raise LedgerDamagedError(path.parent, "the version that is read was removed meanwhile")
            part.replace(path)
