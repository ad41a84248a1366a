"""Nodes: the things that rows name, by which they belong together.

Every row names a few things: itself, its turn, its session, the call that spawned it. Each is a node, a number of 64
bits; rows that name a common node, directly or through others, are of one family. Derived columns of a row depend on
nothing outside its family.

Two things may have the same number by chance: then two families are handled as one, which costs time and changes
nothing.
"""

from hashlib import md5

from aix.schema import TABLES, Column, Join, Table
from aix.schema.sql import quote_name, quote_text

_CONVERSATION = {"turns", "messages", "tool_calls", "sessions", "requests"}
"""Tables whose rows tie families together; a run of an import, or a user of a chat, does not."""

INFERRED_VALUES = TABLES["inferred_values"]


def row_key(table: Table, alias: str = "") -> str:
    """Return SQL for the key of a row as one text."""
    prefix = f"{alias}." if alias else ""
    parts = [f"cast({prefix}{quote_name(name)} as varchar)" for name in table.key]
    return parts[0] if len(parts) == 1 else f"cast(to_json([{', '.join(parts)}]) as varchar)"


def node_expressions(table: Table) -> tuple[str, ...]:
    """Return SQL for the nodes of a row, of which only the first is never NULL.

    >>> from aix.schema import find_table
    >>> print(*node_expressions(find_table("threads")))
    md5_number_lower('turns.id:' || cast("turn_id" as varchar))
    """
    if table is INFERRED_VALUES:
        return (_inferred_value_node(),)
    links = [
        _node(namespace(table, column), f"cast({quote_name(column.name)} as varchar)")
        for column in table
        if _is_tie(table, column)
    ]
    if is_taken_together(table) or is_derived(table):
        return tuple(dict.fromkeys(links))
    return tuple(dict.fromkeys([_node(_own_namespace(table), row_key(table)), *links]))


def node_of(table: Table, key: str) -> str:
    """Return SQL for the node of a row whose key is in that column."""
    return _node(_own_namespace(table), quote_name(key))


def node_column(table: Table) -> Column:
    """Return the first column of a table that names another row, and thereby the family."""
    return next(column for column in table if _is_tie(table, column))


def node_number(namespace: str, value: str) -> int:
    """Return the node of a value, as the SQL does.

    >>> node_number("turns.id", "6TEMHVVNDY07HMQR8S0TER69NJ")
    1776655663530370326
    """
    return int.from_bytes(md5(f"{namespace}:{value}".encode(), usedforsecurity=False).digest()[8:], "little")


def in_conversations(table: Table) -> bool:
    """Whether rows of the table are part of a conversation."""
    return table.name in _CONVERSATION or any(_is_tie(table, column) for column in table)


def is_taken_together(table: Table) -> bool:
    """Whether all rows of a message are replaced as a set."""
    return any(column.join is Join.SET for column in table)


def is_derived(table: Table) -> bool:
    """Whether every row is computed from other rows."""
    return all(column.join in (Join.KEY, Join.DERIVED) for column in table) and any(
        column.join is Join.DERIVED for column in table
    )


def owner_column(table: Table) -> str:
    """Return the column that names the message, in a table whose rows are taken together."""
    return next(column.name for column in table if column.references == "messages.id")


def _is_tie(table: Table, column: Column) -> bool:
    return column.references is not None and namespace(table, column).split(".")[0] in _CONVERSATION


def _node(namespace: str, text: str) -> str:
    return f"md5_number_lower({quote_text(namespace + ':')} || {text})"


def namespace(table: Table, column: Column) -> str:
    """Follow references to the column in which the value is a key of its own."""
    if column.references is None:
        return f"{table.name}.{column.name}"
    name, _, referred = column.references.partition(".")
    return namespace(TABLES[name], TABLES[name].column(referred))


def _own_namespace(table: Table) -> str:
    return f"{table.name}.key" if len(table.key) > 1 else namespace(table, table.column(table.key[0]))


def _inferred_value_node() -> str:
    namespaces = {table.name: _own_namespace(table) for table in TABLES.values()}
    cases = " ".join(f"when {quote_text(name)} then {quote_text(space)}" for name, space in namespaces.items())
    return f"md5_number_lower(case table_name {cases} else table_name end || ':' || row_key)"
