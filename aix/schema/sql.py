"""SQL text made from the schema: quoted names, column lists, empty relations."""

from collections.abc import Iterable
from typing import Protocol

from aix.schema.model import Table


def quote_name(name: str) -> str:
    """Quote an identifier."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def quote_text(text: str) -> str:
    """Quote a string literal."""
    escaped = text.replace("'", "''")
    return f"'{escaped}'"


def name_list(table: Table) -> str:
    """Return the table's columns in their order, for a SELECT."""
    return ", ".join(map(quote_name, table.column_names))


class _Column(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...


def empty_select(columns: Iterable[_Column]) -> str:
    """Return a SELECT with these columns, of a table or a view, and no rows.

    DuckDB cannot read an empty list of files, so a table without files needs a relation of its own.
    """
    nothing = ", ".join(f"cast(null as {column.type}) as {quote_name(column.name)}" for column in columns)
    return f"select {nothing} where false"
