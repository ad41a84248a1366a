"""Write-ahead logs of SQLite: whether a log holds transactions that SQLite ignores because they are damaged.

SQLite reads a log up to the first frame whose checksum is wrong, and says nothing about those behind it: after a crash
that is the right thing to do, after damage it loses what was written.
"""

import struct
from functools import lru_cache
from pathlib import Path

_MAGICS = {0x377F0682: "<", 0x377F0683: ">"}
"""With the order of bytes of the words that checksums are made of."""
_HEADER = struct.Struct(">IIIIIIII")
_FRAME = struct.Struct(">IIIIII")
_MOST_SUMMED = 4 * 2**20
"""Checksums of a longer log are not looked at: a program that runs keeps its log shorter."""
_WORD = 2**32 - 1


@lru_cache(maxsize=16)
def log_damage(path: str, state: str) -> str | None:  # noqa: ARG001
    """Return a sentence about what is wrong with the log of a database; nothing where the log is whole or missing."""
    try:
        with Path(f"{path}-wal").open("rb") as file:
            log = file.read(_MOST_SUMMED)
    except OSError:
        return None
    if not log.strip(b"\0"):
        return None
    if len(log) < _HEADER.size:
        return "The log of writes is cut: what only it held is lost."
    magic, _, page_size, _, salt, other_salt, first, second = _HEADER.unpack_from(log)
    sums = _sums(log[:24], _MAGICS.get(magic, ">"), (0, 0))
    if magic not in _MAGICS or sums != (first, second) or not 512 <= page_size <= 65_536:
        return "The log of writes is damaged at its beginning: what only it held is lost."
    length = _FRAME.size + page_size
    lost, is_damaged = 0, False
    for at in range(_HEADER.size, len(log) - length + 1, length):
        _, commit, *salts, first, second = _FRAME.unpack_from(log, at)
        if salts != [salt, other_salt]:
            break  # of an earlier log, which has been written into the database
        if not is_damaged:
            sums = _sums(log[at : at + 8], _MAGICS[magic], sums)
            sums = _sums(log[at + _FRAME.size : at + length], _MAGICS[magic], sums)
            is_damaged = sums != (first, second)
        lost += is_damaged and commit > 0
    return f"The log of writes is damaged: {lost} transactions that only it held are lost." if lost else None


def _sums(data: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    first, second = sums
    for even, odd in struct.iter_unpack(f"{order}II", data):
        first = (first + even + second) & _WORD
        second = (second + odd + first) & _WORD
    return first, second
