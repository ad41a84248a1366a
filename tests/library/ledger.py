"""The ledger on which every query of the library is tried, and what each must return on it.

    python -m tests.library.ledger [NAME…]    write the expected results of these queries, or of all

Look at what changed before you commit it: the files beside the queries are what reviewers read.
"""

import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import aix
from aix.formats import Listing, ListingColumn
from aix.formats.line_formats import csv_lines
from aix.importing.run import Settings, import_histories
from aix.library.packs import find_query, own_query_names
from aix.library.query import Query
from aix.reading.ledger import Ledger
from aix.reading.result import Result

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"
LOGS = [folder for name in ("library", "sample") if (folder := FIXTURES / name).exists()]
QUERIES = {name: find_query(name) for name in own_query_names()}
RUNNABLE = {name: query for name, query in QUERIES.items() if query.needs is None}
"""All but those that `aix check` alone can run."""
_DIFFERS_BY_RUN = ("run_id", "run_started_at")
_SAME_DIGITS = 12

Rows = list[tuple[object, ...]]


def build_ledger(folder: Path) -> Path:
    """Import the fixtures that the library is tried on."""
    import_histories(folder, LOGS, Settings(jobs=0))
    return folder


def expected_file(query: Query) -> Path:
    """Return the file beside the query that holds its result."""
    return query.path.with_suffix(".expected.csv")


def expected_text(query: Query) -> str:
    """Return what a query must give; a check finds nothing."""
    if query.severity:
        return written(tuple(ListingColumn(column.name, column.type) for column in query.columns), [])
    return expected_file(query).read_text("utf-8")


def result_text(result: Result) -> str:
    """Write a result as expected files have it."""
    listing = result.listing()
    return written(listing.columns, listing.rows)


def written(columns: tuple[ListingColumn, ...], rows: Iterable[Iterable[object]]) -> str:
    """Write rows as CSV, without what differs from run to run, and floats as all machines have them."""
    stable = ([_stable(column, value) for column, value in zip(columns, row, strict=True)] for row in rows)
    return "".join(f"{line}\n" for line in csv_lines(Listing(columns, stable)))


def _stable(column: ListingColumn, value: object) -> object:
    if column.name in _DIFFERS_BY_RUN:
        return "differs"
    if isinstance(value, float):
        return float(f"{value:.{_SAME_DIGITS}g}")
    return value.replace(f"{FIXTURES}/", "fixtures/") if isinstance(value, str) else value


def write_expected(ledger: Ledger, names: Iterable[str]) -> Iterator[Path]:
    """Write the expected results of these queries."""
    for name in names:
        if not RUNNABLE[name].severity:
            path = expected_file(RUNNABLE[name])
            path.write_text(result_text(ledger.query(name)), "utf-8")
            yield path


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch, aix.open(build_ledger(Path(scratch) / "ledger")) as opened:
        for path in write_expected(opened, [find_query(name).name for name in sys.argv[1:]] or RUNNABLE):
            print(path)
