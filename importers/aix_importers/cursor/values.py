"""Values of Cursor's JSON, any of which may have another type, or be a text that holds JSON in turn."""

import re
from base64 import b64decode
from binascii import Error as Base64Error
from typing import TypeVar

from msgspec import MsgspecError, Raw
from msgspec.json import Decoder, decode, encode

from aix_importers.common.json_text import ABSENT, DECODER, compact_json, items, read, text, whole_characters
from aix_importers.common.times import read_time

__all__ = ["ABSENT", "items", "read", "text"]

_EMPTY = {b"", b"null", b'""', b"[]", b"{}", b"false", b"0"}
_LONGEST_EMPTY = max(map(len, _EMPTY))
_OBJECT = Decoder(dict[str, Raw])
_LIST = Decoder(list[Raw])
_NUMBER = Decoder(int | float)
_FLAG = Decoder(bool)
_DIGITS = re.compile(r"\d{1,15}")
_HEX = re.compile(rb"(?:[0-9a-fA-F]{2})+")
_CONTROL = bytes({*range(32)} - set(b"\t\n\r"))
_LARGEST = 2**63 - 1
_SAMPLE_BYTES = 200
_LEAST_EPOCH = 10**12
_END_OF_TIME = 253_402_300_800_000

T = TypeVar("T")


def is_filled(raw: Raw) -> bool:
    """Whether a value is there and says anything."""
    if raw is ABSENT:
        return False
    view = memoryview(raw)  # a value may be large: it is not copied to look at it
    return view.nbytes > _LONGEST_EMPTY or bytes(view) not in _EMPTY


def fields(raw: bytes | Raw | None) -> dict[str, Raw]:
    """Return the fields of an object."""
    return fields_if_object(raw) or {}


def fields_if_object(raw: bytes | Raw | None) -> dict[str, Raw] | None:
    """Return the fields of an object; nothing where the data is not an object."""
    return read(_OBJECT, raw)


def field(raw: bytes | Raw | None, *names: str) -> Raw:
    """Return the field that these names lead to, from object to object."""
    found: Raw = raw if isinstance(raw, Raw) else Raw(raw or b"null")
    for name in names:
        found = fields(found).get(name, ABSENT)
    return found


def read_list(data: bytes | Raw) -> list[Raw] | None:
    """Return the items of a list; nothing where the data is not a list."""
    return read(_LIST, data)


def is_list(raw: Raw) -> bool:
    """Whether a value is a list."""
    return bytes(memoryview(raw)[:1]) == b"["


def sample_of(data: bytes | Raw | None) -> str | None:
    """Return the beginning of a value as text."""
    return bytes(memoryview(data)[:_SAMPLE_BYTES]).decode("utf-8", "replace") if data is not None else None


def is_intact(data: bytes | Raw) -> bool:
    """Whether a value is text of the kind that programs write as JSON: UTF-8 without control characters."""
    written = bytes(data)
    try:
        written.decode()
    except UnicodeDecodeError:
        return False
    return len(written.translate(None, _CONTROL)) == len(written)  # four times as fast as a search


def number(raw: bytes | Raw) -> float | int | None:
    """Return a number."""
    return None if raw is ABSENT else read(_NUMBER, raw)


def count(raw: bytes | Raw) -> int | None:
    """Return a whole number from 0 on that a column can hold, also where it is written as a text."""
    value: float | int | None = number(raw)
    if value is None and (written := text(raw)) is not None and _DIGITS.fullmatch(written.strip()):
        value = int(written)
    if value is None or not 0 <= value <= _LARGEST or value != value // 1:
        return None
    return int(value)


def flag(raw: Raw) -> bool | None:
    """Return a truth value."""
    return None if raw is ABSENT else read(_FLAG, raw)


def moment(raw: Raw) -> int | None:
    """Return Unix milliseconds, of a number, of digits or of ISO text; times since the start of a program are none."""
    value = number(raw)
    if value is None:
        written = text(raw)
        if written is None:
            return None
        if not _DIGITS.fullmatch(written.strip()):
            return read_time(written)
        value = int(written)
    return round(value) if _LEAST_EPOCH <= value < _END_OF_TIME else None


def inner(raw: bytes | Raw) -> Raw:
    """Return the JSON in a text, or the value itself where it is no text."""
    if bytes(memoryview(raw)[:1]) == b'"':
        written = text(raw)
        return Raw(whole_characters(written).encode()) if written else ABSENT
    return raw if isinstance(raw, Raw) else Raw(raw)


def inner_items(raw: bytes | Raw) -> list[Raw]:
    """Return the items of a list, each of which may be JSON in a text."""
    return [inner(item) for item in items(raw)] if raw is not ABSENT and bytes(memoryview(raw)[:2]) != b"[]" else []


def first_text(*raws: Raw) -> str | None:
    """Return the first text that is not empty."""
    for raw in raws:
        if raw is not ABSENT and (found := text(raw)):
            return found
    return None


def plain(raw: bytes | Raw) -> object:
    """Return a value as Python has it; nothing where it cannot be read."""
    try:
        return decode(raw)
    except (MsgspecError, ValueError, RecursionError):
        try:
            return decode(whole_characters(compact_json(DECODER.decode(bytes(raw).decode("utf-8", "replace")))))
        except (MsgspecError, ValueError, RecursionError):
            return None


def json_of(raw: Raw) -> str | None:
    """Return JSON as written, or rewritten where no reader would take it; nothing for null or data that is not JSON."""
    data = bytes(raw)
    if not data or data == b"null":
        return None
    try:
        decode(data, type=Raw)
        if b"\\ud" not in data and b"\\uD" not in data:
            return data.decode()
    except (MsgspecError, ValueError, RecursionError):
        pass
    value = plain(data)
    return None if value is None else json_text(value)


def json_text(value: object) -> str:
    """Write a value as JSON."""
    return encode(value).decode()


def json_value(data: bytes | None) -> bytes | None:
    """Return the bytes of JSON, which some builds write as hexadecimal digits."""
    if data is None or data[:1] in (b"{", b"["):
        return data
    if _HEX.fullmatch(data) and len(data) > 1:
        return bytes.fromhex(data.decode())
    return data


def base64_bytes(written: str | None) -> bytes:
    """Return the bytes that a text stands for; none where it stands for none."""
    try:
        return b64decode(written or "")
    except (Base64Error, ValueError):
        return b""
