"""Damaged databases and transcripts: each is named in a problem, hides no other, and is read as far as possible."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from aix.importing import Problem, Rows
from aix_importers.cursor import CursorImporter
from tests.cursor.databases import GLOBAL, composer, prompt, sources_in, write_database

WORKSPACE = "Cursor/User/workspaceStorage/aaaa/state.vscdb"
STORE = ".cursor/chats/0123456789abcdef0123456789abcdef/s-1/store.db"
TRACKING = ".cursor/ai-tracking/ai-code-tracking.db"
HEALTHY = "cursor:c-healthy"


def read_together(folder: Path) -> tuple[set[object], list[Problem]]:
    """Return the sessions in a folder, all of it read together, and the problems."""
    labels: set[object] = set()
    problems: list[Problem] = []
    for piece in CursorImporter({}).extract(sources_in(folder)):
        if isinstance(piece, Problem):
            problems.append(piece)
        elif isinstance(piece, Rows) and piece.table == "sessions":
            labels.update(piece.columns["label"])
    return labels, problems


def damaged_schema(path: Path) -> None:
    """Write bytes that are not UTF-8 into the definition of the last table."""
    data = path.read_bytes()
    at = data.index(b"CREATE TABLE", 100)
    path.write_bytes(data[: at + 7] + b"\xff\xc3\xfe" + data[at + 10 :])


def damaged_header(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:16] + b"\xff" * 84 + data[100:])


def damaged_schema_page(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:100] + bytes(range(256)) * 12 + data[100 + 12 * 256 :])


DAMAGES = [damaged_schema, damaged_header, damaged_schema_page]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("place", [GLOBAL, WORKSPACE, STORE, TRACKING])
def test_a_damaged_database_hides_no_other(tmp_path: Path, place: str, damage: Callable[[Path], None]) -> None:
    for name in (GLOBAL, WORKSPACE):
        rows = composer("c-healthy", [prompt("p1", 0, "Ask")]) if name != place else []
        write_database(tmp_path / name, rows)
    write_database(tmp_path / place)
    damage(tmp_path / place)
    labels, problems = read_together(tmp_path)
    assert labels == {HEALTHY}
    assert {problem.source.path for problem in problems} == {str(tmp_path / place)}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_backup_hides_nothing(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    path = write_database(tmp_path / GLOBAL, composer("c-healthy", [prompt("p1", 0, "Ask")]))
    backup = Path(f"{path}.backup")
    backup.write_bytes(path.read_bytes())
    damage(backup)
    assert read_together(tmp_path)[0] == {HEALTHY}


@pytest.mark.skipif(os.name != "posix", reason="only there names may be any bytes")
def test_a_folder_whose_name_is_not_utf_8_hides_nothing(tmp_path: Path) -> None:
    write_database(tmp_path / GLOBAL, composer("c-healthy", [prompt("p1", 0, "Ask")]))
    folder = tmp_path / "Cursor/User/workspaceStorage" / os.fsdecode(b"caf\xe9")
    try:
        folder.mkdir(parents=True)
    except OSError:
        pytest.skip("this file system wants UTF-8")
    write_database(tmp_path / "other.vscdb", composer("c-other", [prompt("p2", 0, "Ask")]))
    (tmp_path / "other.vscdb").rename(folder / "state.vscdb")
    assert read_together(tmp_path) == ({HEALTHY, "cursor:c-other"}, [])


def test_a_damaged_database_that_is_read_with_others_hides_none_of_them(tmp_path: Path) -> None:
    """The damage comes after the sources were found."""
    write_database(tmp_path / GLOBAL, composer("c-1", [prompt("p1", 0, "Ask")]))
    other = write_database(tmp_path / WORKSPACE, composer("c-2", [prompt("p2", 0, "Ask")]))
    sources = sources_in(tmp_path)
    damaged_header(other)
    found = list(CursorImporter({}).extract(sources))
    labels = [piece.columns["label"] for piece in found if isinstance(piece, Rows) and piece.table == "sessions"]
    assert labels == [["cursor:c-1"]]
    assert [piece.kind for piece in found if isinstance(piece, Problem)] == ["unreadable"]
