"""Rows that people add by hand, beside those that importers give."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from aix.merge.merge_rows import Part, add, gather
from aix.merge.row_batches import Delivery
from aix.merge.workspace import Delivered
from aix.schema import Table
from aix.schema.arrow import batch_from_columns
from aix.store.manifest import has_groups, read_latest

_SOURCE = "user"


def find_name_problem(name: str, longest: int) -> str | None:
    """Return why a text cannot be a name that people give: it must be one line that can be typed again."""
    if not name.strip():
        return "it is empty"
    if name != name.strip():
        return "it begins or ends with a blank"
    if len(name) > longest:
        return f"it has {len(name)} characters, and {longest} is the limit"
    if not name.isprintable():
        return "it holds a character that cannot be printed"
    return None


def gather_user_rows(folder: Path, table: Table, columns: Mapping[str, Sequence[object]]) -> Delivered:
    """Write rows of one table into a staging folder, ready to be joined into a ledger."""
    with Delivery(folder / "given") as delivery:
        delivery.add(_SOURCE, table, batch_from_columns(table, dict(columns)))
    return gather([Part(delivery.files())], folder / "gathered")


def require_groups(ledger: Path) -> None:
    """Put the rows of a ledger that an early release wrote into groups of files, as removing a row needs them."""
    if not has_groups(read_latest(ledger)):
        add(ledger, [])
