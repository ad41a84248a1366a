"""Dashboards: lines of a label, figures and the command behind them, fitted to the width of a terminal."""

from collections.abc import Iterator, Sequence
from typing import IO, Literal

import msgspec
from rich.cells import cell_len, set_cell_size

from aix.output.tables import shortened
from aix.output.terminal import ACCENT, has_colours
from aix.output.text import escape_unsafe

_GAP = "  "
_DOT = " · "
_LABEL_STYLE = "bold"
_COMMAND_STYLE = "dim"
_LONGEST_NAME = 40
_ENDLESS = 10_000
"""The width of a pipe or a file."""

_Span = tuple[str, str]
"""A piece of a line, and its style on a terminal."""


class Figure(msgspec.Struct, frozen=True):
    """A piece of a line, such as an amount with its meaning."""

    text: str
    style: str = ""
    joint: str = _DOT
    """The text between the figure before and this one."""


class FigureLine(msgspec.Struct, frozen=True):
    """Figures behind a label. Where they do not fit, the last ones are left out, and the first is shortened."""

    label: str
    figures: tuple[Figure, ...]
    command: str = ""
    """The command that says more."""


class Ranking(msgspec.Struct, frozen=True):
    """Names below each other, each with an amount and a bar."""

    rows: tuple[tuple[str, str, str], ...]
    cut: Literal["end", "start"] = "end"
    """The side on which a name that is too long is shortened."""


class Dashboard(msgspec.Struct, frozen=True):
    """A headline, and lines below it."""

    headline: str
    lines: Sequence[FigureLine | Ranking] = ()


def plain_dashboard(dashboard: Dashboard) -> Iterator[str]:
    """Give the lines as plain text, nothing left out: for pipes and files."""
    for spans in _lines(dashboard, _ENDLESS):
        yield "".join(text for text, _ in spans).rstrip()


def write_dashboard(dashboard: Dashboard, stream: IO[str]) -> None:
    """Write each line as one line of a terminal."""
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, color_system="auto" if has_colours() else None)
    for spans in _lines(dashboard, console.width):
        console.print(Text.assemble(*spans), soft_wrap=True)


def _lines(dashboard: Dashboard, width: int) -> Iterator[list[_Span]]:
    yield [(shortened(escape_unsafe(dashboard.headline), width, "end"), _LABEL_STYLE)]
    if not dashboard.lines:
        return
    yield []
    lines = [line for line in dashboard.lines if isinstance(line, FigureLine)]
    margin = max((len(line.label) for line in lines), default=0) + len(_GAP)
    texts = {line: _fitted(line, width - margin) for line in lines}
    column = margin + max((_length(text) for line, text in texts.items() if line.command), default=0) + len(_GAP)
    is_aligned = column + max((len(line.command) for line in lines), default=0) <= width
    for line in dashboard.lines:
        if isinstance(line, Ranking):
            yield from ([(" " * margin, ""), *spans] for spans in _ranked(line, width - margin))
            continue
        start = column if is_aligned else width - len(line.command)
        padding = " " * (start - margin - _length(texts[line])) if line.command else ""
        yield [(line.label.ljust(margin), _LABEL_STYLE), *texts[line], (padding + line.command, _COMMAND_STYLE)]


def _fitted(line: FigureLine, room: int) -> list[_Span]:
    """Return as many of the figures as there is room for beside the command."""
    room -= len(_GAP + line.command) if line.command else 0
    spans: list[_Span] = []
    for figure in line.figures:
        text = escape_unsafe(figure.text)
        if not spans:
            spans.append((shortened(text, room, "end"), figure.style))
        elif _length(spans) + len(figure.joint) + cell_len(text) <= room:
            spans += [(figure.joint, _COMMAND_STYLE), (text, figure.style)]
        else:
            break
    return spans


def _ranked(ranking: Ranking, room: int) -> Iterator[list[_Span]]:
    amounts, bars = (max((len(row[place]) for row in ranking.rows), default=0) for place in (1, 2))
    names = [escape_unsafe(name) for name, _, _ in ranking.rows]
    has_bars = room - len(2 * _GAP) - amounts - bars >= _LONGEST_NAME // 2
    left = room - len(_GAP) - amounts - (len(_GAP) + bars if has_bars else 0)
    longest = min(max(map(cell_len, names), default=0), _LONGEST_NAME, left)
    for name, (_, amount, bar) in zip(names, ranking.rows, strict=True):
        shown = set_cell_size(shortened(name, longest, ranking.cut), longest)
        yield [(f"{shown}{_GAP}{amount.rjust(amounts)}{_GAP}", ""), (bar if has_bars else "", ACCENT)]


def _length(spans: list[_Span]) -> int:
    return sum(cell_len(text) for text, _ in spans)
