"""The owner of stdout. stdout is data and nothing else: what is written there, is written here."""

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TextIO

from aix.errors import OutputError
from aix.formats import SUFFIXES, Listing
from aix.formats.line_formats import csv_lines, json_lines, jsonl_lines, markdown_lines
from aix.formats.text import escape_unsafe


class ReaderGoneError(Exception):
    """Whoever read stdout has stopped reading, as `head` does."""


_LINE_FORMATS = {"csv": csv_lines, "json": json_lines, "jsonl": jsonl_lines, "markdown": markdown_lines}


def emit(listing: Listing, *, output_format: str | None, path: Path | None) -> None:
    """Write a listing to the file, or to stdout when there is none.

    Without a format, the file's suffix decides; anything else is a table.
    """
    chosen = output_format or (SUFFIXES.get(path.suffix.lower(), "table") if path else "table")
    if path is not None:
        with _replaced_file(path) as stream:
            _write(listing, chosen, stream)
        return
    with _stdout() as stdout:
        if stdout.isatty():
            _write_to_terminal(listing, chosen, stdout)
        else:
            _write(listing, chosen, stdout.buffer)


def emit_text(text: str) -> None:
    """Write text that AIX itself made, such as help or a completion script."""
    with _stdout() as stdout:
        _write_lines(text.splitlines(), stdout.buffer)


@contextmanager
def _stdout() -> Iterator[TextIO]:
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError as error:
        # The interpreter flushes stdout once more on its way out; let that go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise ReaderGoneError from error


def _write_to_terminal(listing: Listing, chosen: str, terminal: TextIO) -> None:
    if chosen == "parquet":
        raise OutputError("the terminal", "Parquet is not text", "name a file with -o FILE, or pipe it on")
    if chosen == "table":
        from aix.formats.text_table import write_to_terminal

        write_to_terminal(listing, terminal)
    else:
        # Only csv holds text as it is; in the other formats there is nothing left to escape.
        _write_lines(map(escape_unsafe, _LINE_FORMATS[chosen](listing)), terminal.buffer)


def _write(listing: Listing, chosen: str, stream: IO[bytes]) -> None:
    if chosen == "parquet":
        from aix.formats.parquet import write_parquet

        write_parquet(listing, stream)
    elif chosen == "table":
        from aix.formats.text_table import plain_lines

        _write_lines(plain_lines(listing), stream)
    else:
        _write_lines(_LINE_FORMATS[chosen](listing), stream)


def _write_lines(lines: Iterable[str], stream: IO[bytes]) -> None:
    # Bytes, so that the locale neither changes line ends nor refuses characters.
    for line in lines:
        stream.write(line.encode("utf-8", "backslashreplace") + b"\n")


@contextmanager
def _replaced_file(path: Path) -> Iterator[IO[bytes]]:
    """Give a stream whose content replaces the file once it is whole; devices and pipes are written straight."""
    path = path.resolve()  # a link stays a link; what it names is replaced
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as stream:
                yield stream
            return
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as stream:
            part = Path(stream.name)
            try:
                yield stream.file
                stream.flush()
                part.chmod(0o666 & ~_umask())
                part.replace(path)
            except BaseException:
                part.unlink()
                raise
    except OSError as error:
        raise OutputError(str(path), error.strerror or str(error), "name another file with -o FILE") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
