"""The `table` format: aligned columns for people, on a terminal or in a pipe."""

from collections.abc import Iterator
from typing import IO

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from aix.formats.listing import Listing
from aix.formats.text import escape_unsafe, to_cell

_GAP = "  "
_NARROWEST_TEXT = 12


def plain_lines(listing: Listing) -> Iterator[str]:
    """Give the table line by line, nothing cut: for pipes and files."""
    header = [escape_unsafe(column.name) for column in listing.columns]
    body = [[to_cell(value) for value in row] for row in listing.rows]
    widths = [max(map(cell_len, cells)) for cells in zip(header, *body, strict=True)]
    yield _line(listing, header, widths)
    yield _GAP.join("─" * width for width in widths)
    for cells in body:
        yield _line(listing, cells, widths)


def write_to_terminal(listing: Listing, stream: IO[str]) -> None:
    """Draw the table as wide as the terminal, long text folded inside its column."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in listing.columns:
        table.add_column(
            Text(escape_unsafe(column.name)),
            justify="right" if column.is_number else "left",
            overflow="fold",
            no_wrap=column.is_number,
            min_width=min(_NARROWEST_TEXT, cell_len(column.name)),
        )
    for row in listing.rows:
        table.add_row(*(Text(to_cell(value), style="dim" if value is None else "") for value in row))
    Console(file=stream, highlight=False, soft_wrap=False).print(table)


def _line(listing: Listing, cells: list[str], widths: list[int]) -> str:
    padded = []
    for column, cell, width in zip(listing.columns, cells, widths, strict=True):
        padding = " " * (width - cell_len(cell))
        padded.append(padding + cell if column.is_number else cell + padding)
    return _GAP.join(padded).rstrip()
