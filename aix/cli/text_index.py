"""The index of texts, and vectors: they are made with progress on a terminal, before a search or after an import."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import cpu_count
from pathlib import Path

from aix.cli.diagnostics import console
from aix.search.index import TextIndex
from aix.store.cache_files import CacheFile, Progress, make_missing
from aix.store.manifest import Manifest

_MOST_WORKERS = 2
_LEAST_SHOWN_BYTES = 4 * 2**20
"""Of files that take less than a second."""


def update_index(ledger: Path, version: Manifest) -> None:
    """Make what is missing of the index of a version."""
    _make(TextIndex.all_of(ledger, version), "Indexing texts for search")


def update_vectors(ledger: Path, version: Manifest) -> None:
    """Make what is missing of the vectors of a version."""
    from aix.similarity.vectors import VectorFile

    _make(VectorFile.all_of(ledger, version), "Making vectors of turns")


def _make(files: Sequence[CacheFile], doing: str) -> None:
    missing = [file for file in files if not file.is_made]
    if missing:
        with _index_progress(doing, sum(file.size_bytes for file in missing)) as progress:
            make_missing(missing, progress, min(cpu_count() or 1, _MOST_WORKERS))


@contextmanager
def _index_progress(doing: str, size_bytes: int) -> Iterator[Progress]:
    """Give a function that is told of bytes that were indexed, and draws a bar when stderr is a terminal."""
    terminal = console() if size_bytes >= _LEAST_SHOWN_BYTES else None
    if terminal is None:
        yield lambda _: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(doing), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=terminal, transient=True) as bar:
        task = bar.add_task("", total=size_bytes)
        yield lambda done: bar.update(task, advance=done)
