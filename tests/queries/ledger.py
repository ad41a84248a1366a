"""The ledgers on which the queries of the library are tried, and what each must return on its own.

    python -m tests.queries.ledger [NAME…]    write the expected results of these queries, or of all

Look at what changed before you commit it: the files beside the queries are what reviewers read.
"""

import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import aix
from aix.output import Listing, ListingColumn
from aix.output.formats import csv_lines
from aix.pipeline.run import Settings, import_histories
from aix.query.packs import find_query, own_query_names
from aix.query.query_file import Query
from aix.reading.result import Result
from tests import ROOT
from tests.permissions.ledger import build_permission_ledger, build_persona_ledger
from tests.queries.agent_graphs import build_graph_ledger
from tests.support.program_ledger import build_program_ledger

FIXTURES = ROOT / "fixtures"
LOGS = [folder for name in ("library", "sample") if (folder := FIXTURES / name).exists()]
QUERIES = {name: find_query(name) for name in own_query_names()}
RUNNABLE = {name: query for name, query in QUERIES.items() if query.needs is None}
"""All but those that `aix check` alone can run."""
_IMPORT_RUN = re.compile("[0-9A-Z]{26}")
"""The id of an import; runs of agents have ids of their own."""
_SAME_DIGITS = 12
_COMPOSED = re.compile(r"/\S*/(?=fixtures/permissions/composed/)")
"""Where logs lie that are put together for a ledger."""

Rows = list[tuple[object, ...]]


def build_ledger(folder: Path) -> Path:
    """Import the fixtures that the library is tried on."""
    import_histories(folder, LOGS, Settings(jobs=0))
    return folder


Builder = Callable[[Path], Path]
_BUILDERS: Mapping[str, Builder] = {
    "permission_usage": build_permission_ledger,
    "programs": build_program_ledger,
    "agent_dag": build_graph_ledger,
}
"""By pack, what makes the ledger of those that have fixtures of their own."""


def builder_for(query: Query) -> Builder:
    """Return what makes the ledger that a query is tried on."""
    if "persona" in query.name and not query.severity:
        return build_persona_ledger
    return _BUILDERS.get(query.pack, build_ledger)


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
    if column.name == "run_started_at" or (column.name == "run_id" and _IMPORT_RUN.fullmatch(str(value))):
        return "differs"
    if isinstance(value, float):
        return float(f"{value:.{_SAME_DIGITS}g}")
    return _COMPOSED.sub("", value.replace(f"{FIXTURES}/", "fixtures/")) if isinstance(value, str) else value


def write_expected(names: Iterable[str]) -> Iterator[Path]:
    """Write the expected results of these queries, each on its own ledger."""
    chosen = [query for query in map(find_query, names) if query.name in RUNNABLE and not query.severity]
    for build in dict.fromkeys(map(builder_for, chosen)):
        with tempfile.TemporaryDirectory() as scratch, aix.open(build(Path(scratch) / "ledger")) as ledger:
            for query in chosen:
                if builder_for(query) is build:
                    path = expected_file(query)
                    path.write_text(result_text(ledger.query(query.name)), "utf-8")
                    yield path


if __name__ == "__main__":
    for path in write_expected(sys.argv[1:] or RUNNABLE):
        print(path)
