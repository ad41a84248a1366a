"""Values of DuckDB in Python: the same value where that has one, else the text DuckDB writes.

Every type has a place, those of later releases too, so that no SELECT fails on its way out. Text is also what keeps a
value whole that others would bend or refuse: an interval, a time with a zone, a date after the year 9999.
"""

from typing import TYPE_CHECKING

import duckdb

from aix.schema.sql import quote_name

if TYPE_CHECKING:
    from duckdb.sqltypes import DuckDBPyType

_INTEGERS = {"tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger", "ubigint"}
_COMMON = {*_INTEGERS, "float", "double", "boolean", "blob"}
_TIMES = {"date", "time", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns", "timestamp with time zone"}

PYTHON_TYPES = frozenset(_COMMON | {"hugeint", "uhugeint"})
ARROW_TYPES = frozenset(_COMMON | _TIMES)


def plain_type(connection: duckdb.DuckDBPyConnection, described: str, kept: frozenset[str]) -> str:
    """Return the SQL type to cast a column of the described type to, when only the kept types stay as they are."""
    try:
        return _plain(connection.type(described), kept)
    except duckdb.Error:  # a type that has no name, such as that of row(1, 2)
        return "VARCHAR"


def _plain(found: "DuckDBPyType", kept: frozenset[str]) -> str:
    match found.id:
        case "decimal":
            return str(found)
        case "hugeint" | "uhugeint" if found.id not in kept:
            return "DECIMAL(38,0)"
        case "list" | "array":
            [(_, inner)] = _inner_types(found)
            return f"{_plain(inner, kept)}[]"
        case "map":
            return f"MAP({_plain(found.key, kept)}, {_plain(found.value, kept)})"
        case "struct" if found.children:
            fields = [f"{quote_name(name)} {_plain(inner, kept)}" for name, inner in _inner_types(found)]
            return f"STRUCT({', '.join(fields)})"
        case simple:
            return str(found) if simple in kept else "VARCHAR"


def _inner_types(found: "DuckDBPyType") -> "list[tuple[str, DuckDBPyType]]":
    # An array lists its length among them.
    return [(name, inner) for name, inner in found.children if not isinstance(inner, (int, list))]
