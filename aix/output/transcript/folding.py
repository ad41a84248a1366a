"""Long texts folded to their first lines, with a count of what is hidden."""

import re
from dataclasses import dataclass

from aix.output.humanise import short_count
from aix.output.transcript.model import Excerpt

_LINE_END = re.compile("\r\n|\n|\r")
_TAB = 4


@dataclass(frozen=True)
class Fold:
    """How much of a text is shown."""

    lines: int
    columns: int


@dataclass(frozen=True)
class Folded:
    """The lines that are shown, and how much is not, in words."""

    lines: list[str]
    hidden: str = ""


def fold(excerpt: Excerpt, limits: Fold | None) -> Folded:
    r"""Fold a text, or give all its lines when there are no limits.

    >>> fold(Excerpt("a\n\n" * 9, 27), Fold(lines=3, columns=80))
    Folded(lines=['a', '', 'a'], hidden='14 more lines')
    """
    lines = _lines(excerpt.text)
    if limits is None:
        return Folded(lines)
    hidden_lines = len(lines) - limits.lines
    # A line that says that one line is hidden takes as much room as the line.
    first = lines if hidden_lines == 1 else lines[: limits.lines]
    shown = [line if len(line) <= limits.columns else f"{line[: limits.columns - 1]}…" for line in first]
    if excerpt.is_whole and hidden_lines > 1:
        return Folded(shown, f"{hidden_lines} more lines")
    behind = sum(len(line) - limits.columns + 1 for line in first if len(line) > limits.columns)
    cut = behind if excerpt.is_whole else excerpt.characters - sum(map(len, shown))
    return Folded(shown, f"{short_count(cut)} more characters" if cut else "")


def _lines(text: str) -> list[str]:
    lines = [line.expandtabs(_TAB).rstrip() for line in _LINE_END.split(text)]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return lines
