"""A ledger whose rows can be changed in memory, to ask the queries of the library about what no fixture shows."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from aix.derived.catalog import CATALOG
from aix.query.packs import find_query
from aix.query.views import create_library_views, library_views
from aix.schema import TABLES
from aix.schema.sql import quote_name, quote_text

_CHANGED = (
    "call_targets",
    "rule_matches",
    "rule_remarks",
    "rule_verdicts",
    "rules_in_force",
    "permission_rules",
    "permission_decisions",
    "sessions",
)
"""Tables that are copied, so that they can be changed; the others are read where they lie."""

Rows = list[dict[str, object]]


class ChangedLedger:
    """The tables that audits of rules read, in memory."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def rows(self, query: str, *changes: str, **parameters: int) -> Rows:
        """Return what a query gives after these statements and with these parameters, and take both back."""
        self._connection.begin()
        try:
            for name, value in parameters.items():
                self._connection.execute(f"set variable {name} = {value}")
            for change in changes:
                assert self._connection.execute(change).fetchall() != [(0,)], f"changed nothing: {change}"
            result = self._connection.execute(find_query(query).sql)
            names = [column[0] for column in result.description or ()]
            return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
        finally:
            self._connection.rollback()
            for name in parameters:
                self._connection.execute(f"reset variable {name}")


@contextmanager
def open_changed(ledger: Path) -> Iterator[ChangedLedger]:
    """Copy what audits of rules are about from a ledger, and make the views that stand on it again."""
    views = {name: view for name, view in library_views().items() if name not in _CHANGED}
    anew = {*_CHANGED}
    for name, view in views.items():
        if view.names & anew:
            anew.add(name)
    with duckdb.connect() as connection:
        connection.execute(f"attach {quote_text(str(ledger / CATALOG))} as stored (read_only)")
        for name in _CHANGED:
            connection.execute(f"create table {quote_name(name)} as from stored.{quote_name(name)}")
        for name in (name for name in (*TABLES, *views) if name not in anew):
            connection.execute(f"create view {quote_name(name)} as from stored.{quote_name(name)}")
        create_library_views(connection, [view for name, view in views.items() if name in anew])
        yield ChangedLedger(connection)


def ask(ledger: ChangedLedger, query: str, *changes: str, **parameters: int) -> Rows:
    """Return what a query of the audits gives after these changes."""
    return ledger.rows(f"permission_usage/{query}", *changes, **parameters)
