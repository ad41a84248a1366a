"""The database in memory in which a version of a ledger is asked: its tables, and the views that statements name.

To create all views takes longer than many an answer, so each is made when a statement names it, over rows that are
kept where there are some.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from aix.derived.materialised_tables import derived_columns, derived_selects
from aix.derived.view_cache import cached_selects, cached_views
from aix.errors import LedgerDamagedError, QueryFileError
from aix.query.views import (
    create_library_views,
    library_views,
    views_named,
    with_foundations,
    words_of,
)
from aix.schema import TABLES
from aix.schema.sql import empty_select
from aix.store.manifest import Manifest
from aix.store.views import column_name, create_views, tables_named

if TYPE_CHECKING:
    import duckdb

    from aix.permissions.risks import Risks
    from aix.permissions.rule_book import RuleBook
    from aix.query.query_file import Query


_MOST_MEMORY = "2GB"
"""Of statements that see hidden texts: an assistant writes them, and nobody looks at them before."""


@dataclass(frozen=True)
class Replaced:
    """Things that a reader puts in the place of those that a ledger has; None for those that stay."""

    rules: "RuleBook | None" = None
    """The permission rules that calls are held against."""
    risks: "Risks | None" = None
    """The rules that say which calls are risky."""
    hide: Callable[[str], str] | None = None
    """Changes texts of logs before any statement sees them."""


NOTHING_REPLACED = Replaced()


class LedgerDatabase:
    """The database for one version of a ledger; several threads can use it at once."""

    def __init__(self, path: Path, manifest: Manifest, replaced: Replaced) -> None:
        self._path = path
        self._manifest = manifest
        self._replaced = replaced
        self._created_tables: set[str] = set()
        self._created_views: set[str] = set()
        self._asked_views: set[str] = set()
        self.lock = RLock()
        """Held while views are made, and by whoever asks the connection itself."""

    @property
    def has_all_tables(self) -> bool:
        """Whether each table of the schema is there."""
        return self._created_tables >= TABLES.keys()

    @property
    def rule_book(self) -> "RuleBook":
        """The permission rules that calls are held against."""
        from aix.permissions.derived_tables import RULES_IN_FORCE, read_rule_book

        with self.lock:
            return self._replaced.rules or read_rule_book(self.tables(tables_named([RULES_IN_FORCE])))

    def create_views_named(self, sql: str) -> None:
        """Make what a statement names and is not there yet."""
        with self.lock:
            self._fill_cache(sql)
            named = views_named(sql, self.library_views, self._kept_views)
            needed = [view for view in named if view.name not in self._created_views]
            self._derive([view.name for view in needed if view.derived and view.name not in self._kept_views])
            others = [view for view in needed if view.name not in self._created_views]
            self.tables(tables_named([sql, *(view.sql for view in others if view.name not in self._kept_views)]))
            try:
                create_library_views(self.connection, others, self._kept_views, self._path)
            except QueryFileError as error:
                self.check_files(error)
                raise
            self._created_views.update(view.name for view in others)

    def tables(self, names: Iterable[str] = TABLES) -> "duckdb.DuckDBPyConnection":
        """Return the connection with these tables."""
        with self.lock:
            connection = self.connection  # which may bring tables of its own
            missing = [name for name in names if name not in self._created_tables]
            read = column_name
            if self._replaced.hide is not None:
                from aix.reading.hidden_texts import hidden_column as read
            create_views(connection, self._path, self._manifest, missing, typed=True, read=read)
            self._created_tables.update(missing)
            return connection

    def check_files(self, error: Exception) -> None:
        """Raise LedgerDamagedError when a statement failed because of the files of the version."""
        from aix.reading.connection import is_of_files
        from aix.store.segments import check_segments

        check_segments(self._path, self._manifest, derived_columns(self._manifest))
        if is_of_files(error, self._path):
            raise LedgerDamagedError(self._path, f"a file of it cannot be read: {error}") from error

    def close(self) -> None:
        """Let go of the database, if it was ever opened."""
        if "connection" in vars(self):
            self.connection.close()

    def _fill_cache(self, sql: str) -> None:
        """See to it that the rows of the views that a statement names are in the cache, where there can be one."""
        if self._replaced.hide is not None:
            return
        cached = cached_views()
        named = with_foundations(words_of(sql), self.library_views, cached | self._kept_views.keys())
        wanted = {view.name for view in named} & cached - self._kept_views.keys() - self._asked_views
        self._asked_views |= wanted
        self._kept_views.update(cached_selects(self._path, self._manifest, sorted(wanted)))

    def _derive(self, names: list[str]) -> None:
        """Make in memory what no version has kept, or what other rules give, and what comes of the same pass."""
        if names:
            from aix.permissions.derived_tables import derive, made_with
            from aix.personas.persona_tables import stored_tables
            from aix.reading.connection import damage_to

            wanted = made_with(names) - self._kept_views.keys() - self._created_views
            hide = self._replaced.hide
            with damage_to(self._path):
                personas = stored_tables(self._path, self._manifest)
                personas = personas.with_texts(hide) if hide else personas
                derive(self.tables(), wanted, self.rule_book, self._replaced.risks, personas)
            self._created_views |= wanted

    @cached_property
    def library_views(self) -> "dict[str, Query]":
        """The views of AIX by name."""
        return library_views()

    @cached_property
    def _kept_views(self) -> dict[str, str]:
        """SELECTs of rows that are computed already, by view; the cache adds its own when they are asked for.

        A view that can have no rows needs no SQL: DuckDB would plan it for longer than many an answer takes.
        """
        views = self.library_views.values()
        kept = {view.name: empty_select(view.columns) for view in views if not can_have_rows(view, self._manifest)}
        rules, risks = self._replaced.rules, self._replaced.risks
        if self._replaced.hide is not None:  # rows that are kept were made of texts as they are
            return kept
        kept |= derived_selects(self._path, self._manifest)
        if rules is None and risks is None:
            return kept
        from aix.permissions.derived_tables import RISKS, RULE_TABLES

        own = (*(RULE_TABLES if rules is not None else ()), *((RISKS,) if risks is not None else ()))
        return {name: select for name, select in kept.items() if name not in own}

    @cached_property
    def connection(self) -> "duckdb.DuckDBPyConnection":
        """The connection, opened when it is first used."""
        from aix.reading.connection import connect

        memory = None if self._replaced.hide is None else _MOST_MEMORY
        connection = connect(self._path, self._manifest, memory)
        if self._replaced.hide is not None:
            from aix.reading.hidden_texts import lay_hiding

            lay_hiding(connection, self._replaced.hide)
        if self._replaced.rules is not None:
            from aix.permissions.derived_tables import RULES, lay_rules

            lay_rules(connection, self._replaced.rules)
            self._created_tables.add(RULES)
        return connection


def can_have_rows(query: "Query", manifest: Manifest) -> bool:
    """Whether a query may have rows in a version: the files of a table without which it has none hold rows."""
    segments = (segment for table in query.only_with for segment in manifest.tables.get(table, ()))
    return not query.only_with or any(segment.rows for segment in segments)
