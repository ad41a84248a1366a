"""Reading leaves folders of the user as they were, and no copies of what lies there."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from aix_importers.cursor.database import opened
from tests.importers.cursor.databases import GLOBAL, composer, import_here, prompt, write_database
from tests.support.command_line import run_aix
from tests.support.row_batches import rows_of

pytestmark = pytest.mark.long

INSERT = "INSERT INTO cursorDiskKV VALUES (?, ?)"
BOTH = {"cursor:c-1", "cursor:c-2"}


@contextmanager
def editor_of(path: Path) -> Iterator[sqlite3.Connection]:
    """Run an editor that has written its second conversation to the log alone."""
    write_database(path, composer("c-1", [prompt("p1", 0, "Old")]))
    with closing(sqlite3.connect(path, isolation_level=None)) as editor:
        editor.execute("PRAGMA journal_mode = WAL")
        shutil.copy(path, f"{path}.backup")
        editor.execute("PRAGMA wal_autocheckpoint = 0")
        editor.executemany(INSERT, composer("c-2", [prompt("p2", 0, "New")]))
        yield editor


@contextmanager
def situation(name: str, tree: Path, elsewhere: Path) -> Iterator[None]:
    path = tree / GLOBAL
    with editor_of(path if name == "running" else elsewhere / GLOBAL) as editor:
        if name == "at rest":
            editor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if name != "running":
            suffixes = {"at rest": "", "log without index": "-wal", "crashed": "-wal -shm"}[name].split()
            path.parent.mkdir(parents=True)
            for suffix in ("", ".backup", *suffixes):
                shutil.copy(f"{elsewhere / GLOBAL}{suffix}", f"{path}{suffix}")
        yield


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    found = {str(path.relative_to(folder)): path.stat() for path in folder.rglob("*")}
    return {name: (state.st_size, state.st_mtime_ns) for name, state in found.items()}


def sessions(ledger: Path) -> set[object]:
    return {row["label"] for row in rows_of(ledger, "sessions")}


@pytest.mark.parametrize("name", ["at rest", "log without index", "running", "crashed"])
def test_a_folder_is_after_reading_what_it_was(tmp_path: Path, name: str) -> None:
    tree, ledger, temporary = tmp_path / "tree", tmp_path / "ledger", tmp_path / "temporary"
    temporary.mkdir()
    with situation(name, tree, tmp_path / "elsewhere"):
        before = listing(tree)
        for command in (("import", "--jobs", "2"), ("sources",), ("import", "--jobs", "1")):
            result = run_aix(*command, str(tree), "--ledger", str(ledger), TMPDIR=str(temporary))
            assert result.returncode == 0, result.stderr
            assert listing(tree) == before
        assert sessions(ledger) == BOTH
        assert list(temporary.glob("aix-copy-*")) == []


def test_no_copy_of_a_locked_database_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree, temporary = tmp_path / "tree", tmp_path / "temporary"
    temporary.mkdir()
    rows = [row for number in (1, 2) for row in composer(f"c-{number}", [prompt(f"p{number}", 0, "Ask")])]
    path = write_database(tree / GLOBAL, rows)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with closing(sqlite3.connect(path, isolation_level=None)) as editor:
        editor.execute("BEGIN EXCLUSIVE")
        arguments = ("import", str(tree), "--ledger", str(tmp_path / "one"), "--jobs", "2")
        result = run_aix(*arguments, TMPDIR=str(temporary))
        assert result.returncode == 0, result.stderr
        import_here(tmp_path / "two", tree)
        assert list(temporary.glob("aix-copy-*")) == []
        with opened(str(path)) as database:
            assert len(database.rows("select key from cursorDiskKV")) == 4
            assert list(temporary.glob("aix-copy-*")) == []  # nor would it be if the process were killed here
    assert sessions(tmp_path / "one") == sessions(tmp_path / "two") == BOTH


def test_a_file_at_rest_that_is_written_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / GLOBAL
    with editor_of(path):
        pass
    assert not Path(f"{path}-wal").exists()
    with opened(str(path)) as database:
        assert database.rows("select count(*) from cursorDiskKV") == [(4,)]
        with closing(sqlite3.connect(path, isolation_level=None)) as editor:
            editor.executemany(INSERT, composer("c-3", [prompt("p3", 0, "x" * 50_000)]))
            assert database.rows("select count(*) from cursorDiskKV") == [(6,)]
