"""Opening files of a ledger that somebody else may have made.

A ledger can come from anywhere. Its files are opened only where they are regular files: a link could lead out of the
ledger, and to open a named pipe would wait for a writer for ever.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from aix.errors import LedgerDamagedError

LARGEST_BYTES = 2**30
"""Of a file that is read as a whole: fingerprints of millions of sources need less."""
_PIECE_BYTES = 2**20
_T = TypeVar("_T")


def check_regular(path: Path, size_bytes: int | None = None) -> None:
    """Raise LedgerDamagedError unless there is a regular file of that size, or of any size, at that path."""
    try:  # not `damage_in`, since there may be thousands of files
        status = os.lstat(path)
    except OSError as error:
        raise LedgerDamagedError(path, _reason(error)) from error
    if not stat.S_ISREG(status.st_mode):
        raise LedgerDamagedError(path, "it is not a regular file")
    if size_bytes is not None and status.st_size != size_bytes:
        raise LedgerDamagedError(path, f"it has {status.st_size} bytes, and the manifest says {size_bytes}")


def is_regular(path: Path) -> bool:
    """Whether there is a regular file at that path."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def ends_with(path: Path, end: bytes) -> bool:
    """Whether there is a regular file at that path, and these are its last bytes."""
    if not is_regular(path):
        return False
    try:
        with path.open("rb") as file:
            file.seek(-len(end), os.SEEK_END)
            return file.read() == end
    except OSError:  # it is shorter, or gone
        return False


def check_folder(path: Path) -> None:
    """Raise LedgerDamagedError when something else than a folder has that path; there may be nothing."""
    try:
        mode = path.lstat().st_mode
    except OSError:  # then nothing behind it can be read or written either
        return
    if stat.S_ISLNK(mode):
        raise LedgerDamagedError(path, "it is a link; link the whole ledger in place of this folder")
    if not stat.S_ISDIR(mode):
        raise LedgerDamagedError(path, "it is not a folder")


def open_regular(path: Path) -> int:
    """Open a regular file for reading, and return its descriptor."""
    with damage_in(path):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise LedgerDamagedError(path, "it is not a regular file")
    return descriptor


def read_regular(path: Path, sha256: str | None = None) -> bytes:
    """Return the content of a regular file, which must have that SHA-256 when one is given."""
    with damage_in(path), open(open_regular(path), "rb") as file:
        content = file.read(LARGEST_BYTES + 1)
    if len(content) > LARGEST_BYTES:
        raise LedgerDamagedError(path, f"it has more than {LARGEST_BYTES} bytes")
    if sha256 is not None and hashlib.sha256(content).hexdigest() != sha256:
        raise LedgerDamagedError(path, "its content is not the one that the manifest names")
    return content


def read_decoded(path: Path, decode: Callable[[bytes], _T], sha256: str | None = None) -> _T:
    """Return the content of a regular file as a decoder of msgspec makes it."""
    content = read_regular(path, sha256)
    with damage_in(path):
        return decode(content)


def read_note(path: Path, decode: Callable[[bytes], _T]) -> _T | None:
    """Return a note beside a ledger as a decoder of msgspec makes it; None when it is missing or useless."""
    with suppress(LedgerDamagedError):
        return read_decoded(path, decode)
    return None


def sha256_of(descriptor: int) -> str:
    """Return the SHA-256 of an open file, of which no more than a piece is held at a time."""
    digest = hashlib.sha256()
    place = 0
    while piece := os.pread(descriptor, _PIECE_BYTES, place):
        digest.update(piece)
        place += len(piece)
    return digest.hexdigest()


@contextmanager
def damage_in(path: Path) -> Iterator[None]:
    """Report an error of reading or decoding a file as damage to the ledger."""
    try:
        yield
    except OSError as error:
        raise LedgerDamagedError(path, _reason(error)) from error
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise LedgerDamagedError(path, str(error)) from error
    except RecursionError as error:
        raise LedgerDamagedError(path, "its values are nested too deeply") from error
    except MemoryError as error:
        raise LedgerDamagedError(path, "it is too large to be read") from error


def _reason(error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return "it is missing"
    if error.errno in (errno.ELOOP, errno.ENXIO):  # how a link and a socket are refused
        return "it is not a regular file"
    return error.strerror or str(error)
