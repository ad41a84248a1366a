"""Databases of a program that runs, that holds them locked, or that has left them damaged."""

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from aix.importing import Problem, Rows
from aix_importers.cursor import CursorImporter
from aix_importers.cursor.key_values import KeyValues
from tests.importers.cursor.databases import GLOBAL, Row, answer, composer, prompt, sources_in, write_database

PAGE = 4096


def conversations(number: int, size: int = 3_000) -> list[Row]:
    rows: list[Row] = []
    for each in range(number):
        bubbles = [prompt(f"p{each}", 0, "Ask " * 20), answer(f"a{each}", 2, "word " * (size // 5))]
        rows += composer(f"c-{each:03}", bubbles)
    return rows


def read(folder: Path) -> tuple[set[object], set[str]]:
    """Return the sessions in a folder, and the kinds of problems."""
    labels: set[object] = set()
    problems: set[str] = set()
    for source in sources_in(folder):
        for piece in CursorImporter({}).extract([source]):
            if isinstance(piece, Rows) and piece.table == "sessions":
                labels.update(piece.columns["label"])
            elif isinstance(piece, Problem):
                problems.add(piece.kind)
    return labels, problems


def test_what_only_the_log_of_writes_holds_is_read(tmp_path: Path) -> None:
    path = write_database(tmp_path / GLOBAL, composer("c-1", [prompt("p1", 0, "Old")]))
    with closing(sqlite3.connect(path, isolation_level=None)) as editor:
        editor.execute("PRAGMA journal_mode = WAL")
        editor.execute("PRAGMA wal_autocheckpoint = 0")
        editor.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", composer("c-2", [prompt("p2", 0, "New")]))
        assert read(tmp_path) == ({"cursor:c-1", "cursor:c-2"}, set())
        editor.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", composer("c-3", [prompt("p3", 0, "Newer")]))


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_a_database_that_is_locked_is_read(tmp_path: Path, mode: str) -> None:
    path = write_database(tmp_path / GLOBAL, composer("c-1", [prompt("p1", 0, "Old")]))
    with closing(sqlite3.connect(path, isolation_level=None)) as editor:
        editor.execute(f"PRAGMA journal_mode = {mode}")
        editor.execute("BEGIN EXCLUSIVE")
        assert read(tmp_path) == ({"cursor:c-1"}, set())
        editor.execute("INSERT INTO cursorDiskKV VALUES ('x', 'y')")
        editor.execute("COMMIT")


def test_a_reader_neither_changes_nor_holds_a_database(tmp_path: Path) -> None:
    path = write_database(tmp_path / GLOBAL, conversations(3))
    before = path.read_bytes()
    with KeyValues(str(path)) as values:
        assert len(list(values.keys("bubbleId:"))) == 6
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as editor:
            editor.execute("BEGIN EXCLUSIVE")
            editor.execute("ROLLBACK")
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def damage(path: Path, pages: Sequence[int]) -> None:
    with path.open("r+b") as file:
        for page in pages:
            file.seek(page * PAGE)
            file.write(b"\xa5" * PAGE)


def test_bad_pages_cost_no_more_than_what_lies_on_them(tmp_path: Path) -> None:
    path = write_database(tmp_path / GLOBAL, conversations(60))
    pages = path.stat().st_size // PAGE
    damage(path, [pages // 2, pages // 2 + 1])
    labels, problems = read(tmp_path)
    assert 40 <= len(labels) < 61
    assert problems & {"damaged", "unreadable_bubble", "unreadable"}


def test_a_backup_stands_in_for_bad_pages(tmp_path: Path) -> None:
    path = write_database(tmp_path / GLOBAL, conversations(60))
    shutil.copy(path, f"{path}.backup")
    pages = path.stat().st_size // PAGE
    damage(path, range(pages // 3, pages // 3 + 6))
    labels, problems = read(tmp_path)
    assert len(labels) == 60
    assert "unreadable" not in problems


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0" + b"\xff" * 8_000, b"no database"])
def test_what_is_no_database_is_named_or_left_alone(tmp_path: Path, content: bytes) -> None:
    for path in (tmp_path / GLOBAL, tmp_path / "elsewhere.vscdb"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    assert read(tmp_path) == (set(), {"unreadable"} if content else {"no_table"})
    (tmp_path / GLOBAL).unlink()
    assert read(tmp_path) == (set(), {"unreadable"} if content.startswith(b"SQLite") else set())


def test_tables_of_other_forms_are_read(tmp_path: Path) -> None:
    path = tmp_path / GLOBAL
    path.parent.mkdir(parents=True)
    rows = composer("c-1", [prompt("p1", 0, "Text"), answer("a1", 2, "Bytes")])
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE cursorDiskKV (key TEXT PRIMARY KEY, value TEXT)")
        for key, value in rows:
            hexed = str(value).encode().hex() if str(key).endswith("a1") else str(value)
            database.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (key, hexed))
    assert read(tmp_path) == ({"cursor:c-1"}, {"no_table"})
