"""The forms in which a file holds its records, and the content of each as UTF-8."""

import codecs
import re
import zlib
from collections.abc import Iterator
from enum import Enum
from io import FileIO
from typing import BinaryIO, Protocol

_FIRST_BYTES = 2**14
_LARGEST_PIECE_BYTES = 2**20
_UTF_16_LE = re.compile(rb"\xff\xfe|(?:[ \t\r\n]\0)*[\[{]\0[ \t\r\n\"{\[]\0")
_UTF_16_BE = re.compile(rb"\xfe\xff|(?:\0[ \t\r\n])*\0[\[{]\0[ \t\r\n\"{\[]")


class Form(Enum):
    """How records are stored. Only lines are read; the values of the others say why not, and what to do."""

    LINES = ""
    GZIP = "The file is compressed with gzip, which is not read. Decompress it with gunzip, then import again."
    ZSTANDARD = "The file is compressed with zstd, which is not read. Decompress it with zstd -d, then import again."
    UTF_16_LE = "The file is UTF-16, which is not read. Convert it with iconv -f UTF-16LE -t UTF-8, then import again."
    UTF_16_BE = "The file is UTF-16, which is not read. Convert it with iconv -f UTF-16BE -t UTF-8, then import again."
    ARRAY = "The file is one JSON array, not a record per line. Convert it with jq -c '.[]', then import again."
    SPREAD = "Records are spread over several lines each. Write one per line with jq -c ., then import again."


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes | None: ...


def pieces_of(file: BinaryIO | FileIO) -> tuple[Form, Iterator[bytes]]:
    """Return the form of a file as far as its first bytes show it, and its content as UTF-8, in growing pieces."""
    head = file.read(_FIRST_BYTES) or b""
    if head.startswith(b"\x1f\x8b"):
        return Form.GZIP, _inflated(grow(head, file))
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        import pyarrow

        file.seek(0)
        return Form.ZSTANDARD, grow(b"", pyarrow.CompressedInputStream(pyarrow.PythonFile(file), "zstd"))
    if _UTF_16_LE.match(head):
        return Form.UTF_16_LE, _transcoded(grow(head, file), "utf-16-le")
    if _UTF_16_BE.match(head):
        return Form.UTF_16_BE, _transcoded(grow(head, file), "utf-16-be")
    return Form.LINES, grow(head, file)


def grow(head: bytes, file: _Readable) -> Iterator[bytes]:
    """Go through what was read and what follows it, up to damage in a compressed file."""
    if head:
        yield head
    size = _FIRST_BYTES
    while True:
        try:
            piece = file.read(size)
        except OSError:
            return
        if not piece:
            return
        yield piece
        size = min(4 * size, _LARGEST_PIECE_BYTES)


def _inflated(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Go through the content of a gzip file, up to its end or to damage."""
    decoder = zlib.decompressobj(wbits=zlib.MAX_WBITS + 16)
    for piece in pieces:
        packed = piece
        while packed:
            try:
                yield decoder.decompress(packed, _LARGEST_PIECE_BYTES)
            except zlib.error:
                return
            packed = decoder.unconsumed_tail


def _transcoded(pieces: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for piece in pieces:
        yield decoder.decode(piece).encode("utf-8", "replace")
