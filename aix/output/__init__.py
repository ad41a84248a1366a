"""Listings, and the formats in which AIX gives out their rows.

Every format can be read back: NULL is not the empty string, numbers keep all their digits, and text that could act on
a terminal or a page is written so that it cannot, and can still be told from any other text.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    import pyarrow as pa

    from aix.output.dashboard import Dashboard

FORMATS = ("table", "csv", "json", "jsonl", "markdown", "parquet")
SUFFIXES = {".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".md": "markdown", ".parquet": "parquet"}
DISPENSABLE = 10_000
"""The least priority with which one of the first three columns may be dropped."""
_WHOLE_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_NUMBERS = (*_WHOLE_NUMBERS, *(f"U{name}" for name in _WHOLE_NUMBERS), "FLOAT", "DOUBLE", "DECIMAL")


class ListingColumn(msgspec.Struct, frozen=True):
    """A column of a listing; the type is written as in SQL.

    The other fields say how a terminal draws the column.
    """

    name: str
    type: str = "VARCHAR"
    priority: int = 1
    """A terminal that is too narrow drops columns with the greatest number first; of the first three, one that is
    DISPENSABLE."""
    cut: Literal["end", "start"] = "end"
    """The side on which a text that is too long is shortened: `beginning…`, or `…informative/end`."""
    least: int = 0
    """Cells of its texts that a terminal shows, if need be by dropping other columns."""
    tone: Literal["", "severity", "cost", "dim"] = ""
    """The colours of the values: by the words high, medium and low; by amount; or all subdued."""

    @property
    def is_number(self) -> bool:
        """Whether the values are numbers, which people read flush right."""
        return self.type.startswith(_NUMBERS) and not self.type.endswith("[]")


def listing_columns(*columns: str | tuple[str, str] | ListingColumn) -> tuple[ListingColumn, ...]:
    """Return columns by their names; those that hold no text by name and type, or as columns.

    >>> [column.type for column in listing_columns("table", ("rows", "BIGINT"))]
    ['VARCHAR', 'BIGINT']
    """
    return tuple(
        each if isinstance(each, ListingColumn) else ListingColumn(*((each,) if isinstance(each, str) else each))
        for each in columns
    )


class Listing(msgspec.Struct, frozen=True):
    """Rows on their way out; they are gone through once."""

    columns: tuple[ListingColumn, ...]
    rows: Iterable[Sequence[object]]
    arrow_reader: "Callable[[], AbstractContextManager[pa.RecordBatchReader]] | None" = None
    """The same rows in Arrow, where they come from DuckDB."""
    has_findings: bool | Callable[[], bool] = False
    """Whether the rows report something that must not be, asked after them; the command then says so when it ends."""
    notes: Sequence[str] = ()
    """Notes about the rows for people; written to stderr after the rows."""
    empty: str = "nothing in the ledger matches"
    """The sentence that the `table` format gives instead of a header where there are no rows; written to stderr."""
    text: Sequence[str] = ()
    """Lines that the `table` format shows instead of the rows, where sentences say it better."""
    for_people: "Listing | None" = None
    """The same things in short, which the `table` format shows instead; all other formats are exact and complete."""
    totals: Mapping[str, object] | None = None
    """Figures about all rows together; the `json` format then writes an object with `rows` and `totals`."""
    dashboard: "Dashboard | None" = None
    """The same figures as a screen of lines, which the `table` format shows instead."""
