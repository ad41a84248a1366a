"""Removing files that nobody needs: old versions, and what killed processes left behind.

A reader keeps its version while it reads, so a version stays for a grace period after a newer one took its place. A
file that no version names may belong to a commit that is under way; it stays as long.

Only regular files in the folders of the ledger are removed, and folders in `staging` and `cache`. Nothing is removed
through a link, and what AIX never makes (links, named pipes, other folders) stays.
"""

import os
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import msgspec

from aix.errors import LedgerDamagedError
from aix.store.durable import is_part, remove, sync_folder, writing_to
from aix.store.locks import abandoned_folders, alone
from aix.store.manifest import (
    CACHE_FOLDER,
    DATA_FOLDER,
    RAW_FOLDER,
    STAGING_FOLDER,
    VERSIONS_FOLDER,
    Manifest,
    Segment,
    check_folders,
    dead_in,
    files_of,
    manifest_paths,
    read_latest,
    read_manifest,
    segment_path,
    ungrouped_cache,
)
from aix.store.raw_copies import kept_digests, raw_path
from aix.store.stored_files import check_regular, is_regular

DEFAULT_GRACE_SECONDS = 24 * 3600

IsCacheOf = Callable[[Manifest, Path], bool]
"""Whether a file in the cache of a group is of use to a version."""


class Removal(msgspec.Struct, frozen=True):
    """A file or folder that is of no use any more."""

    kind: str
    path: Path
    size_bytes: int


def find_removals(ledger: Path, grace_seconds: float, is_cache_of: IsCacheOf | None = None) -> list[Removal]:
    """Return what can be removed: files of older versions, these versions, and files that no version names.

    Files come before the version that names them: when the work is stopped, it still says what is left to do. The
    cache of a group goes with the group; files in other caches only where it is known of what use they are.
    """
    check_folders(ledger)
    limit = time.time() - grace_seconds
    newest = read_latest(ledger)
    paths = manifest_paths(ledger)
    outdated = [
        path for path, successor in pairwise(paths) if int(path.stem) < newest.oldest or _is_older(successor, limit)
    ]
    versions = [read_manifest(path) for path in paths if path not in outdated]
    kept = {name for version in versions for name in files_of(version)}
    of_outdated = {name for path in outdated for name in files_of(read_manifest(path))}
    found = [
        *(("file of an old version", path) for path in _existing(ledger, sorted(of_outdated - kept))),
        *(("cached rows", path) for path in _abandoned_caches(ledger, versions, limit, is_cache_of)),
        *(("version", path) for path in outdated),
        *(("left behind", path) for path in _unnamed(ledger, kept | of_outdated) if _is_older(path, limit)),
        *(("left behind", path) for path in abandoned_folders(ledger)),
        *(("copy of an old source", path) for path in _outdated_copies(ledger, versions, limit)),
    ]
    sizes = [(kind, path, _size(path)) for kind, path in found]
    return [Removal(kind, path, size) for kind, path, size in sizes if size is not None]


def collect(
    ledger: Path, grace_seconds: float = DEFAULT_GRACE_SECONDS, is_cache_of: IsCacheOf | None = None
) -> list[Removal]:
    """Remove what can be removed, and return it."""
    with writing_to(ledger), alone(ledger) as is_held:
        grace_seconds = grace_seconds if is_held else max(grace_seconds, DEFAULT_GRACE_SECONDS)
        removals = find_removals(ledger, grace_seconds, is_cache_of)
        for removal in removals:
            if removal.path.parent in (ledger / STAGING_FOLDER, ledger / CACHE_FOLDER):
                shutil.rmtree(removal.path, ignore_errors=True)
            else:
                remove(removal.path)
        if removals:
            sync_folder(ledger / DATA_FOLDER)
            if (ledger / CACHE_FOLDER).is_dir():
                sync_folder(ledger / CACHE_FOLDER)
            sync_folder(ledger / VERSIONS_FOLDER)
    return removals


def finish_forgetting(ledger: Path) -> None:
    """Do what is left of a `forget` that was stopped after its commit."""
    if is_forgetting_unfinished(ledger):
        collect(ledger, 0)


def is_forgetting_unfinished(ledger: Path) -> bool:
    """Whether a `forget` was stopped after its commit, and older versions still hold what was to be forgotten."""
    paths = manifest_paths(ledger)
    return bool(paths) and int(paths[0].stem) < read_latest(ledger).oldest


def check_removable(ledger: Path) -> None:
    """Raise LedgerDamagedError when a version could not be removed: it breaks a rule, or names no regular file."""
    check_folders(ledger)
    names = {name for path in manifest_paths(ledger) for name in files_of(read_manifest(path))}
    for _ in _existing(ledger, names):
        pass


def _existing(ledger: Path, names: Iterable[str]) -> Iterator[Path]:
    """Go through the files of these names that are there."""
    for name in names:
        path = ledger / name
        if os.path.lexists(path):
            check_regular(path)
            yield path


def _abandoned_caches(
    ledger: Path, versions: Sequence[Manifest], limit: float, is_cache_of: IsCacheOf | None
) -> Iterator[Path]:
    groups = {group for version in versions for group in (*version.indexes, ungrouped_cache(version))}
    with suppress(FileNotFoundError, NotADirectoryError):
        for folder in (ledger / CACHE_FOLDER).iterdir():
            if not folder.is_dir() or folder.is_symlink():
                continue
            if folder.name not in groups:
                yield folder
            elif is_cache_of:
                for path in folder.iterdir():
                    if not any(is_cache_of(version, path) for version in versions) and _is_older(path, limit):
                        yield path


def _unnamed(ledger: Path, named: set[str]) -> Iterator[Path]:
    """Go through the regular files that no version names."""
    for path in _regular_files(ledger / DATA_FOLDER):
        if path.relative_to(ledger).as_posix() not in named:
            yield path
    for folder in (ledger / VERSIONS_FOLDER, ledger / RAW_FOLDER):
        yield from (path for path in _regular_files(folder) if is_part(path))
    yield from (path for path in ledger.iterdir() if is_part(path) and is_regular(path))


def _regular_files(folder: Path) -> Iterator[Path]:
    """Go through the regular files of a folder and of those below it, but not through links."""
    for above, _, names in os.walk(folder):
        yield from (path for name in names if is_regular(path := Path(above, name)))


def _outdated_copies(ledger: Path, versions: Sequence[Manifest], limit: float) -> Iterator[Path]:
    """Go through the copies of sources that no version knows in that state.

    An import makes the copy long before it commits, and holds no lock meanwhile: so copies have a grace in any case.
    """
    limit = min(limit, time.time() - DEFAULT_GRACE_SECONDS)
    old = [path for digest in kept_digests(ledger) if _is_older(path := raw_path(ledger, digest), limit)]
    if not old:
        return
    sources = {
        (segment, dead_in(version, segment))
        for version in versions
        for segment in version.tables.get("import_sources", ())
    }
    known = {digest for segment, dead in sources for digest in _fingerprints_in(ledger, segment, dead)}
    yield from (path for path in old if path.name.partition(".")[0] not in known)


def _fingerprints_in(ledger: Path, segment: Segment, dead: Sequence[int]) -> set[object]:
    import pyarrow as pa

    from aix.store.segments import read_live_rows

    path = segment_path(ledger, segment)
    try:
        return {digest for rows in read_live_rows(path, dead, ["fingerprint"]) for digest in rows.column(0).to_pylist()}
    except (pa.ArrowException, OSError, KeyError) as error:
        raise LedgerDamagedError(path, f"it cannot be read: {error}") from error


def _is_older(path: Path, limit: float) -> bool:
    """Whether a file is older than the limit; one that has just gone is not."""
    try:
        return path.lstat().st_mtime <= limit
    except FileNotFoundError:
        return False


def _size(path: Path) -> int | None:
    """Return the size of a file or of all in a folder, but not behind links; None when it has just gone."""
    try:
        status = path.lstat()
        if stat.S_ISDIR(status.st_mode):
            return sum(inside.lstat().st_size for inside in _regular_files(path))
        return status.st_size
    except FileNotFoundError:
        return None
