"""The SQL library: where it lies, and what the header of a file says about it.

A file starts with comments of the form `-- name: value`, then comes one statement. Each column of the result has a
line `-- column NAME: TYPE; meaning`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_HEADER_LINE = re.compile(r"-- (?P<name>[a-z_ ]+): (?P<value>.+)")
_COLUMN = "column "


@dataclass(frozen=True)
class Query:
    """One SQL file."""

    name: str
    sql: str
    """The whole file, header included: it runs as it is."""
    header: Mapping[str, str]
    """The first value of each name but those of columns."""
    columns: Mapping[str, str]
    """By name: type and meaning."""


def query_root() -> Path:
    """Return the folder that holds the packs of SQL files."""
    package = Path(__file__).parent
    installed = package / "queries"
    return installed if installed.is_dir() else package.parent / "queries"


def query_names() -> list[str]:
    """Return the name of every query: its path below the root, without suffix.

    >>> "overview/table_rows" in query_names()
    True
    """
    root = query_root()
    return sorted(path.relative_to(root).with_suffix("").as_posix() for path in root.rglob("*.sql"))


def read_query(name: str) -> Query:
    """Return the query of that name.

    >>> read_query("overview/table_rows").columns["row_count"]
    'BIGINT; how many rows it holds'
    """
    sql = (query_root() / f"{name}.sql").read_text("utf-8")
    header: dict[str, str] = {}
    columns: dict[str, str] = {}
    for line in sql.splitlines():
        match = _HEADER_LINE.fullmatch(line)
        if match is None:
            break
        named, value = match["name"], match["value"]
        if named.startswith(_COLUMN):
            columns[named.removeprefix(_COLUMN)] = value
        else:
            header.setdefault(named, value)
    return Query(name, sql, header, columns)
