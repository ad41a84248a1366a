"""The contract between AIX and an importer.

An importer knows one kind of log. It says which files are its own (`discover`) and turns them into rows of the ledger
(`extract`); everything else, from fingerprints to commits, is AIX's. It runs in worker processes, so it must keep
nothing between two calls; it never writes the ledger, never prints, and never changes a file. `RowBuffer` puts
rows together for it; `hash_file` is how AIX knows files that have changed.
"""

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import itemgetter
from pathlib import Path
from typing import ClassVar

import msgspec

from aix.schema import TABLES

_PIECE_BYTES = 2**20
_MOST_ROWS = 2_000
_MOST_CHARACTERS = 4_000_000


class Answer(StrEnum):
    """Whether an importer gives a kind of fact.

    >>> str(Answer.NOT_APPLICABLE)
    'not applicable'
    """

    YES = "yes"
    NO = "no"
    """The log has it; the importer does not read it yet."""
    NOT_APPLICABLE = "not applicable"
    """The log does not have it."""


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """The kinds of data that an importer finds in its logs.

    >>> dict(Capabilities(usage=Answer.YES))["usage"]
    <Answer.YES: 'yes'>
    """

    usage: Answer = Answer.NOT_APPLICABLE
    cost: Answer = Answer.NOT_APPLICABLE
    compaction: Answer = Answer.NOT_APPLICABLE
    permissions: Answer = Answer.NOT_APPLICABLE
    subagents: Answer = Answer.NOT_APPLICABLE
    files: Answer = Answer.NOT_APPLICABLE
    lints: Answer = Answer.NOT_APPLICABLE
    codeblocks: Answer = Answer.NOT_APPLICABLE

    def __iter__(self) -> Iterator[tuple[str, Answer]]:
        """Go through the kinds of fact and the answer to each."""
        return ((each.name, getattr(self, each.name)) for each in msgspec.structs.fields(type(self)))


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """A file that was found, for importers to look at.

    >>> Candidate("/logs/a.jsonl", size_bytes=10, mtime_ns=0, inode=1).name
    'a.jsonl'
    """

    path: str
    size_bytes: int
    mtime_ns: int
    inode: int
    claimed_by: str | None = None
    """The importer whose source it was when it was last read, if it is still the same file: no need to look inside."""
    was_claimed_by: str | None = None
    """The importer whose source it was when it was last read, whatever has been written to it since."""

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path[self.path.rfind(os.sep) + 1 :]

    def head(self, size: int = 16_384) -> bytes:
        """Read the beginning of the file; empty when it cannot be read."""
        try:
            with Path(self.path).open("rb") as file:
                return file.read(size)
        except OSError:
            return b""


class Source(msgspec.Struct, frozen=True, gc=False):
    """The unit of fingerprint, extraction and status: a file with its sidecars, or one conversation in a container.

    >>> Source("/logs/a.jsonl", sidecars=("/logs/programs.json",)).files
    ('/logs/a.jsonl', '/logs/programs.json')
    """

    path: str
    """The file, absolute."""
    key: str = ""
    """The conversation inside the file, when the file holds several that change apart from each other."""
    sidecars: tuple[str, ...] = ()
    """Files that are read along with it: when one of them changes, the source has changed."""
    group: str = ""
    """Sources of one group share records: when one changes, all are extracted together."""
    stamp: str = ""
    """Tells cheaply whether a conversation has changed; a source that has none is known by its files."""
    may_hold_secrets: bool = False
    """Whether no copy of the file is ever kept: what is imported of it is all that is."""

    @property
    def name(self) -> str:
        """The path, and the key inside it.

        >>> Source("/logs/state.db", key="42").name
        '/logs/state.db#42'
        """
        return f"{self.path}#{self.key}" if self.key else self.path

    @property
    def files(self) -> tuple[str, ...]:
        """The file and its sidecars."""
        return (self.path, *self.sidecars)


class Rows(msgspec.Struct, frozen=True):
    """Rows of one table that a source gave, column by column; a column that is left out is NULL or its default.

    >>> rows = Rows(Source("/logs/a.jsonl"), "chat_users", {"id": ["u1", "u2"], "name": ["Ann", None]})
    >>> rows.columns["id"]
    ['u1', 'u2']
    """

    source: Source
    table: str
    columns: Mapping[str, Sequence[object]]
    copy: int = 0
    """A source may say several things about one row, when its log repeats a record: each in a copy of its own."""
    part: int = 0
    """Parts, numbered upwards, are joined one after the other, so that a large source needs the memory of one part.

    Marks of inferred values, and files, findings and code of a message, are in the part of their row or message.
    """


class Problem(msgspec.Struct, frozen=True):
    """A record or file that was skipped or repaired.

    >>> Problem(Source("/logs/a.jsonl"), "not_json", "The line is not JSON.", line=3, byte_offset=120).kind
    'not_json'
    """

    source: Source
    kind: str
    """A word that is the same for all problems of a kind, such as `not_json`."""
    reason: str
    """The reason, in a sentence."""
    line: int | None = None
    byte_offset: int | None = None
    sample: str | None = None
    """The beginning of the piece; AIX cuts it."""
    is_of_whole_source: bool = False
    """Whether nothing of the source could be read: `aix import` then shows the source with the reason."""


class Ties(msgspec.Struct, frozen=True):
    """Numbers that stand for the records by which a source can be connected to others.

    Two sources of an importer that have a number in common are tied: AIX reads all sources together that are tied,
    directly or through others, whenever one of them has changed. Numbers are unsigned, of 64 bits: `aix.ids.h63` of
    what a log calls a record gives good ones. A source may give several `Ties`.

    >>> from aix.ids import h63
    >>> Ties(Source("/logs/a.jsonl"), [h63("record", "5b1f"), h63("record", "77aa")]).numbers
    [7429663749332992867, 3207110016916513661]
    """

    source: Source
    numbers: Sequence[int]


class Retention(msgspec.Struct, frozen=True):
    """How long a tool keeps its logs before it deletes them.

    >>> Retention("Notepad", 30, "keepDays").days
    30
    """

    tool: str
    days: int
    """Since the last change of a log."""
    setting: str
    """The setting of the tool that decides it."""


class LoggedSession(msgspec.Struct, frozen=True):
    """A session as its own tool knows it.

    >>> LoggedSession("5b1f03ab", "/logs/a.jsonl").id
    '5b1f03ab'
    """

    id: str
    """Its id in the log; anybody may have written that."""
    path: str | None
    """The file that it was read from."""


@dataclass
class Importer(ABC):
    """An importer reads one kind of log. Its name is that of its entry point in the group `aix.importers`.

    >>> class Notes(Importer):
    ...     name, version, description, capabilities = "my_notes", "1", "Notes.", Capabilities()
    ...     def discover(self, files):
    ...         return [Source(file.path) for file in files if file.name.endswith(".note")]
    ...     def extract(self, sources):
    ...         yield Rows(sources[0], "chat_users", {"id": ["me"]})
    >>> Notes().origin
    'my-notes'
    """

    name: ClassVar[str]
    version: ClassVar[str]
    """Another version reads again what is still on disk, and replaces the rows it gave before."""
    description: ClassVar[str]
    capabilities: ClassVar[Capabilities]
    tool: ClassVar[str] = ""
    """The tool that writes these logs, as people call it; without it, messages use the name of the importer."""
    suffixes: ClassVar[tuple[str, ...]] = ()
    """How names of its logs end, in lower case: AIX names such files that no importer claims."""
    problem_advice: ClassVar[Mapping[str, str]] = {}
    """By kind of problem: what a user can do about it, in a short sentence; `aix problems` shows it."""
    notes: ClassVar[frozenset[str]] = frozenset()
    """Kinds of problems that are notes about the data: everything of the record was read."""
    option_help: ClassVar[Mapping[str, str]] = {}
    """By option of `aix import --option NAME.OPTION=VALUE`: its effect."""

    options: Mapping[str, str] = field(default_factory=dict)

    @abstractmethod
    def discover(self, files: Sequence[Candidate]) -> Iterable[Source]:
        """Return the sources among these files; a file that is not this importer's own is ignored.

        Two importers that claim one file are an error, so look inside what a name alone does not tell. Sidecars may
        lie beside a source or in the folder above it: AIX sees when such a file appears.
        """

    @abstractmethod
    def extract(self, sources: Sequence[Source]) -> Iterator[Rows | Problem | Ties]:
        """Go through the rows, problems and ties of sources that are read together, in batches of bounded size."""

    def likely_ties(self, source: Source) -> Sequence[int]:
        """Return numbers of the ties of a source that a glance at it shows, for a source that was not read yet.

        AIX then reads sources together at once that it would else have to read again. Reading decides: numbers that are
        missing here, or that `extract` does not give, cost time and change no row.
        """
        del source
        return ()

    def count_sessions(self, sources: Sequence[Source]) -> int:
        """Return about how many sessions these sources hold, without reading them: one for each group, here.

        Messages before the first import show it.
        """
        return len({source.group or source.name for source in sources if not source.may_hold_secrets})

    def default_places(self) -> Iterable[Path]:
        """Return the folders in which the tool keeps its logs on this machine, whether they exist or not."""
        return ()

    def retention(self, place: Path) -> Retention | None:
        """Return how long the tool keeps the logs in one of the default places; None when it deletes none."""
        del place
        return None

    def resume_command(self, session: LoggedSession) -> Sequence[str]:
        """Return the command with which the tool goes on with a session, word for word; empty when it has none.

        AIX prints it for the folder of the session, quoted for a shell, and runs nothing. Give none for an id that is
        not of the form that the tool gives: `--delete` would be an option.
        """
        del session
        return ()

    def fingerprint(self, source: Source) -> str:
        """Return a hash of everything that the rows of a source depend on."""
        return source.stamp or content_hash(source.files)

    @property
    def origin(self) -> str:
        """The name of the logs of this importer in the ledger."""
        return self.name.replace("_", "-")


def readable(path: str) -> str:
    r"""Return a path as text that a column can hold: what is not UTF-8 in it is written as `\xff`.

    >>> print(readable("/logs/caf\udce9"))
    /logs/caf\xe9
    """
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "backslashreplace")


class RowBuffer:
    """Takes rows one by one and gives them out in batches.

    >>> buffer = RowBuffer(Source("/logs/a.jsonl"))
    >>> buffer.add("tags", entity_type="sessions", entity_id="s", tag="x", added_at=1)
    >>> [(rows.table, rows.columns["tag"]) for rows in buffer.drain()]
    [('tags', ['x'])]
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._rows: dict[tuple[str, int], list[dict[str, object]]] = {}
        self._row_count = 0
        self._characters = 0

    def add(self, table: str, /, *, copy: int = 0, **values: object) -> None:
        """Take a row; a column that is not named is NULL or its default."""
        self.put(table, values, copy)

    def put(self, table: str, row: dict[str, object], copy: int = 0) -> None:
        """Take a row that nobody changes afterwards."""
        rows = self._rows.get((table, copy))
        if rows is None:
            rows = self._rows[table, copy] = []
        rows.append(row)
        self._row_count += 1
        characters = 0
        for value in row.values():
            if value.__class__ is str:
                characters += len(value)
        self._characters += characters

    def is_full(self) -> bool:
        """Whether the rows should be drained before more are added."""
        return self._row_count >= _MOST_ROWS or self._characters >= _MOST_CHARACTERS

    def drain(self) -> Iterator[Rows]:
        """Give out all rows."""
        taken, self._rows = self._rows, {}
        self._row_count = self._characters = 0
        for (table, copy), rows in taken.items():
            names = set().union(*rows)
            unknown = names.difference(TABLES[table].column_names)
            if unknown:
                raise TypeError(f"the table {table} has no column {', '.join(sorted(unknown))}")
            are_whole = all(len(row) == len(names) for row in rows)
            columns = {
                name: list(map(itemgetter(name), rows)) if are_whole else [row.get(name) for row in rows]
                for name in TABLES[table].column_names
                if name in names
            }
            yield Rows(self._source, table, columns, copy)


class FileHash(msgspec.Struct, frozen=True):
    """The hash and size of a file."""

    whole: str
    size_bytes: int
    head: str | None
    """Hash of the beginning that was asked for; None when the file is shorter."""


def hash_file(path: str, head_bytes: int = -1) -> FileHash:
    """Read a file once, and return the SHA-256 of it and of its first bytes."""
    digest = hashlib.sha256()
    head = None
    size = 0
    with Path(path).open("rb", buffering=0) as file:
        while True:
            if size == head_bytes:
                head = digest.hexdigest()
            room = head_bytes - size if size < head_bytes else _PIECE_BYTES
            piece = file.read(min(room, _PIECE_BYTES))
            if not piece:
                return FileHash(digest.hexdigest(), size, head)
            digest.update(piece)
            size += len(piece)


def content_hash(files: Sequence[str]) -> str:
    """Return the SHA-256 of a file, or of the SHA-256 of several."""
    return combined_hash([hash_file(path).whole for path in files])


def combined_hash(hashes: Sequence[str]) -> str:
    """Return what stands for several hashes; one stands for itself."""
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("\n".join(hashes).encode()).hexdigest()
