"""Hashes of files."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

_PIECE_BYTES = 2**20


class FileHash(msgspec.Struct, frozen=True):
    """The hash and size of a file."""

    whole: str
    size_bytes: int
    head: str | None
    """Hash of the beginning that was asked for; None when the file is shorter."""


def hash_file(path: str, head_bytes: int = -1) -> FileHash:
    """Read a file once, and return the SHA-256 of it and of its first bytes."""
    digest = hashlib.sha256()
    head = None
    size = 0
    with Path(path).open("rb", buffering=0) as file:
        while True:
            if size == head_bytes:
                head = digest.hexdigest()
            room = head_bytes - size if size < head_bytes else _PIECE_BYTES
            piece = file.read(min(room, _PIECE_BYTES))
            if not piece:
                return FileHash(digest.hexdigest(), size, head)
            digest.update(piece)
            size += len(piece)


def content_hash(files: Sequence[str]) -> str:
    """Return the SHA-256 of a file, or of the SHA-256 of several."""
    return combined_hash([hash_file(path).whole for path in files])


def combined_hash(hashes: Sequence[str]) -> str:
    """Return what stands for several hashes; one stands for itself."""
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("\n".join(hashes).encode()).hexdigest()
