"""What a command gives out: named, typed columns and rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_NUMBERS = ("BIGINT", "DOUBLE", "DECIMAL")


@dataclass(frozen=True)
class ListingColumn:
    """A column of a listing; the type is written as in SQL."""

    name: str
    type: str = "VARCHAR"

    @property
    def is_number(self) -> bool:
        """Whether the values are numbers, which people read flush right."""
        return self.type.startswith(_NUMBERS) and not self.type.endswith("[]")


@dataclass(frozen=True)
class Listing:
    """Rows on their way out; they are gone through once."""

    columns: tuple[ListingColumn, ...]
    rows: Iterable[Sequence[object]]
    has_findings: bool = False
    """Whether the rows report something that must not be; the command then says so when it ends."""
