"""The lines of a file as bytes, each with its place, and none of them larger than memory allows."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

PIECE_BYTES = 2**20
LONGEST_BYTES = 512 * 2**20


@dataclass(frozen=True, slots=True)
class RawLine:
    """One line, without its end."""

    number: int
    byte_offset: int
    data: bytes
    """The whole line; of a line that is too long only the beginning."""
    is_terminated: bool
    is_too_long: bool = False


def raw_lines(file: BinaryIO, start: int = 0) -> Iterator[RawLine]:
    """Go through the lines of a file, up to the size that it has now: a log may grow while it is read.

    From another start than the beginning, the numbers of the lines count from there.
    """
    size = os.fstat(file.fileno()).st_size
    offset = file.seek(start)
    number = 0
    while offset < size:
        number += 1
        data = file.readline(min(PIECE_BYTES, size - offset))
        if not data:
            return
        is_too_long = False
        length = len(data)
        if not data.endswith(b"\n") and offset + length < size:
            length += _length_of_rest(file, size - offset - length)
            is_too_long = length > LONGEST_BYTES
            if not is_too_long:
                file.seek(offset)
                data = file.read(length)
        yield RawLine(number, offset, data.removesuffix(b"\n"), data.endswith(b"\n") or is_too_long, is_too_long)
        offset += length


def _length_of_rest(file: BinaryIO, most: int) -> int:
    length = 0
    while length < most:
        piece = file.readline(min(PIECE_BYTES, most - length))
        length += len(piece)
        if not piece or piece.endswith(b"\n"):
            break
    return length
