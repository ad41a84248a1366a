"""The index of the texts of a group of files: an SQLite database with a full-text table.

    LEDGER/cache/GROUP/texts-DIGEST.sqlite

It holds no text, only which words stand where. Rows of dead families are in it, as in the files; each turn has the
number of its family, and a search leaves the dead ones out.

A text has the number of its row in `item`, times eight, plus the number of its kind: a row has texts of several kinds.
"""

import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from aix.errors import LedgerUnwritableError, SearchUnavailableError
from aix.search.texts import COLUMNS, KINDS, WEIGHTS, TextKind, texts_of, tool_of
from aix.search.words import TOKENIZER, spaced
from aix.store.cache_files import CacheFile, numbered_row_groups
from aix.store.manifest import COMPONENT, Segment, segment_path
from aix.store.stored_files import is_regular
from aix.thread_pool import ahead
from aix.version import SEARCH_VERSION

_TURNS = "turns"
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


class TextIndex(CacheFile):
    """The index of one group of files of a version."""

    prefix, suffix = "texts", ".sqlite"
    form = SEARCH_VERSION
    tables = (_TURNS, *COLUMNS)

    @property
    def is_made(self) -> bool:
        """Whether it is in the cache."""
        return is_regular(self.path)

    def make(self) -> Iterator[int]:
        """Make it, and put it into the cache; give, step by step, how many bytes of the files are in it."""
        with self.keeping() as part:
            descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            try:
                with closing(sqlite3.connect(part, isolation_level=None)) as database:
                    yield from self._fill(database)
                os.fsync(descriptor)
            except sqlite3.OperationalError as error:
                raise LedgerUnwritableError(self.ledger, str(error)) from error
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

    @property
    def _texts(self) -> list[tuple[str, Segment]]:
        """The files with texts, each with its table; its place is its number in the index."""
        return [(table, segment) for table in COLUMNS for segment in self.files.get(table, ())]

    def _fill(self, database: sqlite3.Connection) -> Iterator[int]:
        for setting in ("journal_mode = off", "synchronous = off", "temp_store = memory", "cache_size = -32768"):
            database.execute(f"pragma {setting}")
        database.executescript(_SCHEMA)
        for name, value in (("hashsize", _HELD_BYTES), ("automerge", 0), ("crisismerge", 2000)):
            database.execute("insert into words (words, rank) values (?, ?)", (name, value))
        database.execute("begin")
        yield from _Filling(database).fill(self.ledger, self.files.get(_TURNS, ()), self._texts)
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
            if not 0 <= file < len(self._texts):
                raise sqlite3.DatabaseError("it names a file that its group does not have")
            table, segment = self._texts[file]
            path = segment_path(self.ledger, segment)
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
        if self.dead:
            of_turns += f" and (t.component is null or t.component not in ({', '.join(map(str, self.dead))}))"
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

    def fill(self, ledger: Path, turns: Sequence[Segment], files: list[tuple[str, Segment]]) -> Iterator[int]:
        """Write the texts of all files; give, step by step, how many of their bytes were read."""
        for segment in turns:
            self._add_turns(segment_path(ledger, segment))
        for file, (table, segment) in enumerate(files):
            rows = 0
            path = segment_path(ledger, segment)
            for group in ahead(numbered_row_groups(path, COLUMNS[table])):
                self._add(
                    table, file, rows, zip(*(group.column(name).to_pylist() for name in COLUMNS[table]), strict=True)
                )
                rows += group.num_rows
                yield round((segment.size_bytes or 0) * group.num_rows / max(segment.rows, 1))
        self._database.executemany("insert into tool values (?, ?)", ((n, name) for name, n in self._tools.items()))
        self._database.execute("insert into size values (?, ?)", (self._texts, self._characters))
        yield sum(segment.size_bytes or 0 for segment in turns)

    def _add_turns(self, path: Path) -> None:
        for batch in numbered_row_groups(path, ("id",)):
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
