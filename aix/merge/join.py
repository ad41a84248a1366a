"""How two rows about the same thing become one.

Every rule but one picks the greatest of the values in some order, or takes the union of sets; so joining is
commutative, associative and idempotent, and the ledger is a function of the set of what was imported. The one is
`latest`, which is for bookkeeping: there the second row is the later one.
"""

import json
from collections.abc import Mapping, Sequence
from enum import IntEnum
from operator import itemgetter
from struct import pack

import msgspec

from aix.output.text import to_json
from aix.schema import Column, Join, Table
from aix.schema.model import INFERENCE_FLAG

_DEEPEST = 100


class Statement(msgspec.Struct, frozen=True):
    """A row as one source states it: the values, and the names of those it concluded rather than read."""

    values: Mapping[str, object]
    inferred: frozenset[str] = frozenset()


class _Standing(IntEnum):
    """How well a value is known; a default says no more than a placeholder, unless it is the word that says most."""

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
    if any(column.join is Join.SET for column in table):
        raise ValueError(f"rows of {table.name} are taken together: use join_sets")
    values: dict[str, object] = {}
    inferred = set()
    for column in table:
        winner = _winner(table, column, one, other)
        value = _value(column, winner)
        if column.join is Join.UNION and _standing(column, one) == _standing(column, other):
            value = join_json(_text(column, one), _text(column, other))
        values[column.name] = value
        if _standing(column, winner) is _Standing.INFERRED:
            inferred.add(column.name)
    return Statement(values, frozenset(inferred))


def join_sets(table: Table, one: Sequence[Statement], other: Sequence[Statement]) -> Sequence[Statement]:
    """Return the rows of a message that stay, where rows are taken together: those of the side that has more."""

    def spelled(statement: Statement) -> str:
        return repr([statement.values.get(name) for name in table.column_names] + sorted(statement.inferred))

    return max((one, other), key=lambda side: (len(side), sorted(map(spelled, side))))


def _winner(table: Table, column: Column, one: Statement, other: Statement) -> Statement:
    if column.join is Join.LATEST:
        return one if other.values.get(column.name) is None else other
    return max((one, other), key=lambda statement: _rank(table, column, statement))


def _rank(table: Table, column: Column, statement: Statement) -> tuple[object, ...]:
    standing = _standing(column, statement)
    own = (standing, *_order(column, _value(column, statement)))
    if column.join is Join.NEWEST:
        return (*_rank(table, table.column("updated_at"), statement), *own)
    if column.join is not Join.ALONG:
        return own
    leader = next(leader for leader in table if leader.join is Join.FURTHEST)
    return (*_rank(table, leader, statement), *own)


def _standing(column: Column, statement: Statement) -> _Standing:
    value = _value(column, statement)
    if value is None:
        return _Standing.NULL
    is_last_word = column.join is Join.FURTHEST and value == column.words[-1]
    if value == column.placeholder or (value == column.default and not is_last_word):
        return _Standing.PLACEHOLDER
    marked = column.join is Join.FURTHEST and statement.values.get(INFERENCE_FLAG) is True
    return _Standing.INFERRED if marked or column.name in statement.inferred else _Standing.KNOWN


def _order(column: Column, value: object) -> tuple[object, ...]:
    match value:
        case None:
            return ()
        case int() if column.join is Join.MIN:
            return (-value,)
        case str() if column.join is Join.FURTHEST:
            return (column.words.index(value),)
        case str():
            return (len(value), value)
        case list():
            return (len(value), pack(f">{len(value)}d", *value))  # an order of all floats, NaN and -0.0 among them
        case _:
            return (value,)


def _value(column: Column, statement: Statement) -> object:
    value = statement.values.get(column.name)
    return column.default if value is None else value


def _text(column: Column, statement: Statement) -> str | None:
    value = _value(column, statement)
    return value if isinstance(value, str) else None


class _Opaque(str):
    """Text that is not JSON, or too deep to go through; it stays as it is and gives way to anything that is JSON."""


class _Number(str):
    """A number as it is written: 1e999999999 is a short text and a very long integer."""


# An opaque text and a number are texts to Python, so they stand first.
_KINDS = (_Opaque, type(None), bool, _Number, str, list, dict)


def join_json(one: str | None, other: str | None) -> str | None:
    """Return the union of two JSON texts, or the only one there is.

    Arrays that differ become the set of their elements, objects the union of their keys with equal keys joined again;
    where the kinds differ, an object wins over an array and an array over anything else.

    >>> join_json('{"a": [1, 2], "b": 1}', '{"a": [2, 3]}')
    '{"a":[1,2,3],"b":1}'
    """
    if one is None or other is None or one == other:
        return other if one is None else one
    return _json_text(_join_values(_parse(one), _parse(other)))


def _join_values(one: object, other: object) -> object:
    if isinstance(one, dict) and isinstance(other, dict):
        shared = {name: _join_values(one[name], other[name]) for name in one.keys() & other.keys()}
        return dict(sorted({**one, **other, **shared}.items()))
    if isinstance(one, list) and isinstance(other, list):
        elements = {_json_text(element): element for element in (*one, *other)}
        is_same = [*map(_json_text, one)] == [*map(_json_text, other)]
        return one if is_same else [elements[text] for text in sorted(elements)]
    return max(one, other, key=_json_rank)


def _json_rank(value: object) -> tuple[int, int, str]:
    kind = next(place for place, kind in enumerate(_KINDS) if isinstance(value, kind))
    text = _json_text(value)
    return (kind, len(text), text)


def _parse(text: str) -> object:
    try:
        value: object = json.loads(
            text,
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=_refuse,
            object_pairs_hook=lambda pairs: dict(sorted(pairs, key=itemgetter(0))),
        )
    except (ValueError, RecursionError):
        return _Opaque(text)
    return value if _is_shallow(value, _DEEPEST) else _Opaque(text)


def _json_text(value: object) -> str:
    match value:
        case _Opaque() | _Number():
            return str(value)
        case dict():
            return "{" + ",".join(f"{to_json(name)}:{_json_text(inner)}" for name, inner in value.items()) + "}"
        case list():
            return "[" + ",".join(map(_json_text, value)) + "]"
        case _:
            return to_json(value)


def _refuse(constant: str) -> object:
    raise ValueError(constant)


def _is_shallow(value: object, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels > 0 and all(_is_shallow(element, levels - 1) for element in inner)
