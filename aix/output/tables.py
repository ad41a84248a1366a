"""The `table` format: whole columns in a pipe or a file; on a terminal, one line for each row at any width.

A terminal that is too narrow for all columns loses those that matter least, and shortens the texts of the others.
Records show every column of a row below each other, with nothing cut.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from textwrap import wrap
from typing import IO

from msgspec.structs import replace
from rich.cells import cell_len

from aix.output import DISPENSABLE, Listing, ListingColumn
from aix.output.terminal import has_colours, terminal_width
from aix.output.text import NULL, escape_unsafe, to_cell, to_text

TOTAL = "total"
"""The first cell of a row that sums up the others."""
_GAP = "  "
_KEPT_COLUMNS = 3
_LONGEST_NAME = 32
_NEVER_SHORTENED = 16
_SHORTEST_TEXT = 12
_NARROWEST_TEXT = 6
_LONGEST_TEXT = 4_000
_LONGEST_SENTENCE = 100
"""Cells of a title or prompt in a pipe, where records have it whole."""
_NARROWEST_VALUE = 20
_STYLES = {"bold": "1", "dim": "2", "severe": "1;31", "warning": "38;5;166"}  # readable on black and on white
_SEVERITIES = {"critical": "severe", "high": "severe", "medium": "warning", "low": "dim"}
_GREAT_SHARE = 0.25
_SENTENCES = ("title", "session", "prompt", "beginning", "begins with")
"""Columns of texts that may begin with a slash command, which looks like a path."""
_PATH = re.compile(r"(~|[A-Za-z]:)?[/\\][^ ]+$")
_AMOUNT = re.compile(r"\$([\d,]+(?:\.\d+)?)")


def plain_lines(listing: Listing, *, is_exact: bool = True) -> Iterator[str]:
    """Give the table line by line, nothing cut but long titles.

    Cells of an exact table are whole and can be read back: NULL and a text that looks like it differ.
    """
    header = [escape_unsafe(column.name) for column in listing.columns]
    write = to_cell if is_exact else shown
    most = [_LONGEST_SENTENCE if column.name in _SENTENCES and not is_exact else None for column in listing.columns]
    body = [
        [
            write(value) if room is None else shortened(write(value), room, "end")
            for value, room in zip(row, most, strict=True)
        ]
        for row in listing.rows
    ]
    widths = [max(map(cell_len, cells)) for cells in zip(header, *body, strict=True)]
    yield _line(listing.columns, header, widths)
    yield _GAP.join("─" * width for width in widths)
    for cells in body:
        yield _line(listing.columns, cells, widths)


def record_lines(listing: Listing, width: int | None = None) -> Iterator[str]:
    """Give each row as a block with a line for each column; with a width, longer values continue below."""
    names = [escape_unsafe(column.name) for column in listing.columns]
    margin = max(map(cell_len, names), default=0) + len(_GAP)
    room = None if width is None else max(width - margin, _NARROWEST_VALUE)
    for number, row in enumerate(listing.rows, start=1):
        yield f"── {number} ──"
        for name, value in zip(names, row, strict=True):
            first, *others = _value_lines(value, room)
            yield f"{name}{' ' * (margin - cell_len(name))}{first}".rstrip()
            yield from (f"{' ' * margin}{line}" for line in others)


def _value_lines(value: object, room: int | None) -> list[str]:
    text = NULL if value is None else to_text(value)
    lines = [escape_unsafe(line) for line in text.split("\n")]
    if room is not None:
        lines = [part for line in lines for part in wrap(line, room, drop_whitespace=False) or [""]]
    return lines


def write_to_terminal(listing: Listing, stream: IO[str], *, is_expanded: bool = False) -> list[str]:
    """Draw the table, or the records, as wide as the terminal; return the names of columns that had no room."""
    width = terminal_width()
    if is_expanded:
        stream.writelines(f"{line}\n" for line in record_lines(listing, width))
        return []
    columns = listing.columns
    rows = [[shown(value)[:_LONGEST_TEXT] for value in row] for row in listing.rows]
    columns = tuple(_cut_by_meaning(column, [row[index] for row in rows]) for index, column in enumerate(columns))
    layout = _layout(columns, rows, width)
    paint = _Painter(columns, rows) if has_colours() else None
    for words in _header_lines(columns, layout):
        line = _line([columns[index] for index in layout], words, list(layout.values()))
        stream.write(f"{_styled(line, 'bold') if paint else line}\n")
    drawn = [
        _shortened_cells(listing.columns[index], [row[index] for row in rows], room) for index, room in layout.items()
    ]
    for row, cells in zip(rows, zip(*drawn, strict=True), strict=True):
        padded = _padded([columns[index] for index in layout], cells, list(layout.values()))
        if paint:
            padded = [_styled(cell, paint(row, index)) for cell, index in zip(padded, layout, strict=True)]
        stream.write(f"{_GAP.join(padded).rstrip()}\n")
    return [column.name for index, column in enumerate(columns) if index not in layout and column.name]


def shown(value: object) -> str:
    r"""Write a value on one line for people, who need not tell an empty text from an unknown one.

    >>> [shown(value) for value in (None, "two\n lines", 12, "\x1b[31m")]
    ['–', 'two lines', '12', '\\u001b[31m']
    """
    return NULL if value is None else escape_unsafe(" ".join(to_text(value).split()))


def _cut_by_meaning(column: ListingColumn, cells: Sequence[str]) -> ListingColumn:
    """Mark a column with paths as one that needs not be wide."""
    return replace(column, cut="start") if any(_cut_of(column, cell) == "start" for cell in cells) else column


def _cut_of(column: ListingColumn, cell: str) -> str:
    """Let a path keep its end, which differs from others, and a command in the same column its beginning."""
    return "start" if column.name not in _SENTENCES and _PATH.match(cell) else column.cut


def _shortened_cells(column: ListingColumn, cells: Sequence[str], room: int) -> list[str]:
    """Shorten the cells of a column; paths that would look alike go without the end that all of them have."""
    are_paths = [_cut_of(column, cell) == "start" and cell != NULL for cell in cells]
    short = [
        shortened(cell, room, "start" if is_path else column.cut)
        for cell, is_path in zip(cells, are_paths, strict=True)
    ]
    if len(set(short)) == len(set(cells)):
        return short
    length = _common_end_length({cell for cell, is_path in zip(cells, are_paths, strict=True) if is_path})
    without_end = [
        f"{shortened(cell[:-length], room - 2, 'start')}{cell[-length]}…" if is_path and len(cell) > length else each
        for cell, is_path, each in zip(cells, are_paths, short, strict=True)
    ]
    return without_end if length and len(set(without_end)) > len(set(short)) else short


def _common_end_length(paths: Iterable[str]) -> int:
    r"""Return the length of the end that all paths have, from a slash on; a mere name has none before it.

    >>> _common_end_length(["/srv/one/src/app.py", "C:\\two\\src\\app.py", "app.py"])
    7
    """
    ends = zip(*(f"/{path}".replace("\\", "/")[::-1] for path in paths), strict=False)
    end = "".join(alike[0] for alike in takewhile(lambda each: len(set(each)) == 1, ends))
    return end.rfind("/") + 1


def _layout(columns: Sequence[ListingColumn], rows: Sequence[Sequence[str]], width: int) -> dict[int, int]:
    """Return the columns that fit, by their place in the listing, with the width of each.

    Columns without a single known value leave first.
    """
    whole = [max((cell_len(row[index]) for row in rows), default=0) for index in range(len(columns))]
    names = [max(map(cell_len, _name_words(column)), default=0) for column in columns]
    least = [
        max(
            longest if column.is_number or longest <= _NEVER_SHORTENED else _SHORTEST_TEXT,
            min(longest, column.least),
            name,
        )
        for column, longest, name in zip(columns, whole, names, strict=True)
    ]
    if columns and columns[0].cut == "end":  # the first column mostly names the thing that a row is about
        least[0] = max(least[0], min(whole[0], _LONGEST_NAME))
    kept = list(range(len(columns)))
    is_unknown = [bool(rows) and all(row[index] == NULL for row in rows) for index in kept]
    while _total_width(least[index] for index in kept) > width and (
        others := [
            index for index in kept if index >= _KEPT_COLUMNS or (index and columns[index].priority >= DISPENSABLE)
        ]
    ):
        kept.remove(max(others, key=lambda index: (is_unknown[index], columns[index].priority, index)))
    widths = {index: least[index] for index in kept}
    while _total_width(widths.values()) > width and max(widths.values()) > 1:
        # A name is the last to be shortened.
        widths[max(widths, key=lambda index: (index > 0 and widths[index] > _NARROWEST_TEXT, widths[index]))] -= 1
    _widen(widths, whole, width)
    _widen(widths, [cell_len(column.name) for column in columns], width)
    return widths


def _widen(widths: dict[int, int], wanted: Sequence[int], width: int) -> None:
    """Share the room that is left among the columns that want more, the narrowest first."""
    room = width - _total_width(widths.values())
    while room > 0 and (short := [index for index in widths if widths[index] < wanted[index]]):
        widths[min(short, key=lambda index: widths[index])] += 1
        room -= 1


def _total_width(widths: Iterable[int]) -> int:
    listed = list(widths)
    return sum(listed) + len(_GAP) * (len(listed) - 1)


def _name_words(column: ListingColumn) -> list[str]:
    return escape_unsafe(column.name).replace("_", " ").split()


def _header_lines(columns: Sequence[ListingColumn], layout: dict[int, int]) -> Iterator[list[str]]:
    """Give the names of columns, on several lines where the values need less room than the name."""
    names = []
    for index, room in layout.items():
        words = _name_words(columns[index])
        name = escape_unsafe(columns[index].name)
        whole = [name] if cell_len(name) <= room else wrap(" ".join(words), room)
        names.append(whole or [""])
    height = max(map(len, names), default=0)
    for number in range(height):
        yield [lines[number - height + len(lines)] if number - height + len(lines) >= 0 else "" for lines in names]


def _line(columns: Sequence[ListingColumn], cells: Sequence[str], widths: Sequence[int]) -> str:
    return _GAP.join(_padded(columns, cells, widths)).rstrip()


def _padded(columns: Sequence[ListingColumn], cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    padded = []
    for column, cell, width in zip(columns, cells, widths, strict=True):
        padding = " " * (width - cell_len(cell))
        padded.append(padding + cell if column.is_number else cell + padding)
    return padded


def shortened(text: str, width: int, cut: str) -> str:
    """Shorten a text to a number of cells, at its end or at its start.

    >>> shortened("a long sentence", 8, "end"), shortened("/home/ada/agents/athena", 17, "start")
    ('a long …', '…/agents/athena')
    """
    if cell_len(text) <= width:
        return text
    if cut == "end":
        return f"{_beginning(text, width - 1)}…"
    end = _beginning(text[::-1], width - 1)[::-1]
    slash = next((place for place, character in enumerate(end) if character in "/\\"), -1)
    return f"…{end[slash:] if 0 < slash < len(end) - 1 else end}"


def _beginning(text: str, width: int) -> str:
    used = 0
    for place, character in enumerate(text):
        used += cell_len(character)
        if used > width:
            return text[:place]
    return text


def _styled(text: str, style: str) -> str:
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if style and text.strip() else text


class _Painter:
    """The styles of the cells of a table."""

    def __init__(self, columns: Sequence[ListingColumn], rows: Sequence[Sequence[str]]) -> None:
        self._columns = columns
        self._greatest = {
            index: max((_amount(row[index]) for row in rows if row[0] != TOTAL), default=0)
            for index, column in enumerate(columns)
            if column.tone == "cost"
        }

    def __call__(self, row: Sequence[str], index: int) -> str:
        """Return the style of a cell."""
        cell = row[index]
        tone = self._columns[index].tone
        if row[0] == TOTAL:
            return "bold"
        if cell == NULL or tone == "dim":
            return "dim"
        if tone == "severity":
            return _SEVERITIES.get(cell.partition(" ")[0].lower(), "")
        if tone == "cost" and self._greatest[index] > 0 and _amount(cell) >= _GREAT_SHARE * self._greatest[index]:
            return "warning"
        return ""


def _amount(cell: str) -> float:
    """Return the dollars of a cell such as `≥$1,234.50`."""
    found = _AMOUNT.search(cell)
    return float(found[1].replace(",", "")) if found else 0
