"""The union of JSON values that two sources give for one thing."""

import json
from operator import itemgetter

from aix.output.text import to_json

_DEEPEST = 100


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
    return _write(_join(_parse(one), _parse(other)))


def _join(one: object, other: object) -> object:
    if isinstance(one, dict) and isinstance(other, dict):
        shared = {name: _join(one[name], other[name]) for name in one.keys() & other.keys()}
        return dict(sorted({**one, **other, **shared}.items()))
    if isinstance(one, list) and isinstance(other, list):
        elements = {_write(element): element for element in (*one, *other)}
        is_same = [*map(_write, one)] == [*map(_write, other)]
        return one if is_same else [elements[text] for text in sorted(elements)]
    return max(one, other, key=_rank)


def _rank(value: object) -> tuple[int, int, str]:
    kind = next(place for place, kind in enumerate(_KINDS) if isinstance(value, kind))
    text = _write(value)
    return (kind, len(text), text)


def _parse(text: str) -> object:
    try:
        value: object = json.loads(
            text,
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=_refuse,
            object_pairs_hook=_sorted_by_name,
        )
    except (ValueError, RecursionError):
        return _Opaque(text)
    return value if _is_shallow(value, _DEEPEST) else _Opaque(text)


def _write(value: object) -> str:
    match value:
        case _Opaque() | _Number():
            return str(value)
        case dict():
            return "{" + ",".join(f"{to_json(name)}:{_write(inner)}" for name, inner in value.items()) + "}"
        case list():
            return "[" + ",".join(map(_write, value)) + "]"
        case _:
            return to_json(value)


def _refuse(constant: str) -> object:
    raise ValueError(constant)


def _sorted_by_name(pairs: list[tuple[str, object]]) -> dict[str, object]:
    return dict(sorted(pairs, key=itemgetter(0)))


def _is_shallow(value: object, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels > 0 and all(_is_shallow(element, levels - 1) for element in inner)
