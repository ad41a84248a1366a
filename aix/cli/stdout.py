"""The owner of stdout, and of files that take its place: stdout is data and nothing else, and is written here."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from aix.errors import OutputError
from aix.output import SUFFIXES, Listing
from aix.output.terminal import fitting_lines

if TYPE_CHECKING:
    from aix.output.dashboard import Dashboard
    from aix.output.paragraphs import Paragraph


class ReaderGoneError(Exception):
    """The reader of the output has stopped reading, as `head` does."""


class Sink:
    """A stream of bytes with a name, which stands in its errors; errors of the maker of the bytes pass through."""

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


def chosen_format(
    given: str | None, path: Path | None, suffixes: Mapping[str, str] = SUFFIXES, default: str = "table"
) -> str:
    """Return the format that was given, else that of the file's suffix, else the default."""
    return given or (suffixes.get(path.suffix.lower(), default) if path else default)


def emit(listing: Listing, *, output_format: str | None, path: Path | None, is_expanded: bool = False) -> list[str]:
    """Write a listing to the file, or to stdout when no file is given; return columns that a terminal had no room for.

    Without a format, the file's suffix decides; anything else is a table. An expanded table is a record for each row.
    """
    chosen = chosen_format(output_format, path)
    if chosen == "table" and listing.dashboard is not None and not is_expanded:
        _emit_dashboard(listing.dashboard, path)
        return []
    if chosen == "table" and listing.text:
        from aix.output.text import escape_unsafe

        _emit_sentences(map(escape_unsafe, listing.text), path)
        return []
    with _opened(path) as sink:
        if path is None and sys.stdout.isatty():
            return _write_to_terminal(listing, chosen, sink, is_expanded)
        _write(listing, chosen, sink, is_expanded)
        return []


def _emit_dashboard(dashboard: "Dashboard", path: Path | None) -> None:
    from aix.output.dashboard import plain_dashboard, write_dashboard

    if path is None and is_terminal():
        write_dashboard(dashboard, sys.stdout)
    else:
        emit_lines(plain_dashboard(dashboard), path)


def emit_lines(lines: Iterable[str], path: Path | None) -> None:
    """Write lines as they come to the file, or to stdout when no file is given."""
    with _opened(path) as sink:
        _write_lines(lines, sink)


def emit_at_once(lines: Iterable[str]) -> None:
    """Write each line to stdout as soon as it is there, for readers that wait for it."""
    sink = _stdout()
    for line in lines:
        _write_lines([line], sink)
        sink.flush()


def emit_paragraphs(paragraphs: "Iterable[Paragraph]", path: Path | None) -> None:
    """Write running text as it comes: to the file, or to stdout without one, wrapped on a terminal."""
    from aix.output.paragraphs import paragraph_lines, write_paragraphs

    if path is None and is_terminal():
        write_paragraphs(paragraphs, sys.stdout)
    else:
        emit_lines(paragraph_lines(paragraphs), path)


def emit_text(text: str) -> None:
    """Write text that AIX itself made, such as help or a completion script; a terminal gets lines that fit."""
    _emit_sentences(text.splitlines(), None)


def _emit_sentences(lines: Iterable[str], path: Path | None) -> None:
    """Write lines of text; a terminal gets parts that fit, indented as deep as their line."""
    if path is None and is_terminal():
        lines = [part for line in lines for part in fitting_lines(line, " " * (len(line) - len(line.lstrip())))]
    emit_lines(lines, path)


def is_terminal() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def flush_stdout() -> None:
    """Write out the buffer of stdout."""
    if sys.stdout is not None:
        sys.stdout.flush()


def _stdout() -> Sink:
    if sys.stdout is None:
        raise OutputError("stdout", "is closed", "name a file with -o FILE")
    return Sink(sys.stdout.buffer, "stdout")


@contextmanager
def _opened(path: Path | None) -> Iterator[Sink]:
    if path is not None:
        with replaced_file(path) as sink:
            yield sink
        return
    sink = _stdout()
    yield sink
    sink.flush()


def _write_to_terminal(listing: Listing, chosen: str, terminal: Sink, is_expanded: bool) -> list[str]:
    if chosen == "parquet":
        raise OutputError("the terminal", "Parquet is not text", "name a file with -o FILE, or pipe it on")
    if chosen == "table":
        from aix.output.tables import write_to_terminal

        return write_to_terminal(listing.for_people or listing, sys.stdout, is_expanded=is_expanded)
    from aix.output.text import escape_unsafe

    # Only csv holds text as it is; in the other formats there is nothing left to escape.
    _write_lines(map(escape_unsafe, _lines(listing, chosen)), terminal)
    return []


def _write(listing: Listing, chosen: str, sink: Sink, is_expanded: bool) -> None:
    if chosen == "parquet":
        from aix.output.parquet import write_parquet

        write_parquet(listing, sink)
    elif chosen == "table":
        from aix.output.tables import plain_lines, record_lines

        shown = listing.for_people or listing
        _write_lines(record_lines(shown) if is_expanded else plain_lines(shown, is_exact=shown is listing), sink)
    else:
        _write_lines(_lines(listing, chosen), sink)


def _lines(listing: Listing, chosen: str) -> Iterable[str]:
    from aix.output.formats import LINE_FORMATS

    return LINE_FORMATS[chosen](listing)


def _write_lines(lines: Iterable[str], sink: Sink) -> None:
    # Bytes, so that the locale neither changes line ends nor refuses characters.
    for line in lines:
        sink.write(line.encode("utf-8", "backslashreplace") + b"\n")
