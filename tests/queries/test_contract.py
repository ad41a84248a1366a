"""Rules that every file of the query library keeps."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb
import pytest

import aix
from aix.cli.root import COMMANDS
from aix.derived.cache_key import PRICES
from aix.derived.catalog import CATALOG
from aix.output import ListingColumn
from aix.permissions.derived_tables import SOURCES
from aix.query.packs import find_query
from aix.query.query_file import ParameterType, Query, query_root
from aix.query.values import bind
from aix.query.views import library_views, views_named
from aix.reading.database import can_have_rows
from aix.reading.ledger import Ledger
from aix.reading.result import Result
from aix.schema import TABLES
from aix.store.nodes import in_conversations
from aix.store.views import tables_named
from tests.queries.ledger import QUERIES, RUNNABLE, expected_file, expected_text, result_text, written
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger

RULES = "permission_rules"
"""Of which all groups know all, as of prices: they are made again when a rule changes."""
VIEWS = library_views()
FILTERS = find_query("cost_by_model").parameters[:7]
FILES = [*QUERIES.values(), *VIEWS.values()]
SHARED: Mapping[str, tuple[ParameterType, str | None]] = {
    "since": (ParameterType.TIMESTAMP, None),
    "until": (ParameterType.TIMESTAMP, None),
    "project": (ParameterType.TEXT, None),
    "origin": (ParameterType.TEXT, None),
    "model": (ParameterType.TEXT, None),
    "session": (ParameterType.TEXT, None),
    "tag": (ParameterType.TEXT, None),
    "timezone": (ParameterType.TEXT, "UTC"),
}

LedgerFor = Callable[[Query], Ledger]

every_file = pytest.mark.parametrize("query", FILES, ids=lambda query: query.name)
every_query = pytest.mark.parametrize("query", RUNNABLE.values(), ids=RUNNABLE)
every_view = pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)


def declared_columns(query: Query) -> list[tuple[str, str]]:
    return [(column.name, column.type) for column in query.columns]


def columns_of(result: Result) -> list[tuple[str, str]]:
    """Return the columns of a result: of a query of AIX as its header names them, of other SQL as DuckDB does."""
    return list(zip(result.columns, result.types, strict=True))


def variables_read(*files: Query) -> set[str]:
    return {name for file in files for name in re.findall(r"getvariable\('(\w+)'\)", file.sql)}


@every_file
def test_the_header_reads_well(query: Query) -> None:
    assert query.question.endswith("?")
    assert query.why.endswith((".", "?"))
    assert not query.title.endswith((".", "?"))
    assert all(caveat.endswith(".") for caveat in query.caveats)
    assert TABLES.keys() >= set(query.only_with)
    meanings = [*(each.meaning for each in query.parameters), *(each.meaning for each in query.columns)]
    assert not [meaning for meaning in meanings if meaning.endswith(".")]


@every_query
def test_the_next_step_can_be_taken(query: Query) -> None:
    assert not query.empty or query.empty.endswith(".")
    for name in re.findall(r"`aix query ([\w/]+)", query.next):
        assert find_query(name).name.endswith(name)
    for name in re.findall(r"`aix (\w+)", query.next):
        assert name in COMMANDS
    own = re.sub("`[^`]*`", "", query.next)
    assert all(query.parameter(name) for name in re.findall(r"(?:--param |or |, )(\w+)=", own))
    assert all(query.parameter(name) for name in re.findall(r"--(?!param\b)(\w+) ", own))


@every_file
def test_the_pages_that_it_refers_to_have_such_a_section(query: Query) -> None:
    for reference in query.references:
        place, _, definition = reference.partition("; ")
        assert definition
        page, _, section = place.partition("#")
        if page.startswith("https://"):
            continue
        text = (query_root().parent / page).read_text("utf-8")
        titles = [line.strip("# ").lower() for line in text.splitlines() if line.startswith("#")]
        assert section in [re.sub(r"[^\w -]", "", title).replace(" ", "-") for title in ["", *titles]]


@every_file
def test_filters_are_shared_and_not_repeated(query: Query) -> None:
    written = query.path.read_text("utf-8")
    assert ("-- params: filters\n" in written) == (query.parameters[:7] == FILTERS)


@every_file
def test_it_is_one_select(query: Query) -> None:
    assert [statement.type.name for statement in duckdb.extract_statements(query.sql)] == ["SELECT"]


@every_file
def test_the_parameters_are_those_that_it_reads_and_mean_the_same_everywhere(query: Query) -> None:
    declared = {parameter.name for parameter in query.parameters}
    read = variables_read(query, *views_named(" ".join(query.names), VIEWS))
    # A view need not repeat what those say that it stands on, and a question about a session with all its subagents
    # cannot be asked of one session or tag.
    left_out = {"session", "tag"} if "parent" in declared else set()
    assert variables_read(query) <= declared <= read if query.name in VIEWS else declared == read - left_out
    shared = [parameter for parameter in query.parameters if parameter.name in SHARED]
    assert {each.name: (each.type, each.default) for each in shared}.items() <= SHARED.items()


@every_file
def test_a_long_query_says_what_each_part_holds(query: Query) -> None:
    parts = list(re.finditer(r"^(?:with (?:recursive )?)?(\w+)(?: \([\w, ]+\))? as \($", query.sql, re.MULTILINE))
    comments = [query.sql[: part.start()].splitlines()[-1].startswith("-- ") for part in parts]
    assert len(parts) <= 6 or all(comments)


@every_query
def test_it_runs_on_a_ledger_that_holds_nothing(query: Query, empty: Ledger) -> None:
    result = empty.query(query.name)
    assert columns_of(empty.sql(query.sql)) == columns_of(result) == declared_columns(query)
    assert [len(row) for row in result if len(row) != len(query.columns)] == []


@every_query
def test_it_returns_what_is_expected(query: Query, filled_for: LedgerFor) -> None:
    result = filled_for(query).query(query.name)
    assert columns_of(filled_for(query).sql(query.sql)) == columns_of(result) == declared_columns(query)
    assert result_text(result) == expected_text(query), "see tests/queries/ledger.py"


@pytest.mark.long
@every_query
def test_it_runs_as_it_is_in_a_plain_client(
    query: Query, plain_for: Callable[[Query], duckdb.DuckDBPyConnection]
) -> None:
    found = plain_for(query).execute(query.sql).fetchall()
    columns = tuple(ListingColumn(*column) for column in declared_columns(query))
    assert written(columns, found) == expected_text(query)


@pytest.mark.long
@pytest.mark.parametrize("query", [each for each in RUNNABLE.values() if each.parameters], ids=lambda query: query.name)
def test_the_defaults_are_those_that_the_header_names(query: Query, filled_for: LedgerFor) -> None:
    defaults = {each.name: each.default for each in query.parameters if each.default is not None}
    assert len(bind(query, defaults)) == len(defaults)
    assert result_text(filled_for(query).query(query.name, **defaults)) == expected_text(query)


@every_view
def test_a_view_has_the_columns_it_declares(view: Query, empty: Ledger, plain: duckdb.DuckDBPyConnection) -> None:
    seen = plain.execute(f"describe {view.name}").fetchall()
    assert [(name, kind) for name, kind, *_ in seen] == declared_columns(view)
    reads_tables = any(each.names & TABLES.keys() for each in views_named(view.name, VIEWS))
    assert not (empty.sql(f"from {view.name}").rows() and reads_tables)


@pytest.mark.parametrize("view", [view for view in VIEWS.values() if view.kept_with], ids=lambda view: view.name)
def test_what_a_kept_view_reads_is_tied_to_a_family(view: Query) -> None:
    read = [view, *views_named(" ".join(view.names), VIEWS)]
    tables = {name for each in read for name in each.names & TABLES.keys()}
    if any(each.derived for each in read):
        tables |= set(tables_named(SOURCES))
    assert view.kept_with in tables
    assert [name for name in tables - {PRICES, RULES} if not in_conversations(TABLES[name])] == []
    assert variables_read(*read) == set()


@pytest.mark.long
@pytest.mark.parametrize("tables", sorted({each.only_with for each in FILES} - {()}), ids=",".join)
def test_what_says_that_it_needs_rows_has_none_without_them(tables: tuple[str, ...], tmp_path: Path) -> None:
    rows = {name: [] if name in tables else listed for name, listed in SAMPLE_ROWS.items()}
    write_ledger(tmp_path, rows)
    with aix.open(tmp_path) as ledger:
        assert not any(can_have_rows(each, ledger.manifest) for each in FILES if each.only_with == tables)
    with duckdb.connect(str(tmp_path / CATALOG), read_only=True) as connection:
        for query in FILES:
            if query.only_with == tables:
                sql = query.sql if query.name in QUERIES else f"from {query.name}"
                assert connection.execute(sql).fetchall() == [], query.name


def test_an_expected_result_belongs_to_a_query() -> None:
    expected = {expected_file(query) for query in RUNNABLE.values() if not query.severity}
    assert set(query_root().rglob("*.csv")) == expected


def test_other_engines_run_nine_of_ten() -> None:
    assert 10 * len([query for query in QUERIES.values() if query.only_duckdb]) <= len(QUERIES)


def test_the_overview_has_the_tokens_of_the_cost(filled: Ledger) -> None:
    sums = (
        "cast(sum(input_tokens) as bigint), cast(sum(output_tokens) as bigint), cast(sum(cache_read_tokens) as bigint)"
    )
    of_side_calls = "select count(*) from v_requests where turn_id is null and input_tokens > 0"
    assert filled.sql(of_side_calls).rows() != [(0,)]
    overview = filled.sql(f"select {sums} from ({find_query('overview/by_origin').sql})").rows()
    for by in ("origin", "model"):
        cost = find_query(f"token_economics/cost_by_{by}").sql
        assert filled.sql(f"select {sums} from ({cost})").rows() == overview
