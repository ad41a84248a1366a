"""The index of the texts of a group of files: an SQLite database with a full-text table.

    LEDGER/cache/GROUP/texts-DIGEST.sqlite

Files of a group never change, and the digest names them: so an index is either missing or right. It holds no text, only
which words stand where. Rows of dead families are in it, as in the files; each turn has the number of its family, and
a search leaves the dead ones out. An index goes with its group, by `aix vacuum` and `aix forget`.

A text has the number of its row in `item`, times eight, plus the number of its kind: a row has texts of several kinds.
"""

import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from aix.errors import LedgerUnwritableError, SearchUnavailableError, WorkerDiedError
from aix.search.texts import COLUMNS, KINDS, WEIGHTS, TextKind, texts_of, tool_of
from aix.search.words import TOKENIZER, spaced
from aix.store.cache_files import check_cache, keep_in_cache
from aix.store.durable import writing_to
from aix.store.manifest import CACHE_FOLDER, COMPONENT, Manifest, Segment, groups_of, segment_path, ungrouped_cache
from aix.store.stored_files import is_regular
from aix.thread_pool import ahead
from aix.version import SEARCH_VERSION

if TYPE_CHECKING:
    import pyarrow as pa

_PREFIX, _SUFFIX = "texts-", ".sqlite"
_TABLES = ("turns", *COLUMNS)
_SCHEMA = f"""
    create table turn (number integer primary key, id text not null, component integer);
    create table tool (number integer primary key, name text not null);
    create table item (
      number integer primary key, turn integer, file integer not null, row integer not null, tool integer,
      is_failed integer not null
    );
    create table size (texts integer not null, characters integer not null);
    create virtual table words using fts5 (text, content = '', tokenize = '{TOKENIZER}');
"""
_HELD_BYTES = 32 * 2**20
"""Of the words that wait to be written: each time they are, the index gets a part more that queries look into."""
_KIND_BITS = 3
_OTHER_KINDS = 2**_KIND_BITS - 1
_FEWEST_WORKERS = 2
_LEAST_BYTES_FOR_WORKERS = 8 * 2**20
"""Of files that are to be indexed: to start workers takes as long as to index a tenth of that."""
_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}
_WEIGHT = " ".join(f"when {number} then {WEIGHTS[kind]}" for number, kind in enumerate(KINDS))
_BEST_TEXTS = f"""
    with hit as materialized (select rowid as number, bm25(words) as score from words where words match $match),
    best as materialized (
      select i.turn, count(*) as texts, i.file, i.row, h.number & {_OTHER_KINDS} as kind,
        max(-h.score * case h.number & {_OTHER_KINDS} {_WEIGHT} end) as score
      from hit h join item i on i.number = h.number >> {_KIND_BITS}
      where true %s
      group by i.turn
    )
    select t.id, b.score, b.texts, cast(b.file as integer), cast(b.row as integer), b.kind, count(*) over () as turns
    from best b join turn t on t.number = b.turn
    where true %s
    order by b.score desc, t.id
"""  # noqa: S608 - made of numbers
_COUNT = "select count(*) from words where words match ?"
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Conditions:
    """Conditions that a text must meet besides its words; None and False hold for all."""

    kinds: Collection[TextKind] | None = None
    tool: str | None = None
    is_failed: bool = False
    turns: Collection[str] | None = None


@dataclass(frozen=True)
class Best:
    """The best text of a turn, and how many of its texts were found."""

    turn_id: str
    score: float
    texts: int
    table: str
    path: Path
    row: int
    kind: TextKind

    def weighted(self, factor: float) -> "Best":
        """Return the same with another score."""
        return replace(self, score=self.score * factor)


class TextIndex:
    """The index of one group of files of a version."""

    def __init__(self, ledger: Path, manifest: Manifest, group: str | None, files: dict[str, list[Segment]]) -> None:
        self._ledger = ledger
        self._version = manifest.version
        self._dead = manifest.dead[group].components if group in manifest.dead else ()
        self._turns = files.get("turns", [])
        self._files = [(table, segment) for table in COLUMNS for segment in _in_order(files.get(table, ()))]
        folder = ledger / CACHE_FOLDER / (group or ungrouped_cache(manifest))
        self.path = folder / f"{_PREFIX}{_digest(files)}{_SUFFIX}"

    @property
    def size_bytes(self) -> int:
        """How large the files are whose texts it has."""
        return sum(segment.size_bytes or 0 for _, segment in self._files)

    @property
    def is_made(self) -> bool:
        """Whether it is in the cache."""
        return is_regular(self.path)

    def make(self) -> Iterator[int]:
        """Make it, and put it into the cache; give, step by step, how many bytes of the files are in it."""
        with writing_to(self._ledger), keep_in_cache(self._ledger, self._version, self.path) as part:
            descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            try:
                with closing(sqlite3.connect(part, isolation_level=None)) as database:
                    yield from self._fill(database)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def open(self) -> sqlite3.Connection:
        """Open it for reading; where the cache cannot be written, make it for this once."""
        if not self.is_made:
            return self.make_for_once()
        return sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)

    def make_for_once(self) -> sqlite3.Connection:
        """Make it in a file without a name, which goes when it is closed."""
        database = sqlite3.connect("", isolation_level=None)
        try:
            for _ in self._fill(database):
                pass
        except sqlite3.Error as error:
            database.close()
            raise SearchUnavailableError(str(error)) from error
        return database

    def discard(self) -> None:
        """Remove an index that cannot be read."""
        with suppress(OSError):
            self.path.unlink()

    def _fill(self, database: sqlite3.Connection) -> Iterator[int]:
        for setting in ("journal_mode = off", "synchronous = off", "temp_store = memory", "cache_size = -32768"):
            database.execute(f"pragma {setting}")
        database.executescript(_SCHEMA)
        for name, value in (("hashsize", _HELD_BYTES), ("automerge", 0), ("crisismerge", 2000)):
            database.execute("insert into words (words, rank) values (?, ?)", (name, value))
        database.execute("begin")
        yield from _Filling(database).fill(self._ledger, self._turns, self._files)
        database.execute("commit")

    def best(
        self, database: sqlite3.Connection, match: str, conditions: Conditions, limit: int | None
    ) -> tuple[list[Best], int]:
        """Return the best text of each turn that has one, the best first, and how many such turns there are."""
        of_texts, of_turns = self._conditions(database, conditions)
        sql = _BEST_TEXTS % (of_texts, of_turns)
        given = {"match": match, "tool": conditions.tool, "limit": -1 if limit is None else limit}
        rows = database.execute(f"{sql} limit $limit", given).fetchall()
        found = []
        for turn_id, score, texts, file, row, kind, _ in rows:
            if not 0 <= file < len(self._files):
                raise sqlite3.DatabaseError("it names a file that its group does not have")
            table, segment = self._files[file]
            path = segment_path(self._ledger, segment)
            found.append(Best(turn_id, score, texts, table, path, row, KINDS[kind]))
        return found, rows[0][-1] if rows else 0

    def _conditions(self, database: sqlite3.Connection, conditions: Conditions) -> tuple[str, str]:
        of_texts, of_turns = "", ""
        if conditions.kinds is not None:
            numbers = ", ".join(str(KINDS.index(kind)) for kind in conditions.kinds)
            of_texts += f" and h.number & {_OTHER_KINDS} in ({numbers})"
        if conditions.tool is not None:
            of_texts += " and i.tool in (select number from tool where lower(name) = lower($tool))"
        if conditions.is_failed:
            of_texts += " and i.is_failed"
        if self._dead:
            of_turns += f" and (t.component is null or t.component not in ({', '.join(map(str, self._dead))}))"
        if conditions.turns is not None:
            database.execute("create temp table wanted (id text primary key) without rowid")
            database.executemany("insert into wanted values (?)", ((turn,) for turn in conditions.turns))
            of_turns += " and t.id in (select id from wanted)"
        return of_texts, of_turns

    def count(self, database: sqlite3.Connection, matches: Iterable[str]) -> tuple[int, list[int]]:
        """Return how many texts there are, and in how many of them each of these is found."""
        [(texts,)] = database.execute("select sum(texts) from size").fetchall()
        return int(texts or 0), [int(database.execute(_COUNT, (match,)).fetchone()[0]) for match in matches]


class _Filling:
    """The rows of an index while they are written."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._turns: dict[str, int] = {}
        self._turns_of_messages: dict[str, int | None] = {}
        self._tools: dict[str, int] = {}
        self._paths: set[tuple[int | None, str]] = set()
        self._items = self._texts = self._characters = 0

    def fill(self, ledger: Path, turns: Iterable[Segment], files: list[tuple[str, Segment]]) -> Iterator[int]:
        """Write the texts of all files; give, step by step, how many of their bytes were read."""
        for segment in turns:
            self._add_turns(segment_path(ledger, segment))
        for file, (table, segment) in enumerate(files):
            rows = 0
            path = segment_path(ledger, segment)
            for group in ahead(_row_groups(path, COLUMNS[table])):
                self._add(table, file, rows, zip(*(column.to_pylist() for column in group.columns), strict=True))
                rows += group.num_rows
                yield round((segment.size_bytes or 0) * group.num_rows / max(segment.rows, 1))
        self._database.executemany("insert into tool values (?, ?)", ((n, name) for name, n in self._tools.items()))
        self._database.execute("insert into size values (?, ?)", (self._texts, self._characters))

    def _add_turns(self, path: Path) -> None:
        for batch in _row_groups(path, ("id", COMPONENT)):
            components = batch.column(COMPONENT).to_pylist() if COMPONENT in batch.column_names else ()
            rows = list(zip_longest(batch.column("id").to_pylist(), components))
            first = len(self._turns)
            self._turns.update((turn_id, number) for number, (turn_id, _) in enumerate(rows, first))
            self._database.executemany(
                "insert into turn values (?, ?, ?)", ((n, *row) for n, row in enumerate(rows, first))
            )

    def _add(self, table: str, file: int, first_row: int, rows: Iterable[tuple[Any, ...]]) -> None:
        items: list[tuple[object, ...]] = []
        texts: list[tuple[int, str]] = []
        for place, row in enumerate(rows, first_row):
            turn = self._turn_of(table, row)
            number = self._items + len(items)
            tool, is_failed = tool_of(table, row)
            tool_number = None if tool is None else self._tools.setdefault(tool, len(self._tools))
            items.append((number, turn, file, place, tool_number, is_failed))
            for kind, text in texts_of(table, row):
                if kind is TextKind.PATH:
                    if (turn, text) in self._paths:
                        continue
                    self._paths.add((turn, text))
                self._characters += len(text)
                texts.append(((number << _KIND_BITS) + _NUMBERS[kind], spaced(text)))
        self._items += len(items)
        self._texts += len(texts)
        self._database.executemany("insert into item values (?, ?, ?, ?, ?, ?)", items)
        self._database.executemany("insert into words (rowid, text) values (?, ?)", texts)

    def _turn_of(self, table: str, row: tuple[Any, ...]) -> int | None:
        if table == "message_files":
            return self._turns_of_messages.get(row[0])
        turn = self._turns.get(row[0])
        if table == "messages":
            self._turns_of_messages[row[1]] = turn
        return turn


def _row_groups(path: Path, columns: Iterable[str]) -> "Iterator[pa.Table]":
    """Go through a file a row group at a time, with those of the columns that it has."""
    import pyarrow.parquet as pq

    from aix.store.segments import reading

    with reading(path), pq.ParquetFile(path) as file:
        known = [name for name in columns if name in file.schema_arrow.names]
        for number in range(file.num_row_groups):
            yield file.read_row_group(number, columns=known)


def _in_order(segments: Iterable[Segment]) -> list[Segment]:
    """Return files in the one order by which an index numbers them."""
    return sorted(segments, key=lambda segment: segment.path)


def _digest(files: dict[str, list[Segment]]) -> str:
    """Return what changes with the files of a group, and with the form of an index."""
    paths = [segment.path for table in _TABLES for segment in _in_order(files.get(table, ()))]
    return sha256("\0".join([str(SEARCH_VERSION), *paths]).encode()).hexdigest()[:16]


def text_indexes(ledger: Path, manifest: Manifest) -> list[TextIndex]:
    """Return the index of each group of a version that has texts, whether it is made or not."""
    groups = groups_of(manifest.tables).items()
    indexes = [TextIndex(ledger, manifest, group, files) for group, files in groups if COLUMNS.keys() & files.keys()]
    for index in indexes:
        check_cache(ledger, index.path.parent)
    return indexes


def is_index_of(version: Manifest, path: Path) -> bool:
    """Whether a file in the cache is an index of a version, in the form of today."""
    groups = groups_of(version.tables).items()
    return any(
        path.parent.name == (group or ungrouped_cache(version)) and path.name == f"{_PREFIX}{_digest(files)}{_SUFFIX}"
        for group, files in groups
    )


def _ignore(_: int) -> None:
    pass


class Cached(Protocol):
    """A file of the cache that follows from the files of a group."""

    @property
    def size_bytes(self) -> int:
        """How large the files are that it follows from."""

    def make(self) -> Iterator[int]:
        """Make it; give, step by step, how many bytes of the files are in it."""


def make_indexes(ledger: Path, manifest: Manifest, progress: Progress = _ignore, workers: int = 1) -> None:
    """Make the indexes of a version that are missing; where the cache cannot be written, none.

    More workers than one are processes, which only a program can start whose main module may be imported again.
    """
    make_in_cache([index for index in text_indexes(ledger, manifest) if not index.is_made], progress, workers)


def make_in_cache(missing: Sequence[Cached], progress: Progress, workers: int) -> None:
    """Make files of the cache; where it cannot be written, none."""
    if sum(index.size_bytes for index in missing) < _LEAST_BYTES_FOR_WORKERS:
        workers = 1
    with suppress(LedgerUnwritableError, OSError, sqlite3.OperationalError):
        for done in _made(missing, min(workers, len(missing))):
            progress(done)


def _make(index: Cached) -> Iterator[int]:
    yield from index.make()


def _made(indexes: Sequence[Cached], workers: int) -> Iterator[int]:
    """Make indexes; give, step by step, how many bytes of files went into them."""
    if workers < _FEWEST_WORKERS:
        for index in indexes:
            yield from index.make()
        return
    from aix.workers import map_in_workers

    largest_first = sorted(indexes, key=lambda index: -index.size_bytes)
    for _, done in map_in_workers(_make, largest_first, workers):
        if isinstance(done, WorkerDiedError):
            raise done
        yield done
