"""Costs by what people ask for: the query of the library for one thing, or for two together."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger
    from aix.reading.result import Result

IN_TIME = ("day", "week", "month", "block")
OF_PROGRAMS = ("task", "agent", "human", "situation")
BY = (
    *("model", "project", "session", "branch", *IN_TIME),
    *("tool", "tag", "origin", "provider", "role", "turn", *OF_PROGRAMS, "persona"),
)
"""Things that costs are listed by."""


def find_costs(ledger: "Ledger", dimensions: tuple[str, ...], given: Mapping[str, object]) -> "Result":
    """Return what one of `BY` cost, row by row, or each pair of two of them."""
    match dimensions:
        case ("block",):
            from aix.query.dates import present

            return ledger.query("token_economics/blocks", **given, now=present())
        case (one,):
            return ledger.query(f"token_economics/cost_by_{one}", **given)
        case (first, second):
            return ledger.query("token_economics/cost_by_two", **given, first=first, second=second)
    raise ValueError(dimensions)


def with_block_times(dimensions: tuple[str, ...], rows: Iterable[Sequence[object]]) -> Iterator[Sequence[object]]:
    """Give the rows of pairs with the beginning of a block as a number, as those of blocks have it."""
    for row in rows:
        pair = (
            int(value) if by == "block" and isinstance(value, str) else value
            for by, value in zip(dimensions, row, strict=False)
        )
        yield (*pair, *row[len(dimensions) :])
