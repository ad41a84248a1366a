"""Tables of conversations with other names, columns or forms than Cursor gives them: read, or named."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.importers.cursor.databases import GLOBAL, as_json, write_database
from tests.importers.cursor.test_damage import SPLIT, edited, read_together

TABLES = {
    "view": ["ALTER TABLE cursorDiskKV RENAME TO kept", "CREATE VIEW cursorDiskKV AS SELECT key, value FROM kept"],
    "renamed": ["ALTER TABLE cursorDiskKV RENAME TO kept"],
    "renamed with a digit": ["ALTER TABLE cursorDiskKV RENAME TO cursorDiskKV2"],
    "renamed to a word of SQL": ['ALTER TABLE cursorDiskKV RENAME TO "order"'],
    "NULL first": [
        "CREATE TABLE other (key TEXT, data BLOB, updated INTEGER)",
        "INSERT INTO other VALUES ('bubbleId:c-1:0', NULL, 4)",
        "INSERT INTO other SELECT key, value, 5 FROM cursorDiskKV",
        "DROP TABLE cursorDiskKV",
        "ALTER TABLE other RENAME TO cursorDiskKV",
    ],
    "computed column": [
        "CREATE TABLE other (k TEXT, v BLOB, size AS (length(v)))",
        "INSERT INTO other SELECT key, value FROM cursorDiskKV",
        "DROP TABLE cursorDiskKV",
        "ALTER TABLE other RENAME TO cursorDiskKV",
    ],
    "value first": [
        "CREATE TABLE other (v BLOB, k TEXT)",
        "INSERT INTO other SELECT value, key FROM cursorDiskKV",
        "DROP TABLE cursorDiskKV",
        "ALTER TABLE other RENAME TO cursorDiskKV",
    ],
    "columns around": [
        "CREATE TABLE other (id INTEGER, k TEXT, v BLOB, extra TEXT)",
        "INSERT INTO other SELECT rowid, key, value, 'x' FROM cursorDiskKV",
        "DROP TABLE cursorDiskKV",
        "ALTER TABLE other RENAME TO cursorDiskKV",
    ],
    "column behind": [
        "CREATE TABLE other (key TEXT, data BLOB, updated INTEGER)",
        "INSERT INTO other SELECT key, value, 5 FROM cursorDiskKV",
        "DROP TABLE cursorDiskKV",
        "ALTER TABLE other RENAME TO cursorDiskKV",
    ],
    "name of key": ["ALTER TABLE cursorDiskKV RENAME COLUMN key TO k"],
    "name of value": ["ALTER TABLE cursorDiskKV RENAME COLUMN value TO v"],
    "both": ["ALTER TABLE cursorDiskKV RENAME COLUMN key TO k", "ALTER TABLE cursorDiskKV RENAME COLUMN value TO v"],
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_another_form_is_named_and_read(tmp_path: Path, name: str) -> None:
    edited(write_database(tmp_path / GLOBAL, SPLIT), *TABLES[name])
    labels, problems = read_together(tmp_path)
    assert (labels, [problem.kind for problem in problems]) == ({"cursor:c-1"}, ["odd_table"])


UNREADABLE_TABLES = {
    "dropped": ["DROP TABLE cursorDiskKV"],
    "view of nothing": ["DROP TABLE cursorDiskKV", "CREATE VIEW cursorDiskKV AS SELECT key, value FROM gone"],
    "one column": ["DROP TABLE cursorDiskKV", "CREATE TABLE cursorDiskKV (key TEXT)"],
    "endless view": [
        "DROP TABLE cursorDiskKV",
        "CREATE VIEW cursorDiskKV AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)"
        " SELECT 'composerData:' || n AS key, 'x' AS value FROM r",
    ],
}


@pytest.mark.parametrize("name", UNREADABLE_TABLES)
def test_a_table_that_cannot_be_read_is_named(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aix_importers.cursor.database._MOST_WORK", 5)
    edited(write_database(tmp_path / GLOBAL, SPLIT), *UNREADABLE_TABLES[name])
    labels, problems = read_together(tmp_path)
    assert labels == set()
    assert {problem.kind for problem in problems} <= {"no_table", "odd_table"}
    assert problems


def test_a_view_of_a_damaged_table_is_named(tmp_path: Path) -> None:
    more = [(f"bubbleId:c-1:{number:0200}", as_json({"type": 1, "text": "Ask"})) for number in range(100)]
    path = write_database(tmp_path / GLOBAL, [*SPLIT, *more])
    edited(path, *TABLES["view"])
    with closing(sqlite3.connect(path)) as database:
        [(size,)] = database.execute("PRAGMA page_size")
    data = bytearray(path.read_bytes())
    leaf_of_index = max(at for at in range(0, len(data), size) if data[at] == 10)
    data[leaf_of_index + 8 : leaf_of_index + 10] = b"\xff\xff"  # its rows can be counted, and not be read
    path.write_bytes(data)
    assert {problem.kind for problem in read_together(tmp_path)[1]} >= {"damaged", "odd_table"}


def test_a_renamed_table_whose_index_is_damaged_is_found(tmp_path: Path) -> None:
    path = write_database(tmp_path / GLOBAL, SPLIT)
    edited(path, *TABLES["renamed"])
    with closing(sqlite3.connect(path)) as database:
        [(size,)] = database.execute("PRAGMA page_size")
        [(root,)] = database.execute("SELECT rootpage FROM sqlite_master WHERE type = 'index' AND tbl_name = 'kept'")
    data = bytearray(path.read_bytes())
    data[(root - 1) * size + 3 : (root - 1) * size + 5] = b"\0\0"  # it has no keys
    path.write_bytes(data)
    labels, problems = read_together(tmp_path)
    assert (labels, {problem.kind for problem in problems}) == ({"cursor:c-1"}, {"damaged", "odd_table"})
