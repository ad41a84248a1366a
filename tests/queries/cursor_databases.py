"""The databases of Cursor among the logs of the library and of permission audits: their rows as SQL, and the files.

python -m tests.queries.cursor_databases    write the databases from the SQL beside them
"""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests import ROOT

_FIXTURES = ROOT / "fixtures"
LOGS = (_FIXTURES / "library" / "cursor", _FIXTURES / "permissions" / "logs" / "cursor")
_TABLES = ("ItemTable", "cursorDiskKV")
_SMALLEST_PAGE = 512

Rows = list[tuple[object, ...]]


def scripts() -> list[Path]:
    """Return the SQL of every database, each beside its database and named like it."""
    return sorted(script for folder in LOGS for script in folder.rglob("*.vscdb.sql"))


def rows_of_database(path: Path) -> Rows:
    """Return what a database holds, without opening it for writing."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as database:
        return _rows(database)


def rows_of_script(path: Path) -> Rows:
    """Return what a database made by this SQL holds."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(path.read_text("utf-8"))
        return _rows(database)


def _rows(database: sqlite3.Connection) -> Rows:
    return [(table, *row) for table in _TABLES for row in database.execute(f"SELECT * FROM {table} ORDER BY key")]


def write_database(script: Path) -> Path:
    """Write the database that belongs to this SQL."""
    path = script.with_suffix("")
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA page_size = {_SMALLEST_PAGE}")
        database.executescript(script.read_text("utf-8"))
    return path


if __name__ == "__main__":
    for each in scripts():
        print(write_database(each))
