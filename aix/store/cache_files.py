"""Files of the cache: they follow from the files of a group, are no part of a version, and can be made again.

    LEDGER/cache/GROUP/KIND-DIGEST.SUFFIX

Files of a group never change, and a digest of their names stands in the name of what follows from them: so a file of
the cache is either missing or right. It goes with its group, by `aix vacuum` and `aix forget`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from aix.errors import LedgerDamagedError, LedgerUnwritableError, WorkerDiedError
from aix.store.durable import make_folder, part_file, writing_to
from aix.store.locks import among_writers
from aix.store.manifest import (
    CACHE_FOLDER,
    COMPONENT,
    Manifest,
    Segment,
    groups_of,
    manifest_path,
    read_latest,
    ungrouped_cache,
)
from aix.store.stored_files import check_folder

if TYPE_CHECKING:
    import pyarrow as pa

_FEWEST_WORKERS = 2
_LEAST_BYTES_FOR_WORKERS = 8 * 2**20
"""Of files that are to be read: to start workers takes as long as to index a tenth of that."""
Progress = Callable[[int], None]


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


class CacheFile(ABC):
    """A file of the cache for one group of files of a version, whether it is made or not."""

    prefix: ClassVar[str]
    suffix: ClassVar[str]
    form: ClassVar[int]
    """The number of its form; it goes up whenever the same files would give another content."""
    tables: ClassVar[tuple[str, ...]]
    """The tables whose files it follows from; a group with none of them has none."""

    def __init__(
        self, ledger: Path, manifest: Manifest, group: str | None, files: Mapping[str, Sequence[Segment]]
    ) -> None:
        self.ledger = ledger
        self.files = {table: _in_order(files[table]) for table in self.tables if table in files}
        """By table, in the order in which a content may number them."""
        self.dead = manifest.dead[group].components if group in manifest.dead else ()
        """Families whose rows are no part of the version."""
        self.path = ledger / CACHE_FOLDER / (group or ungrouped_cache(manifest)) / self._name(files)
        self._version = manifest.version

    @property
    def size_bytes(self) -> int:
        """How large the files are that it follows from."""
        return sum(segment.size_bytes or 0 for segments in self.files.values() for segment in segments)

    @property
    @abstractmethod
    def is_made(self) -> bool:
        """Whether it is in the cache."""

    @abstractmethod
    def make(self) -> Iterator[int]:
        """Make it, and put it into the cache; give, step by step, how many bytes of the files are in it."""

    def discard(self) -> None:
        """Remove it from the cache, as one that cannot be read."""
        with suppress(OSError):
            self.path.unlink()

    @contextmanager
    def keeping(self) -> Iterator[Path]:
        """Give a path to write the file to, and put it into the cache when the block ends."""
        with writing_to(self.ledger), keep_in_cache(self.ledger, self._version, self.path) as part:
            yield part

    @classmethod
    def all_of(cls, ledger: Path, manifest: Manifest) -> list[Self]:
        """Return the file of each group of a version that has one."""
        groups = groups_of(manifest.tables).items()
        found = [cls(ledger, manifest, group, files) for group, files in groups if {*cls.tables} & files.keys()]
        for each in found:
            check_cache(ledger, each.path.parent)
        return found

    @classmethod
    def is_of(cls, version: Manifest, path: Path) -> bool:
        """Whether a path is that of such a file of a version, in the form of today."""
        return any(
            path.parent.name == (group or ungrouped_cache(version)) and path.name == cls._name(files)
            for group, files in groups_of(version.tables).items()
        )

    @classmethod
    def _name(cls, files: Mapping[str, Sequence[Segment]]) -> str:
        paths = [segment.path for table in cls.tables for segment in _in_order(files.get(table, ()))]
        digest = sha256("\0".join([str(cls.form), *paths]).encode()).hexdigest()[:16]
        return f"{cls.prefix}-{digest}{cls.suffix}"


def _in_order(segments: Iterable[Segment]) -> list[Segment]:
    return sorted(segments, key=lambda segment: segment.path)


def make_missing(files: Iterable[CacheFile], progress: Progress = lambda _: None, workers: int = 1) -> None:
    """Make the files that are not in the cache; where it cannot be written, none.

    More workers than one are processes, which only a program can start whose main module may be imported again.
    """
    missing = [file for file in files if not file.is_made]
    if sum(file.size_bytes for file in missing) < _LEAST_BYTES_FOR_WORKERS:
        workers = 1
    with suppress(LedgerUnwritableError, OSError):
        for done in _made(missing, min(workers, len(missing))):
            progress(done)


def _made(files: Sequence[CacheFile], workers: int) -> Iterator[int]:
    """Make files; give, step by step, how many bytes went into them."""
    if workers < _FEWEST_WORKERS:
        for file in files:
            yield from file.make()
        return
    from aix.workers import map_in_workers

    for _, done in map_in_workers(_make, sorted(files, key=lambda file: -file.size_bytes), workers):
        if isinstance(done, WorkerDiedError):
            raise done
        yield done


def _make(file: CacheFile) -> Iterator[int]:
    yield from file.make()


def numbered_row_groups(path: Path, columns: Iterable[str]) -> "Iterator[pa.Table]":
    """Go through a file a row group at a time, with the numbers of families where it has them."""
    import pyarrow.parquet as pq

    from aix.store.segments import reading

    with reading(path), pq.ParquetFile(path) as file:
        numbered = [COMPONENT] if COMPONENT in file.schema_arrow.names else []
        for number in range(file.num_row_groups):
            yield file.read_row_group(number, columns=[*columns, *numbered])
