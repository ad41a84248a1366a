"""The output of a search: which files it names, and which of their lines.

A line that was found reads `path:line:text`, a line around it `path-line-text`; in the search of a single file both
lack the path. A path may hold a colon only behind the letter of a drive, but dashes and numbers anywhere.
"""

import re
from collections.abc import Iterator
from itertools import islice, takewhile
from typing import NamedTuple

from aix_importers.claude_code.paths import absolute_path

_PATH = r"((?:[A-Za-z]:(?=[\\/]))?[^:\n]+)"
_FOUND = re.compile(rf"{_PATH}:(\d{{1,18}}):")
_AROUND = re.compile(r"-\d+-")
_COUNTED = re.compile(rf"{_PATH}:\d+\r?")
_FOUND_IN_FILE = re.compile(r"(\d{1,18}):")
_NUMBERED = re.compile(r"\d+[:-]")
_SEPARATOR = "--"
_FOOTER = "[Showing results with pagination"
_HEADING = re.compile(r"Found \d+ |No (?:files|matches) found|\(Results are truncated|\[Showing ")
_NOTICE = "<persisted-output>"
_MOST_TRIES = 16


class FoundLine(NamedTuple):
    """A line that was found."""

    path: str
    line: int


def found_lines(output: str, searched: str | None, cwd: str | None) -> Iterator[FoundLine]:
    r"""Go through the lines that were found, but not those around them.

    >>> [*found_lines("a.py-6-at 5:9:1\na.py:7:now\n--\nb-1-c.py:3:now", None, "/w")]
    [FoundLine(path='/w/a.py', line=7), FoundLine(path='/w/b-1-c.py', line=3)]
    """
    lines = [line for line in output.split("\n") if line and line != _SEPARATOR and not line.startswith(_FOOTER)]
    in_file = [_FOUND_IN_FILE.match(line) for line in lines]
    if any(in_file) and all(map(_NUMBERED.match, lines)):
        path = absolute_path(searched, cwd) if searched else None
        yield from (FoundLine(path, int(match[1])) for match in in_file if match and path)
        return
    matches = [match for line in lines if (match := _FOUND.match(line))]
    known = {absolute_path(match[1], cwd) for match in matches if not _AROUND.search(match[1])}
    for match in matches:
        if not _is_around(match[1], known, cwd):
            path = absolute_path(match[1], cwd)
            known.add(path)
            yield FoundLine(path, int(match[2]))


def counted_files(output: str, cwd: str | None) -> Iterator[str]:
    """Go through the files of an output that says how often each of them matches."""
    return (absolute_path(match[1], cwd) for line in output.split("\n") if (match := _COUNTED.fullmatch(line)))


def listed_files(output: str, cwd: str | None) -> Iterator[str]:
    """Go through the files of an output that lists them, one on a line; one that was too large is only a notice."""
    lines = takewhile(bool, [] if output.startswith(_NOTICE) else output.split("\n"))
    return (absolute_path(line.rstrip("\r"), cwd) for line in lines if not _HEADING.match(line))


def _is_around(prefix: str, known: set[str], cwd: str | None) -> bool:
    """Whether a line that looks like one that was found only holds a colon, a number and a colon in its text."""
    dashes = islice(_AROUND.finditer(prefix), _MOST_TRIES)
    return any(absolute_path(prefix[: match.start()], cwd) in known for match in dashes)
