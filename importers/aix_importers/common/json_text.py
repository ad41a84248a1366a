"""JSON as logs hold it: odd numbers, control characters, lone surrogates, fields of any type.

Objects are read field by field, so that a wrong field spoils no other; a field of the wrong type counts as absent.
"""

import json
import re
from math import isfinite
from typing import TypeGuard, TypeVar

from msgspec import DecodeError, Raw, ValidationError
from msgspec.json import Decoder

_MOST_DIGITS = 4_000
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_BLANK = re.compile(r"[ \t\r\n]*")
_OBJECT_START = re.compile(r'\{[ \t\r\n]*"')
_MOST_TRIES = 200
_MOST_READINGS = 8


class OddNumber(str):
    """A number that no column can hold, as it is written: NaN, Infinity, or of too many digits."""

    __slots__ = ()


def is_text(value: object) -> TypeGuard[str]:
    """Whether a value is text; a number that only looks like text here is not."""
    return isinstance(value, str) and not isinstance(value, OddNumber)


def _whole(digits: str) -> int | OddNumber:
    return int(digits) if len(digits) <= _MOST_DIGITS else OddNumber(digits)


def _real(digits: str) -> float | OddNumber:
    value = float(digits)
    return value if isfinite(value) else OddNumber(digits)


DECODER = json.JSONDecoder(parse_int=_whole, parse_float=_real, parse_constant=OddNumber, strict=False)


def compact_json(value: object) -> str:
    """Write a value so that equal values give equal texts."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def may_hold_surrogates(text: str) -> bool:
    """Whether a JSON text has escapes of surrogates, paired or lone."""
    return "\\ud" in text or "\\uD" in text


def without_lone_surrogates(value: object) -> object:
    """Replace halves of characters, which no file can hold as text."""
    match value:
        case OddNumber():
            return value
        case str():
            return _LONE_SURROGATE.sub("\ufffd", value)
        case dict():
            return {
                _LONE_SURROGATE.sub("\ufffd", name): without_lone_surrogates(inner) for name, inner in value.items()
            }
        case list():
            return [without_lone_surrogates(inner) for inner in value]
        case _:
            return value


def leading_values(text: str, start: int = 0) -> tuple[list[object], int]:
    """Return the values that stand at the start, one after the other, and where what follows them begins."""
    values: list[object] = []
    at = _after_blanks(text, start)
    while at < len(text):
        try:
            value, end = DECODER.raw_decode(text, at)
        except ValueError:
            break
        values.append(value)
        at = _after_blanks(text, end)
    return values, at


def trailing_objects(text: str, start: int) -> list[object]:
    """Return the objects that a text ends with, behind something broken that begins at `start`.

    Only objects that reach to the very end count, so that a part of the broken object is not taken for one.
    """
    effort = _MOST_READINGS * (len(text) - start)
    for tries, found in enumerate(_OBJECT_START.finditer(text, start + 1)):
        begin = found.start()
        if tries == _MOST_TRIES or effort <= 0:
            break
        values, end = leading_values(text, begin)
        if end == len(text):
            return values
        effort -= end - begin + 1
    return []


def _after_blanks(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


ABSENT = Raw(b"null")
LARGEST_NUMBER = 2**63 - 1
"""Largest number that a column can hold."""


_TEXT = Decoder(str)
_NUMBER = Decoder(int)
_LIST = Decoder(list[Raw])
_OBJECT = Decoder(dict[str, Raw])

T = TypeVar("T")


def read(decoder: Decoder[T], data: bytes | Raw | None) -> T | None:
    """Return what the decoder makes of the data, or nothing."""
    if data is None or data is ABSENT:
        return None
    try:
        return decoder.decode(data)
    except (ValidationError, RecursionError):
        return None
    except (DecodeError, ValueError):
        try:
            return decoder.decode(_repaired(bytes(data)))
        except (DecodeError, ValueError, RecursionError):
            return None


def text(data: bytes | Raw | None) -> str | None:
    """Return a text."""
    return read(_TEXT, data)


def number(data: bytes | Raw | None) -> int | None:
    """Return a whole number from 0 on that a column can hold."""
    value = read(_NUMBER, data)
    return value if value is not None and 0 <= value <= LARGEST_NUMBER else None


def fields_if_object(data: bytes | Raw | None) -> dict[str, Raw] | None:
    """Return the fields of an object; NULL where the data is not an object."""
    return read(_OBJECT, data)


def fields(data: bytes | Raw | None) -> dict[str, Raw]:
    """Return the fields of an object; none where the data is not an object."""
    return read(_OBJECT, data) or {}


def items(data: bytes | Raw | None) -> list[Raw]:
    """Return the items of a list."""
    return read(_LIST, data) or []


def is_list(data: bytes | Raw) -> bool:
    """Whether a value is a list that can be read."""
    return read(_LIST, data) is not None


def texts(data: bytes | Raw | None) -> list[str]:
    """Return those items of a list that are texts."""
    return [found for item in items(data) if (found := text(item)) is not None]


def content_texts(data: bytes | Raw | None) -> list[str]:
    """Return the texts of a content, which is one text, or a list of blocks."""
    if data is None:
        return []
    whole = text(data)
    if whole is not None:
        return [whole]
    return [found for item in items(data) if (found := text(fields(item).get("text"))) is not None]


def whole_characters(text: str) -> str:
    """Replace halves of characters, which no file can hold as text."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def _repaired(data: bytes) -> bytes:
    """Rewrite JSON without control characters, halves of characters, odd numbers, and bytes that are not UTF-8."""
    value = DECODER.decode(data.decode("utf-8", "replace"))
    return whole_characters(compact_json(value)).encode()
