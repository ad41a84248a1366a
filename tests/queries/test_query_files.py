"""A file says completely what it answers, takes and returns; one that does not is told where it is wrong."""

from pathlib import Path

import duckdb
import pytest

from aix.errors import QueryFileError
from aix.query.packs import views_digest
from aix.query.query_file import Column, Parameter, ParameterType, parse_query
from aix.query.views import create_library_views, read_views, views_named

PATH = Path("pack/costs.sql")
HEADER = """\
-- title: Costs
-- question: What did it cost?
-- why: Money is short.
-- grain: period
-- param since: timestamp = none; first moment counted
-- param period: text = month; how long, one of day, week or month
-- column period: VARCHAR; when it begins; as text
-- column cost_usd: DECIMAL(38,12); what it cost
-- shown: cost_usd, period
-- empty: Nothing was paid for.
-- next: --param period=day counts days
-- caveat: Prices: those of the list.
-- caveat: Some are missing.
-- references: docs/prices.md; what a price is
-- reads: text
-- engine: duckdb; it counts in a way of its own
"""
FILTERS = (
    "since: timestamp = none; first moment counted",
    "until: timestamp = none; first moment no longer counted",
    "project: text = none; only projects with this text in their path",
    "origin: text = none; only this origin",
    "model: text = none; only models with this text in their name",
    "session: text = none; only what counts for this session",
    "tag: text = none; only turns and sessions with this tag",
)
PERIODS = ("day", "week", "month")
SQL = "select '1' as period, 1 as cost_usd -- title: none\n"


def test_a_header_says_all_there_is_to_know() -> None:
    query = parse_query("pack/costs", PATH, HEADER + SQL)
    assert (query.name, query.pack, query.sql) == ("pack/costs", "pack", HEADER + SQL)
    assert (query.title, query.question, query.why, query.grain) == (
        "Costs",
        "What did it cost?",
        "Money is short.",
        "period",
    )
    assert query.parameters == (
        Parameter("since", ParameterType.TIMESTAMP, None, "first moment counted"),
        Parameter("period", ParameterType.TEXT, "month", "how long, one of day, week or month", PERIODS),
    )
    assert query.columns == (
        Column("period", "VARCHAR", "when it begins; as text"),
        Column("cost_usd", "DECIMAL(38,12)", "what it cost"),
    )
    assert query.shown == ("cost_usd", "period")
    assert (query.empty, query.next) == ("Nothing was paid for.", "--param period=day counts days")
    assert query.caveats == ("Prices: those of the list.", "Some are missing.")
    assert query.references == ("docs/prices.md; what a price is",)
    assert query.reads_text
    assert query.only_duckdb == "it counts in a way of its own"
    assert (query.invariant, query.severity, query.needs) == (None, None, None)


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ("-- grain: period\n", "", 16, "lacks grain"),
        (HEADER, "", 1, "lacks title, question, why, grain, column"),
        ("-- title: Costs\n-- question: What did it cost?", "-- question: What?\n-- title: Costs", 2, "'title' comes"),
        ("-- why: Money is short.", "-- why: Money is short.\n-- why: It is.", 4, "second 'why'"),
        ("-- caveat: Some", "-- caveats: Some", 13, "no 'caveats'"),
        ("-- caveat: Some are missing.", "-- Some are missing", 13, "-- word: text"),
        ("-- title: Costs", "-- title:", 1, "-- word: text"),
        ("-- title: Costs", "-- title costs: Costs", 1, "takes no name"),
        ("-- param since:", "-- param:", 5, "needs a name"),
        ("-- param since:", "-- param Since:", 5, "'Since' is no name"),
        ("timestamp = none; first", "moment = none; first", 5, "'moment' is none of timestamp"),
        ("timestamp = none; first", "timestamp; first", 5, "-- param name: type = default; meaning"),
        ("VARCHAR; when", "when", 7, "-- column name: SQL TYPE; meaning"),
        ("-- column cost_usd", "-- column period", 8, "second column 'period'"),
        ("-- param since:", "-- params: filters\n-- param since:", 6, "second param 'since'"),
        (
            "-- param period:",
            "-- params: filter\n-- param period:",
            6,
            "no group 'filter' of parameters; there is filters",
        ),
        ("-- param period:", "-- params:\n-- param period:", 6, "-- word: text"),
        ("-- param period:", "-- params more: filters\n-- param period:", 6, "takes no name"),
        ("-- shown: cost_usd, period", "-- shown: cost_usd, periods", 9, "there is no column 'periods'"),
        ("-- reads: text", "-- params: filters", 15, "'param' comes before 'references'"),
        ("-- reads: text", "-- reads: books", 15, "`text`"),
        ("-- reads: text", "-- kept: for long", 15, "-- kept: by family with TABLE"),
        ("-- reads: text", "-- kept: by family with turns", 15, "depend on a parameter"),
        ("-- engine: duckdb; it", "-- engine: duckdb, it", 16, "-- engine: duckdb; reason"),
    ],
)
def test_a_wrong_header_is_named_with_its_line(old: str, new: str, line: int, problem: str) -> None:
    assert old in HEADER
    with pytest.raises(QueryFileError) as caught:
        parse_query("pack/costs", PATH, HEADER.replace(old, new) + SQL)
    assert str(caught.value).startswith(f"pack/costs.sql:{line}: ")
    assert problem in str(caught.value)


def test_shared_parameters_are_written_out_in_the_header_and_nowhere_else() -> None:
    since, *others = [f"-- param {text}\n" for text in FILTERS]
    shared = HEADER.replace(since, "-- params: filters\n")
    query = parse_query("pack/costs", PATH, f"{shared}{SQL}-- params: filters\n")
    assert query.sql == HEADER.replace(since, "".join([since, *others])) + SQL + "-- params: filters\n"
    assert [each.name for each in query.parameters] == [*(text.partition(":")[0] for text in FILTERS), "period"]


def write_view(folder: Path, name: str, select: str) -> None:
    header = "-- title: A\n-- question: B?\n-- why: C.\n-- grain: D\n-- column a: BIGINT; names v_other\n"
    (folder / f"{name}.sql").write_text(f"{header}{select}\n")


def test_a_view_comes_after_those_it_stands_on(tmp_path: Path) -> None:
    write_view(tmp_path, "v_a", "select a from v_c -- but not v_d")
    write_view(tmp_path, "v_b", "select 1 as a")
    write_view(tmp_path, "v_c", "select a from v_b")
    write_view(tmp_path, "v_d", "select a from v_a")
    views = read_views(tmp_path)
    assert list(views) == ["v_b", "v_c", "v_a", "v_d"]
    assert [view.name for view in views_named("select * from V_A", views)] == ["v_b", "v_c", "v_a"]
    assert views_named("select * from turns", views) == []
    assert [view.name for view in views_named("show tables", views)] == list(views)


def test_a_view_reads_the_parameters_of_the_query_that_stands_on_it(tmp_path: Path) -> None:
    write_view(tmp_path, "v_a", "select a from v_b where a >= coalesce(getvariable('least'), 0);")
    write_view(tmp_path, "v_b", "select cast(unnest([1, 2, 3]) as bigint) as a")
    with duckdb.connect() as connection:
        create_library_views(connection, read_views(tmp_path).values())
        assert connection.execute("select sum(a) from v_a").fetchall() == [(6,)]
        connection.execute("set variable least = 3")
        assert connection.execute("select sum(a) from v_a").fetchall() == [(3,)]


def test_a_view_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    write_view(tmp_path, "v_a", "select a from nowhere")
    with duckdb.connect() as connection, pytest.raises(QueryFileError, match=r"v_a\.sql:1: .*nowhere"):
        create_library_views(connection, read_views(tmp_path).values())


def test_a_changed_view_has_another_digest(tmp_path: Path) -> None:
    digests = []
    for name, select in (("v_a", "select 1 as a"), ("v_a", "select 2 as a"), ("v_b", "select 2 as a")):
        write_view(tmp_path, name, select)
        digests.append(views_digest(tmp_path))
    assert len(set(digests)) == 3


def test_views_that_stand_on_each_other_are_named(tmp_path: Path) -> None:
    write_view(tmp_path, "v_a", "select a from v_b")
    write_view(tmp_path, "v_b", "select a from v_a")
    with pytest.raises(QueryFileError, match="stand on each other: v_"):
        read_views(tmp_path)
