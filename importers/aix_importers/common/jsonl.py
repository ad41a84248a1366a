"""The lines of a file as bytes, each with its place, and none of them larger than memory allows."""

import os
from collections.abc import Iterator
from typing import BinaryIO

from msgspec import Struct

PIECE_BYTES = 2**20
_FIRST_PIECE_BYTES = 2**14
"""Size of the first piece, small since a read from the middle of a file often needs only one line."""
LONGEST_BYTES = 512 * 2**20


class RawLine(Struct, frozen=True, gc=False):
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
    number = 1
    begun = _Begun()
    most = min(_FIRST_PIECE_BYTES, PIECE_BYTES)
    while piece := file.read(max(0, min(most, size - file.tell()))):
        most = min(2 * most, PIECE_BYTES)
        *ended, rest = piece.split(b"\n")
        for data in ended:
            length = begun.length + len(data)
            yield RawLine(number, offset, begun.end_with(data), True, length > LONGEST_BYTES)
            offset += length + 1
            number += 1
        begun.add(rest)
    if begun.length:
        is_too_long = begun.length > LONGEST_BYTES
        yield RawLine(number, offset, begun.end_with(b""), is_too_long, is_too_long)


class _Begun:
    """Beginning of a line whose end was not reached yet."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self.length = 0

    def add(self, piece: bytes) -> None:
        """Go on with the line; of one that is too long only the beginning is kept."""
        self.length += len(piece)
        if piece and self.length <= LONGEST_BYTES:
            self._pieces.append(piece)
        elif self.length > LONGEST_BYTES:
            del self._pieces[1:]

    def end_with(self, piece: bytes) -> bytes:
        """Return the line, and be ready for the next."""
        if not self.length:
            return piece
        self.add(piece)
        line = self._pieces[0] if self.length > LONGEST_BYTES else b"".join(self._pieces)
        self._pieces.clear()
        self.length = 0
        return line
