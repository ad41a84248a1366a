"""How far an import has come, drawn on a terminal and nowhere else."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from aix.cli.diagnostics import console
from aix.pipeline.progress import Watcher
from aix.pipeline.report import Outcome
from aix.process import load_arrow

if TYPE_CHECKING:
    from rich.progress import Progress


@contextmanager
def import_progress() -> Iterator[Watcher]:
    """Give what hears of an import and draws it, when stderr is a terminal."""
    terminal = console()
    if terminal is None:
        yield _Watcher()
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=terminal,
        transient=True,
    ) as progress:
        yield _Bar(progress)


class _Watcher(Watcher):
    def begin(self, sources: int, size_bytes: int) -> None:  # noqa: ARG002 - it draws nothing
        load_arrow()  # only now: a run that finds nothing to read needs none


class _Bar(_Watcher):
    def __init__(self, progress: "Progress") -> None:
        self._progress = progress
        self._sources = 0
        self._size_bytes = 0
        self._read = 0

    def begin(self, sources: int, size_bytes: int) -> None:
        super().begin(sources, size_bytes)
        self._sources, self._size_bytes = sources, size_bytes
        self._task = self._progress.add_task(self._text(), total=max(size_bytes, 1))

    def more(self, sources: int, size_bytes: int) -> None:
        self._sources += sources
        self._size_bytes += size_bytes
        self._progress.update(self._task, total=max(self._size_bytes, 1), description=self._text())

    def advance(self, outcome: Outcome) -> None:
        self._read += 1
        self._progress.update(self._task, advance=outcome.size_bytes, description=self._text())

    def _text(self) -> str:
        return f"{self._read} of {self._sources} sources"
