"""The wire format of protocol buffers: fields by number, of which only the known ones are looked at."""

from collections.abc import Iterator

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MOST_VARINT_BYTES = 10

Field = tuple[int, int | bytes]


def wire_fields(data: bytes) -> Iterator[Field]:
    """Go through the fields of a message; it ends where the data is no message any more.

    >>> list(wire_fields(bytes([8, 150, 1, 18, 2, 104, 105])))
    [(1, 150), (2, b'hi')]
    """
    return ((number, value) for number, value, _ in _scan(data))


def _scan(data: bytes) -> Iterator[tuple[int, int | bytes, int]]:
    """Go through the fields of a message, each with the place of its end."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind, number = tag & 7, tag >> 3
        if at < 0 or number == 0:
            return
        if kind == _VARINT:
            value, at = _varint(data, at)
            if at < 0:
                return
            yield number, value, at
            continue
        if kind == _BYTES:
            length, at = _varint(data, at)
        else:
            length = {_FIXED64: 8, _FIXED32: 4}.get(kind, -1)
        if at < 0 or length < 0 or at + length > len(data):
            return
        yield number, data[at : at + length], at + length
        at += length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number and where it ends; a place before the start when no number can be read."""
    value = 0
    for shift in range(_MOST_VARINT_BYTES):
        if at + shift >= len(data):
            return 0, -1
        byte = data[at + shift]
        value |= (byte & 0x7F) << 7 * shift
        if byte < 0x80:
            return value, at + shift + 1
    return 0, -1


def parts(data: bytes, number: int) -> list[bytes]:
    """Return all fields of one number that hold bytes."""
    return [value for each, value in wire_fields(data) if each == number and isinstance(value, bytes)]


def part(data: bytes, *path: int) -> bytes:
    """Return the last field that these numbers lead to, from message to message; empty where no such field exists."""
    for number in path:
        data = (parts(data, number) or [b""])[-1]
    return data


def whole_number(data: bytes, number: int) -> int | None:
    """Return the last field of one number that holds a whole number."""
    found = [value for each, value in wire_fields(data) if each == number and isinstance(value, int)]
    return found[-1] if found else None


def is_whole(data: bytes) -> bool:
    """Whether data is a message up to its last byte.

    >>> is_whole(bytes([8, 150, 1])), is_whole(bytes([8, 150, 1, 18, 9]))
    (True, False)
    """
    return max((end for *_, end in _scan(data)), default=0) == len(data)
