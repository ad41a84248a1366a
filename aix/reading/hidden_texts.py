"""Texts that SQL never sees: a function is applied to them where a connection reads the ledger's rows.

A redactor that only sees a result misses half a secret, as `left(content, 200)` gives it. So each text is redacted
before a statement can take it apart. Ids and words of the schema stay, since rows are joined by them.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa

from aix.reading.connection import HIDING_FUNCTION
from aix.schema import Column, Join, Type, Unit
from aix.schema.sql import quote_name

if TYPE_CHECKING:
    import duckdb

Hide = Callable[[str], str]
_OF_LOGS = {Unit.TEXT, Unit.PATH, Unit.NAME, Unit.JSON, Unit.JSON_OBJECT, Unit.JSON_ARRAY}


def lay_hiding(connection: "duckdb.DuckDBPyConnection", hide: Hide) -> None:
    """Give a connection the function that `hidden_column` names."""

    def hide_all(texts: pa.Array) -> pa.Array:
        return pa.array([None if text is None else hide(text) for text in texts.to_pylist()], pa.string())

    # By their names: the module that has the words for these options is another one in earlier releases.
    kinds = {"type": "arrow", "null_handling": "special"}
    connection.create_function(HIDING_FUNCTION, hide_all, ["VARCHAR"], "VARCHAR", **kinds)  # type: ignore[call-overload]


def hidden_column(column: Column) -> str:
    """Return the SQL of a column of a table; a vector says much about its text, and is left out."""
    if column.unit is Unit.VECTOR:
        return "null"
    # Derived lists have ids, and those of ancestors can be far longer than all texts.
    has_ids = column.unit is Unit.JSON_ARRAY and column.join is Join.DERIVED
    is_hidden = column.type is Type.VARCHAR and column.unit in _OF_LOGS and not has_ids
    return f"{HIDING_FUNCTION}({quote_name(column.name)})" if is_hidden else quote_name(column.name)
