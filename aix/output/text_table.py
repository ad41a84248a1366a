"""The `table` format in a pipe or a file: aligned columns for people, nothing cut."""

from collections.abc import Iterator

from rich.cells import cell_len

from aix.output.listing import Listing
from aix.output.text import escape_unsafe, to_cell

GAP = "  "


def plain_lines(listing: Listing) -> Iterator[str]:
    """Give the table line by line."""
    header = [escape_unsafe(column.name) for column in listing.columns]
    body = [[to_cell(value) for value in row] for row in listing.rows]
    widths = [max(map(cell_len, cells)) for cells in zip(header, *body, strict=True)]
    yield _line(listing, header, widths)
    yield GAP.join("─" * width for width in widths)
    for cells in body:
        yield _line(listing, cells, widths)


def _line(listing: Listing, cells: list[str], widths: list[int]) -> str:
    padded = []
    for column, cell, width in zip(listing.columns, cells, widths, strict=True):
        padding = " " * (width - cell_len(cell))
        padded.append(padding + cell if column.is_number else cell + padding)
    return GAP.join(padded).rstrip()
