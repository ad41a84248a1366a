"""The `table` format on a terminal."""

from typing import IO

from rich.box import SIMPLE
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from aix.output.listing import Listing
from aix.output.text import escape_unsafe, to_cell
from aix.output.text_table import GAP

_NEVER_FOLDED = 24


def write_to_terminal(listing: Listing, stream: IO[str]) -> None:
    """Draw the table as wide as the terminal, long text folded; where that cannot be, a block for each row."""
    console = Console(file=stream, highlight=False)
    rows = [[Text(to_cell(value), style="dim" if value is None else "") for value in row] for row in listing.rows]
    widths = [
        max([cell_len(column.name), *(row[index].cell_len for row in rows)])
        for index, column in enumerate(listing.columns)
    ]
    narrowest = sum(min(width, _NEVER_FOLDED) + len(GAP) for width in widths) - len(GAP)
    console.print(_aligned(listing, rows, widths) if narrowest <= console.width else _blocks(listing, rows))


def _aligned(listing: Listing, rows: list[list[Text]], widths: list[int]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, len(GAP), 0, 0), header_style="bold")
    for column, width in zip(listing.columns, widths, strict=True):
        table.add_column(
            Text(escape_unsafe(column.name)),
            justify="right" if column.is_number else "left",
            overflow="fold",
            no_wrap=width <= _NEVER_FOLDED,
        )
    for row in rows:
        table.add_row(*row)
    return table


def _blocks(listing: Listing, rows: list[list[Text]]) -> Table:
    table = Table(box=SIMPLE, pad_edge=False, show_header=False)
    table.add_column(style="bold", overflow="fold", max_width=_NEVER_FOLDED)
    table.add_column(overflow="fold")
    for row in rows:
        for column, cell in zip(listing.columns, row, strict=True):
            table.add_row(Text(escape_unsafe(column.name)), cell)
        table.add_section()
    return table
