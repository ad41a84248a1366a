"""Marks of sources that are being read in the process of the import itself.

Little is read without worker processes, which take longer to start than to read. Where reading ends the whole process,
the mark stays in its staging folder, and the next run gives these sources to a worker, whose death costs nothing else.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from aix.store.staging import abandoned_folders
from aix.store.stored_files import read_note

_MARK = "reading.json"
_DECODER = msgspec.json.Decoder(set[str])


def mark_sources(staging: Path, names: Iterable[str]) -> None:
    """Note in a staging folder which sources are about to be read; where that cannot be, there is no mark."""
    with suppress(OSError):
        (staging / _MARK).write_bytes(msgspec.json.encode(list(names)))


class CrashMarks:
    """The marks that earlier runs left."""

    def __init__(self, ledger: Path) -> None:
        self._names_by_mark = dict(_marks(ledger))

    @property
    def names(self) -> set[str]:
        """The sources during which an earlier run ended."""
        return set().union(*self._names_by_mark.values())

    def remove(self, read: Iterable[str]) -> None:
        """Remove the marks of sources that were read since."""
        sources = set(read)
        for mark, names in self._names_by_mark.items():
            if names & sources:
                mark.unlink(missing_ok=True)


def _marks(ledger: Path) -> Iterator[tuple[Path, set[str]]]:
    for folder in abandoned_folders(ledger):
        if names := read_note(folder / _MARK, _DECODER.decode):
            yield folder / _MARK, names
