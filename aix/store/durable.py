"""The few operations on files that a commit is made of.

Each returns only when the disk holds what it did, so that a power cut between any two of them loses nothing that a
later one relies on. What they make is private: folders 0700, files 0600, whatever the umask.
"""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from aix.errors import LedgerUnwritableError

_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}
_NO_FOLDER_SYNC = {errno.EINVAL, errno.ENOTSUP}
MOST_HELD_BYTES = 2**18
"""Of a file that is being written; more goes to the disk at once."""

# Bound here so that tests can make each of them fail.
fsync = os.fsync
link = os.link
write = os.write


class DiskError(Exception):
    """The disk did not do what was asked; an error of whoever makes the data is never taken for one."""


class NewFile:
    """A file that is being written; encoders of Parquet and JSON write to it."""

    def __init__(self, path: Path) -> None:
        with _explained():
            self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            os.fchmod(self._descriptor, 0o600)
        self.closed = False
        self._held = bytearray()

    def write(self, data: bytes) -> int:
        """Take all of the data; an encoder of Parquet writes many small pieces, which are put together."""
        if self.closed:
            # An encoder that is collected late still wants to write its end; by then the number of the descriptor may
            # belong to another file.
            raise DiskError("the file is closed")
        piece = memoryview(data).cast("B")
        if len(self._held) + len(piece) > MOST_HELD_BYTES:
            self._write_held()
        if len(piece) > MOST_HELD_BYTES:
            self._write(piece)
        else:
            self._held += piece
        return len(data)

    def flush(self) -> None:
        """Do nothing: encoders call it at every turn, and the file is whole only when it is synced or closed."""

    def sync(self) -> None:
        """Put what was written on disk."""
        self._write_held()
        with _explained():
            fsync(self._descriptor)

    def close(self) -> None:
        """Write what is held back, and let go of the file."""
        try:
            self._write_held()
        finally:
            self.closed = True
            os.close(self._descriptor)

    def discard(self) -> None:
        """Let go of a file that is not needed any more, without what is held back."""
        self._held.clear()
        self.close()

    def _write_held(self) -> None:
        held, self._held = self._held, bytearray()
        self._write(memoryview(held))

    def _write(self, rest: memoryview) -> None:
        """Write all of it, however little the system takes at a time."""
        with _explained():
            while rest:
                rest = rest[write(self._descriptor, rest) :]


@contextmanager
def new_file(path: Path) -> Iterator[NewFile]:
    """Give a file that did not exist before; its content is on disk when the block ends."""
    file = NewFile(path)
    try:
        yield file
        file.sync()
    except BaseException:
        file.discard()
        remove(path)
        raise
    file.close()


@contextmanager
def part_file(folder: Path) -> Iterator[Path]:
    """Give a path for a file that is not whole yet; what is left there when the block ends is removed."""
    part = folder / f".{uuid4().hex}.part"
    try:
        yield part
    finally:
        remove(part)


def is_part(path: Path) -> bool:
    """Whether a path is one of files that are not whole yet."""
    return path.name.startswith(".") and path.name.endswith(".part")


def replace_file(path: Path, content: bytes) -> os.stat_result:
    """Put a file in the place of another, all at once, and return its status."""
    with part_file(path.parent) as part:
        with new_file(part) as file:
            file.write(content)
        status = part.stat()
        part.replace(path)
    return status


def write_note(ledger: Path, name: str, content: bytes) -> None:
    """Replace a note beside a ledger, where that can be: it makes a run faster, and is no loss when it is gone."""
    with suppress(LedgerUnwritableError, OSError), writing_to(ledger):
        replace_file(ledger / name, content)


def remove(path: Path) -> None:
    """Remove a file that nothing needs any more; where that fails it stays, and does no harm."""
    with suppress(OSError):
        path.unlink()


def is_absent(path: Path) -> bool:
    """Whether there is certainly nothing at that path."""
    try:
        os.lstat(path)
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return False


def make_folder(path: Path) -> None:
    """Make a private folder, and those above it; make private what is there."""
    if not path.is_dir():
        above = path.absolute().parent
        if not above.is_dir():
            make_folder(above)
            sync_folder(above.parent)
        with _explained():
            path.mkdir(mode=0o700, exist_ok=True)
    with _explained():
        if path.stat().st_mode & 0o777 != 0o700:
            path.chmod(0o700)


def sync_folder(path: Path) -> None:
    """Put the names in a folder on disk, where the file system can."""
    with _explained():
        descriptor = os.open(path, os.O_RDONLY)
        try:
            fsync(descriptor)
        except OSError as error:
            if error.errno not in _NO_FOLDER_SYNC:
                raise
        finally:
            os.close(descriptor)


def place(part: Path, final: Path) -> bool:
    """Give a finished file its final name, all at once; False when that name is taken."""
    with _explained():
        try:
            link(part, final)
        except FileExistsError:
            # A network file system may have made the link and lost its answer.
            if not part.samefile(final):
                return False
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
            if not _rename_unless_taken(part, final):
                return False
    sync_folder(final.parent)
    return True


def _rename_unless_taken(part: Path, final: Path) -> bool:
    # A rename replaces what has the name already, so look first, and let no other writer do so meanwhile. The system
    # releases the lock when the process dies.
    descriptor = os.open(final.with_name(".lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if not is_absent(final):
            return False
        part.rename(final)
    finally:
        os.close(descriptor)
    return True


@contextmanager
def writing_to(ledger: Path) -> Iterator[None]:
    """Say of an error of the disk that nothing can be written to that ledger."""
    try:
        yield
    except DiskError as error:
        raise LedgerUnwritableError(ledger, str(error)) from error


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DiskError(error.strerror or str(error)) from error
