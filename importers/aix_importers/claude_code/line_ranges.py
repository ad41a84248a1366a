"""Ranges of lines, counted from 1 and with their last line included."""

from msgspec import Raw, Struct
from msgspec.json import Decoder

from aix_importers.common.json_text import ABSENT, LARGEST_NUMBER, items, number, read

LineRange = tuple[int | None, int | None]
NO_LINES: LineRange = (None, None)


class _Hunk(Struct):
    newStart: Raw = ABSENT  # noqa: N815
    newLines: Raw = ABSENT  # noqa: N815


_HUNK = Decoder(_Hunk)


def line_range(start: int | None, count: int | None) -> LineRange:
    """Return the range of so many lines, or no lines where there are none or too little is known.

    >>> line_range(10, 3), line_range(10, 0), line_range(None, 3)
    ((10, 12), (None, None), (None, None))
    """
    if not start or not count or start + count - 1 > LARGEST_NUMBER:
        return NO_LINES
    return start, start + count - 1


def line_count(content: str) -> int:
    r"""Return the number of lines of a file.

    >>> line_count("a\nb"), line_count("a\nb\n"), line_count("")
    (2, 2, 0)
    """
    return content.count("\n") + (not content.endswith("\n")) if content else 0


def patched_ranges(patch: Raw) -> list[LineRange]:
    """Return the lines that each hunk of a patch left in the file; a hunk may leave none."""
    hunks = [read(_HUNK, item) for item in items(patch)]
    return [line_range(number(hunk.newStart), number(hunk.newLines)) for hunk in hunks if hunk]
