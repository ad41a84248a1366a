"""The `table` format: aligned columns, whole in a pipe or a file, folded on a terminal."""

from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

from rich.cells import cell_len

from aix.output import Listing
from aix.output.text import escape_unsafe, to_cell

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

_GAP = "  "
_NEVER_FOLDED = 24


def plain_lines(listing: Listing) -> Iterator[str]:
    """Give the table line by line, nothing cut."""
    header = [escape_unsafe(column.name) for column in listing.columns]
    body = [[to_cell(value) for value in row] for row in listing.rows]
    widths = [max(map(cell_len, cells)) for cells in zip(header, *body, strict=True)]
    yield _line(listing, header, widths)
    yield _GAP.join("─" * width for width in widths)
    for cells in body:
        yield _line(listing, cells, widths)


def _line(listing: Listing, cells: list[str], widths: list[int]) -> str:
    padded = []
    for column, cell, width in zip(listing.columns, cells, widths, strict=True):
        padding = " " * (width - cell_len(cell))
        padded.append(padding + cell if column.is_number else cell + padding)
    return _GAP.join(padded).rstrip()


def write_to_terminal(listing: Listing, stream: IO[str]) -> None:
    """Draw the table as wide as the terminal, long text folded; where that cannot be, a block for each row."""
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False)
    rows = [[Text(to_cell(value), style="dim" if value is None else "") for value in row] for row in listing.rows]
    widths = [
        max([cell_len(column.name), *(row[index].cell_len for row in rows)])
        for index, column in enumerate(listing.columns)
    ]
    narrowest = sum(min(width, _NEVER_FOLDED) + len(_GAP) for width in widths) - len(_GAP)
    console.print(_aligned(listing, rows, widths) if narrowest <= console.width else _blocks(listing, rows))


def _aligned(listing: Listing, rows: "list[list[Text]]", widths: list[int]) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, len(_GAP), 0, 0), header_style="bold")
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


def _blocks(listing: Listing, rows: "list[list[Text]]") -> "Table":
    from rich.box import SIMPLE
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE, pad_edge=False, show_header=False)
    table.add_column(style="bold", overflow="fold", max_width=_NEVER_FOLDED)
    table.add_column(overflow="fold")
    for row in rows:
        for column, cell in zip(listing.columns, row, strict=True):
            table.add_row(Text(escape_unsafe(column.name)), cell)
        table.add_section()
    return table
