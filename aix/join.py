"""How two rows about the same thing become one.

Every rule but one picks the greatest of the values in some order, or takes the union of sets; so joining is
commutative, associative and idempotent, and the ledger is a function of the set of what was imported. The one is
`latest`, which is for bookkeeping: there the second row is the later one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from aix.json_union import join_json
from aix.schema import Column, Join, Table


@dataclass(frozen=True)
class Statement:
    """What a source says in one row: the values, and the names of those it concluded rather than read."""

    values: Mapping[str, object]
    inferred: frozenset[str] = frozenset()


class _Standing(IntEnum):
    """How well a value is known."""

    NULL = 0
    PLACEHOLDER = 1
    INFERRED = 2
    KNOWN = 3


def join(table: Table, one: Statement, other: Statement) -> Statement:
    """Return what two statements about the same row say together.

    >>> from aix.schema import find_table
    >>> turns = find_table("turns")
    >>> early = Statement({"id": "T", "started_at": 7, "workspace_path": "/a"}, frozenset({"started_at"}))
    >>> late = Statement({"id": "T", "started_at": 9})
    >>> join(turns, early, late).values["started_at"], join(turns, early, late).values["workspace_path"]
    (9, '/a')
    """
    values: dict[str, object] = {}
    inferred = set()
    for column in table:
        winner = max((one, other), key=lambda statement: _rank(table, column, statement))
        if column.join is Join.LATEST:
            winner = other
        values[column.name] = winner.values.get(column.name)
        if column.join is Join.UNION:
            values[column.name] = join_json(_text(one, column), _text(other, column))
        if _standing(column, winner) is _Standing.INFERRED:
            inferred.add(column.name)
    return Statement(values, frozenset(inferred))


def join_sets(one: Sequence[Statement], other: Sequence[Statement]) -> Sequence[Statement]:
    """Return the rows of a message that stay, where rows are taken together: those of the side that has more."""
    return max((one, other), key=lambda side: (len(side), sorted(repr(sorted(row.values.items())) for row in side)))


def _rank(table: Table, column: Column, statement: Statement) -> tuple[object, ...]:
    standing = _standing(column, statement)
    own = (standing, *_order(column, statement.values.get(column.name)))
    if column.join is not Join.ALONG:
        return own
    leader = next(leader for leader in table if leader.join is Join.FURTHEST)
    return (*_rank(table, leader, statement), *own)


def _standing(column: Column, statement: Statement) -> _Standing:
    value = statement.values.get(column.name)
    if value is None:
        return _Standing.NULL
    if value == column.placeholder:
        return _Standing.PLACEHOLDER
    marked = column.join is Join.FURTHEST and statement.values.get("is_inferred") is True
    return _Standing.INFERRED if marked or column.name in statement.inferred else _Standing.KNOWN


def _order(column: Column, value: object) -> tuple[object, ...]:
    match value:
        case None:
            return ()
        case int() if column.join is Join.MIN:
            return (-value,)
        case str() if column.join is Join.FURTHEST:
            return (column.words.index(value),)
        case str() | list():
            return (len(value), value)
        case _:
            return (value,)


def _text(statement: Statement, column: Column) -> str | None:
    value = statement.values.get(column.name)
    return value if isinstance(value, str) else None
