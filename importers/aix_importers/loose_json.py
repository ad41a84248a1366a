"""JSON of which only some fields matter, and any of them may hold anything: what has the wrong type is not there.

The fields of an object are declared as `Raw` and read one by one, so that a wrong one spoils no other, and nothing is
built of what nobody asks for.
"""

import re
from typing import TypeVar

from msgspec import DecodeError, Raw, Struct, ValidationError
from msgspec.json import Decoder

from aix_importers.json_text import DECODER, compact_json

ABSENT = Raw(b"null")
LARGEST_NUMBER = 2**63 - 1
"""Largest number that a column can hold."""


class _Block(Struct):
    text: Raw = ABSENT


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_TEXT = Decoder(str)
_NUMBER = Decoder(int)
_LIST = Decoder(list[Raw])
_BLOCK = Decoder(_Block)

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


def text(data: bytes | Raw) -> str | None:
    """Return a text."""
    return read(_TEXT, data)


def number(data: bytes | Raw) -> int | None:
    """Return a whole number from 0 on that a column can hold."""
    value = read(_NUMBER, data)
    return value if value is not None and 0 <= value <= LARGEST_NUMBER else None


def items(data: bytes | Raw | None) -> list[Raw]:
    """Return the items of a list."""
    return read(_LIST, data) or []


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
    blocks = [read(_BLOCK, item) for item in items(data)]
    return [found for block in blocks if block and (found := text(block.text)) is not None]


def whole_characters(text: str) -> str:
    """Replace halves of characters, which no file can hold as text."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def _repaired(data: bytes) -> bytes:
    """Rewrite JSON without control characters, halves of characters, odd numbers, and bytes that are not UTF-8."""
    value = DECODER.decode(data.decode("utf-8", "replace"))
    return whole_characters(compact_json(value)).encode()
