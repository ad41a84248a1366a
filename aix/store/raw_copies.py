"""Copies of sources: the bytes as they were read, so that a better importer can read again what a tool has deleted.

    LEDGER/raw/3f/3f9a….zst    compressed with zstd, named by the SHA-256 of the bytes

A source that has grown is another content with another name; the older copy goes when old versions are collected.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from aix.errors import LedgerDamagedError
from aix.store.durable import NewFile, make_folder, new_file, part_file, place, writing_to
from aix.store.manifest import RAW_FOLDER
from aix.store.stored_files import check_folder, check_regular

_SUFFIX = ".zst"
_PIECE_BYTES = 2**20
_DIGEST = re.compile("[0-9a-f]{64}")


def keep_raw(ledger: Path, source: Path) -> str:
    """Keep a copy of a file, unless there is one, and return the SHA-256 of its bytes."""
    folder = ledger / RAW_FOLDER
    digest = hashlib.sha256()
    check_folder(folder)
    with writing_to(ledger):
        make_folder(ledger)
        make_folder(folder)
        with part_file(folder) as part:
            with (
                new_file(part) as file,
                pa.CompressedOutputStream(pa.PythonFile(_LeftOpen(file), "w"), "zstd") as compressed,
            ):
                for piece in _pieces(source):
                    digest.update(piece)
                    compressed.write(piece)
            copy = place_of_copy(ledger, digest.hexdigest())
            if not place(part, copy):
                copy.touch()  # it is in use again
    return digest.hexdigest()


def open_raw(ledger: Path, digest: str) -> BinaryIO:
    """Open the bytes of a kept source for reading."""
    path = raw_path(ledger, digest)
    if os.path.lexists(path):
        check_regular(path)
    try:
        return cast("BinaryIO", pa.input_stream(str(path), compression="zstd"))
    except OSError as error:
        raise LedgerDamagedError(path, "there is no copy of that source") from error


def raw_path(ledger: Path, digest: str) -> Path:
    """Return where the copy of a source lies."""
    if not _DIGEST.fullmatch(digest):
        raise ValueError(f"{digest!r} is not the SHA-256 of anything")
    return ledger / RAW_FOLDER / digest[:2] / f"{digest}{_SUFFIX}"


def place_of_copy(ledger: Path, digest: str) -> Path:
    """Return where a copy goes, with its folder made; raise LedgerDamagedError when that leads through a link."""
    path = raw_path(ledger, digest)
    for folder in (path.parent.parent, path.parent):
        check_folder(folder)
        make_folder(folder)
    if os.path.lexists(path):
        check_regular(path)
    return path


def kept_digests(ledger: Path) -> Iterator[str]:
    """Go through the sources of which there are copies."""
    check_folder(ledger / RAW_FOLDER)
    for path in sorted((ledger / RAW_FOLDER).glob(f"*/*{_SUFFIX}")):
        digest = path.name.removesuffix(_SUFFIX)
        if _DIGEST.fullmatch(digest) and path == raw_path(ledger, digest):
            check_folder(path.parent)
            check_regular(path)
            yield digest


def holds_any(ledger: Path, digest: str, texts: Sequence[str]) -> bool:
    """Whether the bytes of a kept source hold one of these texts."""
    wanted = [text.encode() for text in texts]
    longest = max(map(len, wanted), default=0)
    seen = b""
    with open_raw(ledger, digest) as file:
        while wanted and (piece := file.read(_PIECE_BYTES)):
            seen = seen[-longest:] + piece
            if any(text in seen for text in wanted):
                return True
    return False


class _LeftOpen:
    """Keeps an encoder that is done from closing the file before it is synced."""

    closed = False

    def __init__(self, file: NewFile) -> None:
        self.write = file.write
        self.flush = file.flush

    def close(self) -> None:
        """Do nothing."""


def _pieces(source: Path) -> Iterator[bytes]:
    with source.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            yield piece
