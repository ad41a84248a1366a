"""Values of Cursor's JSON, any of which may have another type, or be a text that holds JSON in turn."""

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterator
from functools import cache
from typing import Self, TypeVar

from msgspec import MsgspecError, Raw, Struct
from msgspec.json import Decoder, decode, encode

from aix_importers.common.json_text import (
    ABSENT,
    DECODER,
    compact_json,
    fields,
    fields_if_object,
    items,
    read,
    text,
    whole_characters,
)
from aix_importers.common.times import read_time

__all__ = ["ABSENT", "fields", "fields_if_object", "items", "read", "text"]

_EMPTY = {b"", b"null", b'""', b"[]", b"{}", b"false", b"0"}
_LONGEST_EMPTY = max(map(len, _EMPTY))
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
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[{}\[\],]', re.DOTALL)
_ENDS = {b"{": b"}", b"[": b"]"}
_BLOCKS = {"paragraph", "heading", "quote", "listitem", "codeblock", "code"}
_MOST_NODES = 200_000

R = TypeVar("R", bound="Record")


class Record(Struct, rename="camel", gc=False):
    """An object of which some fields are read; each may hold anything."""

    @classmethod
    def read(cls, data: bytes | Raw | None) -> Self | None:
        """Return the record in the data; nothing where the data is no object."""
        return read(_decoder(cls), data)


@cache
def _decoder(kind: type[R]) -> Decoder[R]:
    return Decoder(kind)


def is_filled(raw: Raw) -> bool:
    """Whether a value is there and says anything."""
    if raw is ABSENT:
        return False
    view = memoryview(raw)  # a value may be large: it is not copied to look at it
    return view.nbytes > _LONGEST_EMPTY or bytes(view) not in _EMPTY


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
    return as_moment(value)


def as_moment(value: float | None) -> int | None:
    """Return Unix milliseconds, where a number is a time of this age."""
    return round(value) if value is not None and _LEAST_EPOCH <= value < _END_OF_TIME else None


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


def as_json(value: dict[str, object]) -> str | None:
    """Write an object as JSON; nothing where it is empty."""
    return json_text(value) if value else None


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


def closed(data: bytes) -> bytes:
    r"""Return JSON up to its last complete value, with the lists and objects that are open at that place closed.

    >>> closed(b'{"tabs": [{"id": "a"}, {"id": "b", "text": "hel')
    b'{"tabs": [{"id": "a"}, {"id": "b"}]}'
    """
    ends: list[bytes] = []
    safe, open_ends = 0, b""
    for token in _TOKEN.finditer(data):
        found = token[0]
        if found in _ENDS:
            ends.append(_ENDS[found])
        elif found == b",":
            safe, open_ends = token.start(), b"".join(reversed(ends))
        elif found in (b"}", b"]"):
            if not ends or ends.pop() != found:
                break
            safe, open_ends = token.end(), b"".join(reversed(ends))
            if not ends:
                break
    return data[:safe] + open_ends


def text_of_rich(raw: Raw) -> str | None:
    """Return the text: of the text nodes, with a line per paragraph."""
    if raw is ABSENT:
        return None
    written = text(raw)
    value = plain(raw) if written is None else plain(written.encode("utf-8", "replace")) if written else None
    if not isinstance(value, dict):
        return written if written and value is None else None
    root = value.get("root", value)
    if not isinstance(root, dict):
        return None
    lines = list(_lines(root))
    return "\n".join(lines) if any(lines) else None


def _children(node: dict[str, object]) -> list[dict[str, object]]:
    listed = node.get("children", node.get("content"))
    return [child for child in listed if isinstance(child, dict)] if isinstance(listed, list) else []


def _lines(root: dict[str, object]) -> Iterator[str]:
    """Go through the paragraphs; what nests is walked without recursion, since nobody promises that it ends soon."""
    line: list[str] = []
    has_begun = False
    stack: list[dict[str, object]] = [root]
    for _ in range(_MOST_NODES):
        if not stack:
            break
        node = stack.pop()
        kind = node.get("type")
        if kind in _BLOCKS:
            if has_begun:
                yield "".join(line)
                line = []
            has_begun = True
        if kind in ("linebreak", "hardBreak"):
            line.append("\n")
        elif isinstance(node.get("text"), str):
            line.append(str(node["text"]))
        elif kind in ("mention", "mentionNode") and isinstance(node.get("mentionName"), str):
            line.append(str(node["mentionName"]))
        stack.extend(reversed(_children(node)))
    yield "".join(line)
