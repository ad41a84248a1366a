"""The terminal that people read on: its width, whether it shows colours, and lines that fit on it."""

import os
import shutil
from textwrap import wrap

ACCENT = "deep_sky_blue3"
GOOD = "green4"
CAUTION = "dark_orange3"
"""Colours that can be read on black and on white; the cyan, green and yellow of many terminals cannot."""


def terminal_width() -> int:
    """Return the number of columns of the terminal."""
    return shutil.get_terminal_size().columns


def has_colours() -> bool:
    """Whether colours, bold and dim are wanted on a terminal."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def fitting_lines(line: str, indent: str = "") -> list[str]:
    """Return a line as it is, or in parts that fit on the terminal; parts after the first are indented.

    >>> fitting_lines("short")
    ['short']
    """
    width = terminal_width()
    if len(line) <= width:
        return [line]
    return wrap(line, width, subsequent_indent=indent, break_on_hyphens=False)
