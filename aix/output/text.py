"""Text that cannot act: what logs contain, made harmless and still readable."""

import json
import re
from decimal import Decimal
from math import isfinite

NULL = "–"
"""An unknown value, in formats for people."""

# Control characters drive terminals, bidirectional marks and invisible tags make text look like other text, lone
# surrogates cannot be encoded, and the line separators start a new line in some readers.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\u3164\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def is_safe(text: str) -> bool:
    """Whether the text can be shown as it is."""
    return _UNSAFE.search(text) is None


def escape_unsafe(text: str) -> str:
    r"""Replace every unsafe character by its JSON escape.

    >>> print(escape_unsafe("\x1b[31mred"))
    \u001b[31mred
    """
    return _UNSAFE.sub(lambda match: json.dumps(match[0])[1:-1], text)


def to_json(value: object) -> str:
    """Write a value as JSON: integers and decimals with all their digits, no character that could act.

    >>> from decimal import Decimal
    >>> to_json({"cost": Decimal("0.000000000001"), "ratio": float("inf"), "seen": [True, None]})
    '{"cost":0.000000000001,"ratio":"Infinity","seen":[true,null]}'
    """
    match value:
        case str():
            return escape_unsafe(json.dumps(value, ensure_ascii=False))
        case None | bool() | int():
            return json.dumps(value)
        case float():
            return json.dumps(value) if isfinite(value) else f'"{json.dumps(value)}"'
        case Decimal():
            return format(value, "f") if value.is_finite() else f'"{value}"'
        case dict() | list() | tuple() if (plain := _plain_json(value)) is not None:
            return plain
        case dict():
            return "{" + ",".join(f"{to_json(str(name))}:{to_json(inner)}" for name, inner in value.items()) + "}"
        case list() | tuple():
            return "[" + ",".join(map(to_json, value)) + "]"
        case _:
            return to_json(to_text(value))


def _plain_json(value: object) -> str | None:
    """Write what JSON holds as it is, many times faster than piece by piece; None for anything else."""
    try:
        return escape_unsafe(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    except (TypeError, ValueError):
        return None


def to_text(value: object) -> str:
    """Write a value that is not NULL as text that is exact and otherwise left as it is."""
    match value:
        case str():
            return value
        case None | bool() | int() | float() | Decimal() | dict() | list() | tuple():
            return to_json(value)
        case bytes():
            return value.hex()
        case _:
            return str(value)


def to_cell(value: object) -> str:
    r"""Write a value on one line for people: bare where that is unmistakable, else as a JSON string.

    >>> [to_cell(value) for value in (None, "–", "", "C:\\new", "two\nlines", 12)]
    ['–', '"–"', '""', 'C:\\new', '"two\\nlines"', '12']
    """
    if value is None:
        return NULL
    text = to_text(value)
    ambiguous = text in ("", NULL) or text[0] == '"' or text != text.strip() or not is_safe(text)
    return to_json(text) if ambiguous else text
