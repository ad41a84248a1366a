"""Removing files that nobody needs: old versions, and what killed processes left behind.

A reader keeps its version while it reads, so a version stays for a grace period after a newer one took its place. A
file that no version names may belong to a commit that is under way; it stays as long.
"""

import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from aix.ledger.durable import remove, sync_folder, writing_to
from aix.ledger.locks import alone
from aix.ledger.manifest import (
    DATA_FOLDER,
    STAGING_FOLDER,
    VERSIONS_FOLDER,
    files_of,
    manifest_paths,
    read_latest,
    read_manifest,
)
from aix.ledger.raw import RAW_FOLDER, kept_digests, raw_path

DEFAULT_GRACE_SECONDS = 24 * 3600


@dataclass(frozen=True)
class Removal:
    """A file or folder that is of no use any more."""

    kind: str
    path: Path
    size_bytes: int


def find_removals(ledger: Path, grace_seconds: float) -> list[Removal]:
    """Return what can be removed: files of older versions, these versions, and files that no version names.

    Files come before the version that names them: when the work is stopped, it still tells what is left to do.
    """
    limit = time.time() - grace_seconds
    newest = read_latest(ledger)
    paths = manifest_paths(ledger)
    outdated = [
        path for path, successor in pairwise(paths) if int(path.stem) < newest.oldest or _is_older(successor, limit)
    ]
    kept = {name for path in paths if path not in outdated for name in files_of(read_manifest(path))}
    of_outdated = {name for path in outdated for name in files_of(read_manifest(path))}
    found = [
        *(("file of an old version", ledger / name) for name in sorted(of_outdated - kept)),
        *(("version", path) for path in outdated),
        *(("left behind", path) for path in _unnamed(ledger, kept | of_outdated) if _is_older(path, limit)),
        *(("left behind", path) for path in _abandoned_staging(ledger)),
        *(("copy of an old source", path) for path in _outdated_copies(ledger, kept, limit)),
    ]
    sizes = [(kind, path, _size(path)) for kind, path in found]
    return [Removal(kind, path, size) for kind, path, size in sizes if size is not None]


def collect(ledger: Path, grace_seconds: float = DEFAULT_GRACE_SECONDS) -> list[Removal]:
    """Remove what can be removed, and return it."""
    with writing_to(ledger), alone(ledger) as is_held:
        removals = find_removals(ledger, grace_seconds if is_held else max(grace_seconds, DEFAULT_GRACE_SECONDS))
        for removal in removals:
            if removal.path.is_dir():
                shutil.rmtree(removal.path, ignore_errors=True)
            else:
                remove(removal.path)
        if removals:
            sync_folder(ledger / DATA_FOLDER)
            sync_folder(ledger / VERSIONS_FOLDER)
    return removals


def finish_forgetting(ledger: Path) -> None:
    """Do what is left of a `forget` that was stopped after its commit."""
    numbers = [int(path.stem) for path in manifest_paths(ledger)]
    if numbers and numbers[0] < read_latest(ledger).oldest:
        collect(ledger, 0)


def _unnamed(ledger: Path, named: set[str]) -> Iterator[Path]:
    for path in (ledger / DATA_FOLDER).rglob("*"):
        if path.is_file() and path.relative_to(ledger).as_posix() not in named:
            yield path
    yield from (ledger / VERSIONS_FOLDER).glob(".*.part")
    yield from (ledger / RAW_FOLDER).rglob(".*.part")
    yield from ledger.glob(".*.part")


def _outdated_copies(ledger: Path, kept: set[str], limit: float) -> Iterator[Path]:
    """Go through the copies of sources that no version knows in that state.

    An import makes the copy long before it commits, and holds no lock meanwhile: so copies have a grace in any case.
    """
    limit = min(limit, time.time() - DEFAULT_GRACE_SECONDS)
    old = [path for digest in kept_digests(ledger) if _is_older(path := raw_path(ledger, digest), limit)]
    if not old:
        return
    import pyarrow.parquet as pq

    sources = [ledger / name for name in kept if Path(name).name.startswith("import_sources-")]
    known = {
        digest for path in sources for digest in pq.read_table(path, columns=["fingerprint"]).column(0).to_pylist()
    }
    yield from (path for path in old if path.name.partition(".")[0] not in known)


def _abandoned_staging(ledger: Path) -> Iterator[Path]:
    """Go through the staging folders whose process has died: a living one holds a lock on its own."""
    for folder in (ledger / STAGING_FOLDER).glob("*"):
        with suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                yield folder
            finally:
                os.close(descriptor)


def _is_older(path: Path, limit: float) -> bool:
    """Whether a file is older than the limit; one that has just gone is not."""
    try:
        return path.lstat().st_mtime <= limit
    except FileNotFoundError:
        return False


def _size(path: Path) -> int | None:
    """Return the size of a file or of all in a folder; None when it has just gone."""
    try:
        if path.is_dir():
            return sum(_size(inside) or 0 for inside in path.iterdir())
        return path.lstat().st_size
    except FileNotFoundError:
        return None
