"""The contract between AIX and an exporter.

    from aix.exporting import ConversationRows, Exporter

An exporter knows one kind of log and writes sessions of any origin in it. AIX reads the ledger, names the files, and
puts the folder in its place once it is whole. Exporters register as entry points.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import IO, ClassVar

from aix.errors import UnknownNameError
from aix.plugins import entry_points_of

Row = Mapping[str, object]
_GROUP = "aix.exporters"


@dataclass(frozen=True, slots=True)
class ConversationRows:
    """One session with its turns and messages."""

    session: Row
    """Its row of `sessions`."""
    turns: Mapping[str, Row]
    """By id, in the order in which they began: `parent_turn_id`, `situation`."""
    messages: Iterable[Row]
    """Rows of `messages` in the order of the log, each with the columns of its request, which are named `request_…`.

    They can be gone through once.
    """


class Exporter(ABC):
    """An exporter writes one kind of log. Its name is that of its entry point in the group `aix.exporters`."""

    name: ClassVar[str]
    description: ClassVar[str]
    suffix: ClassVar[str]
    """How the name of a session's file ends."""
    table_files: ClassVar[Mapping[str, str]] = {}
    """Tables that are written as a whole beside the sessions: the file of each."""

    @abstractmethod
    def write_session(self, conversation: ConversationRows, file: IO[bytes]) -> None:
        """Write one session."""

    def write_table(self, table: str, rows: Iterable[Row], file: IO[bytes]) -> None:
        """Write the rows of one of the `table_files`."""
        raise NotImplementedError(table)


def exporter_names() -> list[str]:
    """Return the names of all exporters, without loading any."""
    return sorted({point.name for point in entry_points_of(_GROUP)})


def load_exporter(name: str) -> Exporter:
    """Load the exporter of that name."""
    for point in entry_points_of(_GROUP):
        if point.name == name and isinstance(made := point.load()(), Exporter):
            return made
    raise UnknownNameError("export format", name, tuple(exporter_names()))


__all__ = ["ConversationRows", "Exporter", "Row"]
