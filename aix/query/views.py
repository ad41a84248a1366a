"""The building blocks of queries: a file in `queries/views` is a view of that name.

A view may stand on others; each is created after those that it names. It may read parameters as a query does: those of
the query that stands on it. To create all of them takes as long as to open the ledger, so a connection gets those that
a statement names when it names them.
"""

import re
from collections.abc import Container, Iterable, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

from aix.errors import LedgerDamagedError, QueryFileError
from aix.query.packs import VIEWS, library_views_digest
from aix.query.query_file import Query, query_root, read_query_file
from aix.schema import TABLES
from aix.schema.sql import empty_select, quote_name

if TYPE_CHECKING:
    import duckdb

_NONE_KEPT: Mapping[str, str] = {}
_WORD = re.compile(r"\w+")
_COMMENT = re.compile("--.*")
# A statement that asks which tables and views there are finds all of them.
_LOOKING_AROUND = {
    *("show", "information_schema", "pragma_table_info", "duckdb_columns", "duckdb_views"),
    *("sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_temp_schema"),
    *("pg_attribute", "pg_class", "pg_views"),
}
_DESCRIBING = {"describe", "desc"}
"""Of nothing by name, they list everything; `desc` can also be the order of rows."""


def read_views(folder: Path) -> dict[str, Query]:
    """Return the views of a folder by name, each after those that it stands on."""
    views = {path.stem: read_query_file(path.stem, path) for path in sorted(folder.glob("*.sql"))}
    graph = {name: sorted(view.names & views.keys() - {name}) for name, view in views.items()}
    try:
        return {name: views[name] for name in TopologicalSorter(graph).static_order()}
    except CycleError as error:
        circle = error.args[1]
        raise QueryFileError(views[circle[0]].path, 1, f"views stand on each other: {', '.join(circle)}") from error


@cache
def library_views() -> dict[str, Query]:
    """Return the views of AIX by name, each after those that it stands on."""
    library_views_digest()  # before they are read: rows of an older file never pass for those of a newer one
    return read_views(query_root() / VIEWS)


def views_named(sql: str, views: dict[str, Query], kept: Container[str] = ()) -> list[Query]:
    """Return the views that a statement needs, in the order in which they are created; a kept one needs no others."""
    if looks_around(sql):
        return list(views.values())
    return with_foundations(words_of(sql), views, kept)


def looks_around(sql: str) -> bool:
    """Whether a statement asks which tables and views there are.

    A comment may say `show`: to create all views for it would take longer than most answers.

    >>> [looks_around(sql) for sql in ("show all tables", "describe", "from turns order by id desc")]
    [True, True, False]
    >>> looks_around("from turns -- as far as logs show them")
    False
    """
    words = words_of(_COMMENT.sub("", sql))
    names_nothing = words.isdisjoint(TABLES) and words.isdisjoint(library_views())
    return not words.isdisjoint(_LOOKING_AROUND) or (names_nothing and not words.isdisjoint(_DESCRIBING))


def words_of(sql: str) -> set[str]:
    """Return the words of a statement, names of views and tables among them, in lower case."""
    return {word.lower() for word in _WORD.findall(sql)}


def with_foundations(names: Iterable[str], views: dict[str, Query], kept: Container[str] = ()) -> list[Query]:
    """Return views and those they stand on, in the order in which they are created; a kept one needs no others."""
    needed = set(names) & views.keys()
    for name in reversed(views):
        if name in needed and name not in kept:
            needed |= views[name].names & views.keys()
    return [view for name, view in views.items() if name in needed]


def create_library_views(
    connection: "duckdb.DuckDBPyConnection",
    views: Iterable[Query],
    kept: Mapping[str, str] = _NONE_KEPT,
    ledger: Path | None = None,
) -> None:
    """Create these views over those of the ledger's tables, or over the rows that are kept.

    DuckDB reads everything below a new view. So each view is first created empty, with its declared columns, and
    replaced after the views that read it.
    """
    import duckdb

    chosen = list(views)
    foundations = {name for view in chosen if view.name not in kept for name in view.names}
    empty = [(view, empty_select(view.columns)) for view in chosen if view.name in foundations]
    for view, select in [*empty, *((view, kept.get(view.name, view.statement)) for view in reversed(chosen))]:
        try:
            connection.execute(f"create or replace view {quote_name(view.name)} as {select}")
        except duckdb.Error as error:
            if ledger is not None and view.name in kept:
                raise LedgerDamagedError(ledger, f"the kept rows of {view.name} cannot be read: {error}") from error
            raise QueryFileError(view.path, 1, f"DuckDB cannot make a view of it: {error}") from error
