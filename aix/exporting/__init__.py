"""The contract between AIX and an exporter.

    from aix.exporting import ConversationRows, Exporter

An exporter knows one kind of log and writes sessions of any origin in it. AIX reads the ledger, names the files, and
puts the folder in its place once it is whole. Exporters register as entry points.

An `Exporter` gets the conversation of each session. A `LedgerExporter` gets every row, so that its output can be
imported again without loss.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, ClassVar

from aix.errors import UnknownNameError
from aix.plugins import entry_points_of

Row = Mapping[str, object]
RowsByTable = Mapping[str, Sequence[Row]]
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


@dataclass(frozen=True, slots=True)
class SessionRows:
    """One session with every row that belongs to it. Rows have all columns but `threads.ancestry`, which is long."""

    rows: RowsByTable
    """Rows of the session itself: `sessions`, `session_context`, `session_aliases`, `requests` that served no turn, and
    `inferred_values` about these; a table without rows is left out. Empty for turns that no session holds."""
    has_log: bool
    """Whether a log shows the session; else it is a branch that another session left."""
    turns: Iterator[RowsByTable]
    """Rows of each turn that the session owns, in the order in which the turns began. They can be gone through once.

    `turns` and what hangs on them: `threads`, `turn_context`, `session_turns` (of all sessions that share the turn),
    `messages` with their facts, files, lints and code blocks, `tool_calls` with their facts and permission decisions,
    `requests`, `compactions`, `inferred_values`. Messages, calls and requests are in order.
    """


class _FileWriter(ABC):
    name: ClassVar[str]
    description: ClassVar[str]
    suffix: ClassVar[str]
    """How the name of a session's file ends."""
    table_files: ClassVar[Mapping[str, str]] = {}
    """Tables that are written as a whole beside the sessions: the file of each. Several in a row may have one file."""

    def write_table(self, table: str, rows: Iterable[Row], file: IO[bytes]) -> None:
        """Write the rows of one of the `table_files`."""
        raise NotImplementedError(table)


class Exporter(_FileWriter):
    """An exporter writes one kind of log. Its name is that of its entry point in the group `aix.exporters`."""

    @abstractmethod
    def write_session(self, conversation: ConversationRows, file: IO[bytes]) -> None:
        """Write one session."""


class LedgerExporter(_FileWriter):
    """An exporter that writes every row of the ledger; registered like any other."""

    turns_of_tables: ClassVar[str]
    """SQL that selects the ids of turns which follow from the `table_files`.

    A session is not given out when all its turns do.
    """
    others_file: ClassVar[str]
    """The file beside the sessions for what belongs to no session, or to several."""

    @abstractmethod
    def write_whole_session(self, session: SessionRows, file: IO[bytes]) -> None:
        """Write one session with all its rows."""

    @abstractmethod
    def write_others(self, rows: Iterator[tuple[str, Row]], file: IO[bytes]) -> None:
        """Write rows that belong to no session, each with its table, ordered by table and key; called last.

        Where only one session is exported, there are none.
        """


def exporter_names() -> list[str]:
    """Return the names of all exporters, without loading any."""
    return sorted({point.name for point in entry_points_of(_GROUP)})


def load_exporter(name: str) -> Exporter | LedgerExporter:
    """Load the exporter of that name."""
    for point in entry_points_of(_GROUP):
        if point.name == name and isinstance(made := point.load()(), Exporter | LedgerExporter):
            return made
    raise UnknownNameError("export format", name, tuple(exporter_names()))


__all__ = ["ConversationRows", "Exporter", "LedgerExporter", "Row", "RowsByTable", "SessionRows"]
