"""Where output goes, with every way in which writing can fail turned into one that can be explained."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from aix.errors import OutputError


class ReaderGoneError(Exception):
    """The reader of the output has stopped reading, as `head` does."""


class Sink:
    """A stream of bytes that knows its name; errors of whoever makes the bytes pass through it untouched."""

    closed = False

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream = stream
        self._name = name

    def write(self, data: bytes) -> int:
        """Write all of the data, or say why not."""
        with explained(self._name):
            return self._stream.write(data)

    def flush(self) -> None:
        """Pass on what has been written."""
        with explained(self._name):
            self._stream.flush()


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Turn an error of the operating system into one that names the output."""
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGoneError from error
    except (OSError, RuntimeError) as error:  # before Python 3.13, a loop of links is a RuntimeError
        reason = getattr(error, "strerror", None) or str(error)
        raise OutputError(name, f"cannot be written: {reason}", "name another file with -o FILE") from error


@contextmanager
def replaced_file(path: Path) -> Iterator[Sink]:
    """Give a sink whose content replaces the file once it is whole; devices and pipes are written straight."""
    name = str(path)
    with explained(name):
        straight = path.exists() and not path.is_file()
        target = path if straight else path.resolve()  # a link stays a link; what it names is replaced
        stream: IO[bytes] = target.open("wb") if straight else _file_beside(target)
    sink = Sink(stream, name)
    try:
        yield sink
        sink.flush()
        if not straight:
            with explained(name):
                Path(stream.name).chmod(_mode_of(target))
                Path(stream.name).replace(target)
    except BaseException:
        if not straight:
            Path(stream.name).unlink(missing_ok=True)
        raise
    finally:
        with explained(name):
            stream.close()


def _file_beside(target: Path) -> IO[bytes]:
    import tempfile

    return tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False)


def _mode_of(target: Path) -> int:
    """The permissions of the file that is replaced, or those that a new file would get."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
