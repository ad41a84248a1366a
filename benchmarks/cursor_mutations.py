"""Databases of Cursor made wrong: by bytes, by tables, by keys and by values; and whether reading them loses anything.

    python benchmarks/cursor_mutations.py [--seed N] [--number N]

`mutated` damages a database, `Bench` reads it in this process, and `loss` compares what it gave with what the database
gave before. Every mutation leaves a trace that a reader can see: a row that is deleted, or a list that is emptied, is
a change and not damage.
"""

import argparse
import json
import random
import shutil
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from aix.importing import Candidate, Problem, Rows
from aix_importers.cursor import CursorImporter

FIXTURES = Path(__file__).parent.parent / "fixtures" / "cursor"
COMPARED = ("sessions", "turns", "messages", "tool_calls")
"""Tables of which no row may go without a problem."""
_DAMAGED = ("broken_rows", "damaged_items")
_PAGE = 4096
_ODD_BYTES = b'\0\xff\xc3\x80{}[]",:\\ab10'
_ODD_VALUES: list[object] = [7, -1, 1.5, True, 2**70, "x", "\ud83d", [7], [[]], [None], {"a": 1}, "[", "~AAAA"]
_TABLES = {"cursorDiskKV": ("key", "value"), "ItemTable": ("key", "value"), "blobs": ("id", "data")}
_READ_KEYS = ("composerData:%", "bubbleId:%", "workbench.panel.aichat.view.aichat.chatdata", "composer.composerData")


class Base(NamedTuple):
    """A database before it is damaged."""

    path: str
    """Below the folder that is imported."""
    data: bytes


@dataclass
class Extraction:
    """Counts of what a database gave: rows by table, and problems by kind and reason."""

    rows: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)


def bases() -> list[Base]:
    """Return the databases of the golden cases, but for those that are damaged already."""
    found = []
    for path in sorted(FIXTURES.glob("*/input/**/*.sql")):
        if path.relative_to(FIXTURES).parts[0] in _DAMAGED:
            continue
        with closing(sqlite3.connect(":memory:")) as database:
            database.executescript(path.read_text("utf-8"))
            inside = path.relative_to(FIXTURES).parts[2:]
            found.append(Base(str(Path(*inside).with_suffix("")), database.serialize()))
    return found


class Bench:
    """Reads databases that lie nowhere, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0

    def read(self, base: Base, data: bytes) -> Extraction:
        """Return the extraction of a database; its caches do not know any earlier one."""
        self._number += 1
        folder = self._folder / str(self._number)
        path = folder / base.path
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        state = path.stat()
        candidate = Candidate(str(path), state.st_size, state.st_mtime_ns, state.st_ino)
        found = Extraction()
        importer = CursorImporter({})
        for piece in importer.extract(list(importer.discover([candidate]))):
            if isinstance(piece, Rows):
                found.rows[piece.table] += len(next(iter(piece.columns.values())))
            elif isinstance(piece, Problem):
                found.problems[f"{piece.kind}: {piece.reason}"] += 1
        shutil.rmtree(folder)
        return found


def loss(before: Extraction, after: Extraction) -> str | None:
    """Say what is gone although no problem was added; nothing where all of it is there, or a problem names it."""
    if after.problems - before.problems:
        return None
    gone = {table: before.rows[table] - after.rows[table] for table in COMPARED}
    return ", ".join(f"{number} {table}" for table, number in gone.items() if number > 0) or None


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Damage a database in one to three ways."""
    changes = chance.choices(_MUTATIONS, k=chance.choice((1, 1, 2, 3)))
    if _make_utf_16 in changes:  # other changes write UTF-8
        changes = [change for change in changes if change is _make_utf_16 or change in _OF_BYTES]
    for change in sorted(changes, key=_OF_BYTES.__contains__):  # SQLite tidies up after damage to bytes
        with suppress(sqlite3.Error, UnicodeError, ValueError, IndexError, OverflowError):  # damaged too much already
            data = change(data, chance)
    return data


def _flip_bytes(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 3, 30))):
        changed[chance.randrange(len(changed))] = chance.choice((chance.choice(_ODD_BYTES), chance.randrange(256)))
    return bytes(changed)


def _flip_on_page(data: bytes, chance: random.Random) -> bytes:
    """Change the beginning of a page: its kind, its cells and where they are."""
    at = chance.randrange(max(1, len(data) // _PAGE)) * _PAGE
    at += 100 if at == 0 else 0
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        changed[at + chance.randrange(24)] = chance.randrange(256)
    return bytes(changed)


def _flip_header(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    changed[chance.randrange(100)] = chance.randrange(256)
    return bytes(changed)


def _spoil_page(data: bytes, chance: random.Random) -> bytes:
    pages = max(1, len(data) // _PAGE)
    at = chance.randrange(pages) * _PAGE
    other = chance.randrange(pages) * _PAGE
    page = chance.choice((bytes(_PAGE), chance.randbytes(_PAGE), data[other : other + _PAGE]))
    return data[:at] + page + data[at + _PAGE :]


def _truncate(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


def _damage_schema(data: bytes, chance: random.Random) -> bytes:
    at = data.index(chance.choice((b"CREATE TABLE", b"TEXT", b"key", b"value", b"BLOB", b"cursorDiskKV", b"ItemTable")))
    return data[:at] + bytes([chance.choice(b"\xff\xc3\0x(")]) + data[at + 1 :]


def _edited(data: bytes, edit: Callable[[sqlite3.Connection], object]) -> bytes:
    """Let SQLite itself make a change."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(data)
        database.text_factory = bytes
        with database:
            edit(database)
        return database.serialize()


def _table(database: sqlite3.Connection, chance: random.Random) -> str:
    names = {name.decode() for (name,) in database.execute("select name from sqlite_master where type = 'table'")}
    return str(chance.choice(sorted(names & set(_TABLES))))


def _change_table(data: bytes, chance: random.Random) -> bytes:
    def edit(database: sqlite3.Connection) -> None:
        name = _table(database, chance)
        key, value = _TABLES[name]
        change = chance.choice(
            (
                f"alter table {name} rename to other; create view {name} as select {key}, {value} from other",
                f"alter table {name} rename to other",
                f"alter table {name} rename column {key} to k",
                f"alter table {name} rename column {value} to v",
                f"alter table {name} add column extra",
                f"alter table {name} rename to other;"
                f"create table {name} ({key} text primary key, {value}) without rowid;"
                f"insert or ignore into {name} select {key}, {value} from other where {key} is not null",
                f"alter table {name} rename to other; create view {name} as select {key} from other",
                f"alter table {name} rename to other; create view {name} as select 1 as {key}, y as {value} from gone",
                f"drop table {name}" if name != "cursorDiskKV" else f"alter table {name} rename to KV",
            )
        )
        for statement in change.split(";"):
            database.execute(statement)

    return _edited(data, edit)


def _rows(database: sqlite3.Connection, name: str) -> list[tuple[int, Any, Any]]:
    """Return the rows that a reader looks at."""
    key, value = _TABLES[name]
    only = " or ".join(f"{key} like '{each}'" for each in _READ_KEYS) if name != "blobs" else "true"
    is_written = f"length({value}) > 0 and typeof({value}) in ('text', 'blob')"
    return database.execute(f"select rowid, {key}, {value} from {name} where ({only}) and {is_written}").fetchall()


def _change_key(data: bytes, chance: random.Random) -> bytes:
    def edit(database: sqlite3.Connection) -> None:
        name = _table(database, chance)
        row, key, _ = chance.choice(_rows(database, name))
        at = chance.randrange(len(key))
        form, changed = chance.choice(
            (
                ("cast(? as text)", key.upper() if key != key.upper() else key + b"\xff"),
                ("cast(? as text)", key[:at] + b"\xff" + key[at:]),
                ("cast(? as text)", key[:at] + b"\0" + key[at:]),
                ("cast(? as blob)", key),
                ("?", None),
            )
        )
        database.execute(f"update {name} set {_TABLES[name][0]} = {form} where rowid = ?", (changed, row))

    return _edited(data, edit)


def _change_value(data: bytes, chance: random.Random) -> bytes:
    def edit(database: sqlite3.Connection) -> None:
        name = _table(database, chance)
        row, _, value = chance.choice(_rows(database, name))
        form, changed = _other_value(value, chance)
        database.execute(f"update {name} set {_TABLES[name][1]} = {form} where rowid = ?", (changed, row))

    return _edited(data, edit)


def _other_value(value: bytes, chance: random.Random) -> tuple[str, object]:
    at = chance.randrange(len(value))
    return chance.choice(
        (
            ("cast(? as text)", value[:at]),
            ("cast(? as text)", value[:at] + bytes([chance.choice(_ODD_BYTES)]) + value[at + 1 :]),
            ("cast(? as blob)", value),
            ("?", None),
            ("?", chance.choice((7, 1.5))),
            ("cast(? as text)", chance.choice((b"x", b"[7]", b'"text"', b"\0" * 50))),
            ("cast(? as blob)", value.decode("utf-8", "replace").encode("utf-16")),
        )
    )


def _change_json(data: bytes, chance: random.Random) -> bytes:
    """Put a value of another type in the place of any other, however deep it lies."""

    def edit(database: sqlite3.Connection) -> None:
        name = _table(database, chance)
        row, _, value = chance.choice(_rows(database, name))
        holder = whole = json.loads(value)
        while isinstance(holder, dict | list) and holder:
            place = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
            if isinstance(holder[place], dict | list) and holder[place] and chance.random() < 0.7:
                holder = holder[place]
                continue
            before = type(holder[place])
            holder[place] = chance.choice([value for value in _ODD_VALUES if type(value) is not before])
            break
        written = json.dumps(whole)
        database.execute(f"update {name} set {_TABLES[name][1]} = ? where rowid = ?", (written, row))

    return _edited(data, edit)


def _make_utf_16(data: bytes, chance: random.Random) -> bytes:  # noqa: ARG001
    with closing(sqlite3.connect(":memory:")) as source, closing(sqlite3.connect(":memory:")) as target:
        source.deserialize(data)
        target.execute("pragma encoding = 'UTF-16'")
        target.executescript("\n".join(source.iterdump()))
        return target.serialize()


_OF_BYTES = [
    _flip_bytes,
    _flip_bytes,
    _flip_on_page,
    _flip_on_page,
    _flip_header,
    _spoil_page,
    _truncate,
    _damage_schema,
]
_MUTATIONS: list[Callable[[bytes, random.Random], bytes]] = [
    *_OF_BYTES, _change_table, _change_key, _change_value, _change_value, _change_json, _change_json, _make_utf_16,
]  # fmt: skip


class Finding(NamedTuple):
    """A mutant that was not read as it should be."""

    seed: int
    path: str
    what: str


def run(number: int, seed: int, folder: Path) -> Iterator[Finding]:
    """Go through mutants; each can be made again from its seed."""
    bench, all_bases = Bench(folder), bases()
    before = [bench.read(base, base.data) for base in all_bases]
    for at in range(seed, seed + number):
        which = at % len(all_bases)
        base = all_bases[which]
        began = time.monotonic()
        try:
            lost = loss(before[which], bench.read(base, mutated(base.data, random.Random(at))))
        except Exception as error:
            yield Finding(at, base.path, f"raised {type(error).__name__}: {error}")
            continue
        if lost:
            yield Finding(at, base.path, f"lost without a problem: {lost}")
        took = time.monotonic() - began
        if took > 10:
            yield Finding(at, base.path, f"took {took:.0f} seconds")


def main() -> int:
    """Read mutants, and name those that were not read as they should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    began = time.monotonic()
    findings = 0
    with tempfile.TemporaryDirectory() as folder:
        for finding in run(given.number, given.seed, Path(folder)):
            findings += 1
            print(*finding)
    print(f"{given.number} mutants in {time.monotonic() - began:.0f} seconds: {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
