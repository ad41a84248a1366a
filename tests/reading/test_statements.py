"""Statements that a ledger runs, and those that it refuses: nothing but reading."""

import shutil
from collections.abc import Iterator

import duckdb
import polars as pl
import pytest

import aix
from aix.errors import (
    SqlError,
)
from aix.reading.connection import HARMLESS_FUNCTIONS, connect
from aix.reading.ledger import Ledger
from aix.schema import TABLES
from aix.store.manifest import read_latest
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger


@pytest.mark.parametrize(
    "query",
    [
        "select 1;",
        "select 1 ; -- done",
        "/* a; b */ select 1 -- ;",
        "select 1;;\n;",
        "\n\twith one as (select 1) from one",
        "values (1)",
        "(select 1)",
        "select 1 as \"a;b\" where ';' = ';'",
        "pivot (select 1 as a) on a in (1)",
    ],
)
def test_a_statement_may_end_in_semicolons_and_comments(sample: Ledger, query: str) -> None:
    assert sample.sql(query).rows() == [(1,)]


NO_TEXT = ["select '\ud800'", "select 1\0"]


OTHER_STATEMENTS = [
    "copy turns to '{folder}/out.csv'",
    "copy (select 1) to '{folder}/out.parquet'",
    "export database '{folder}/out'",
    "import database '{folder}/out'",
    "attach '{folder}/out.duckdb'",
    "attach ':memory:' as other",
    "detach memory",
    "use memory",
    "install httpfs",
    "load httpfs",
    "pragma version",
    "pragma enable_profiling",
    "set threads = 1",
    "set variable x = 1",
    "reset threads",
    "call pragma_version()",
    "call checkpoint()",
    "checkpoint",
    "vacuum",
    "analyze",
    "create table x (a int)",
    "create view x as select 1",
    "create temp table x as select 1",
    "create macro x() as 1",
    "create sequence x",
    "create secret x (type http)",
    "insert into turns values (1)",
    "update turns set id = 'x'",
    "delete from turns",
    "truncate turns",
    "drop view turns",
    "alter view turns rename to x",
    "comment on view turns is 'x'",
    "begin",
    "prepare x as select 1",
    "execute x",
    "deallocate x",
    "pivot turns on status",
    "select 1; select 2",
    "select 1; copy (select 1) to '{folder}/out.csv'",
    "",
    "-- nothing",
    ";",
    "with x as (insert into turns values (1) returning *) select * from x",
    "with x as (update turns set id = 'x' returning *) select * from x",
    "with x as (delete from turns returning *) select * from x",
    "select * from (with x as (delete from turns returning *) select * from x)",
    "explain copy (select 1) to '{folder}/out.csv'",
    "explain analyze copy (select 1) to '{folder}/out.csv'",
    "explain analyze create table x as select 1",
    "explain (analyze) insert into turns values (1)",
    "explain (analyze, format json) copy (select 1) to '{folder}/out.csv'",
    "explain analyze select * from checkpoint()",
    "explain analyze with x as (delete from turns returning *) select * from x",
    "select * from checkpoint()",
    'select * from "CheckPoint"()',
    "select * from system.main.force_checkpoint()",
    "select (select count(*) from force_checkpoint())",
    "select * from enable_logging()",
    "select * from enable_profiling(save_location = '{folder}/out.json')",
    "select nextval('x')",
    "select 'x'.nextval()",
    "select currval('x')",
    "select write_log('x')",
    "select 1 limit (select write_log('x'))",
    "select * from query('select 1')",
    "select * from json_execute_serialized_sql(json_serialize_sql('select 1'))",
    "select * from arrow_scan(1, 2, 3)",
    "select * from pandas_scan(1)",
    "select * from read_text('/etc/passwd')",
    "select * from read_blob('/etc/passwd')",
    "select * from read_csv('/etc/passwd')",
    "select * from read_json('/etc/passwd')",
    "select * from sniff_csv('/etc/passwd')",
    "select * from read_parquet('{folder}/outside.parquet')",
    "select * from read_parquet('{folder}/ledger/link.parquet')",
    "select * from read_parquet('{folder}/ledger/data/../../outside.parquet')",
    "select * from read_parquet('{folder}/*.parquet')",
    "select * from parquet_metadata('{folder}/outside.parquet')",
    "select * from parquet_scan(['{folder}/ledger/data/turns/part-1.parquet', '{folder}/outside.parquet'])",
    "select * from glob('/etc/*')",
    "select * from '{folder}/outside.parquet'",
    "from '/etc/passwd.csv'",
    "select * from read_parquet('https://example.org/x.parquet')",
    "select * from read_parquet('s3://bucket/x.parquet')",
    "describe '{folder}/outside.parquet'",
    "summarize '{folder}/outside.parquet'",
]


@pytest.fixture(scope="module")
def beside_a_secret(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    """A ledger in a folder with a file that must not be read, and with links to such files in it."""
    folder = tmp_path_factory.mktemp("guarded")
    ledger = folder / "ledger"
    write_ledger(ledger, SAMPLE_ROWS)
    shutil.copy(ledger / "data" / "turns" / "part-1.parquet", folder / "outside.parquet")
    (ledger / "link.parquet").symlink_to(folder / "outside.parquet")
    (ledger / "passwd").symlink_to("/etc/passwd")
    return aix.open(ledger)


@pytest.fixture(scope="module")
def locked(beside_a_secret: Ledger) -> duckdb.DuckDBPyConnection:
    """The connection of that ledger, without the look that it takes at each statement."""
    return connect(beside_a_secret.path, read_latest(beside_a_secret.path))


@pytest.fixture
def guarded(beside_a_secret: Ledger) -> Iterator[Ledger]:
    """The same, having made sure afterwards that nothing was written."""
    folder = beside_a_secret.path.parent
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    yield beside_a_secret
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


@pytest.mark.parametrize("query", [*OTHER_STATEMENTS, *NO_TEXT])
def test_only_a_select_or_its_explanation_is_run(guarded: Ledger, query: str) -> None:
    with pytest.raises(SqlError):
        guarded.sql(query.replace("{folder}", str(guarded.path.parent))).rows()


@pytest.mark.parametrize(
    "query",
    [
        "explain select 1",
        "EXPLAIN ANALYZE SELECT count(*) FROM turns;",
        "explain analyze /* ; */ select 1",
        "explain (analyze, format json) select 1",
        "explain (format json) select 1",
        "explain (select 1)",
        "explain with x as (select 1) from x -- done",
    ],
)
def test_a_select_is_explained(guarded: Ledger, query: str) -> None:
    [(kind, plan)] = guarded.sql(query).rows()
    assert kind in ("physical_plan", "analyzed_plan")
    assert guarded.sql(query).polars().shape == (1, 2)
    assert len(plan.splitlines()) == len(list(guarded.sql(query).listing().rows)) or "nalyz" in query.lower()


def test_every_function_that_could_act_is_refused(sample: Ledger) -> None:
    """Whatever a later DuckDB brings is refused until someone looks at it."""
    acting = {
        name
        for (name,) in duckdb.execute(
            "select function_name from duckdb_functions() "
            "where has_side_effects or function_type in ('table', 'table_macro')"
        ).fetchall()
    } - HARMLESS_FUNCTIONS
    assert {"checkpoint", "force_checkpoint", "nextval", "write_log", "read_text", "query", "glob"} <= acting
    for name in acting:
        for query in (f"select {name}()", f"select * from {name}()", f"select * from range(1) t(x), {name}(x)"):
            with pytest.raises(SqlError, match="not called here"):
                sample.sql(query)


def test_the_tables_may_be_looked_into(sample: Ledger) -> None:
    for query in (
        "show tables",
        "describe turns",
        "summarize turns",
        "from information_schema.columns",
        "select * from duckdb_views()",
        "select version(), random(), uuid(), generate_series(1, 2)",
        "select unnest(json_keys('{\"a\": 1}'))",
        f"select * from read_parquet('{sample.path}/data/turns/part-1.parquet')",
        "select * from turns positional join range(6)",
        "select getvariable('since')",
    ):
        assert sample.sql(query).rows(), query


@pytest.mark.long
@pytest.mark.parametrize(
    "query",
    [
        *("show tables", "describe", "from (desc)", "from sqlite_schema"),
        "from duckdb_views() where view_name <> 'of turns' order by view_name desc",
    ],
)
def test_all_tables_are_listed_when_nothing_else_was_asked_before(sample: Ledger, query: str) -> None:
    with aix.open(sample.path) as fresh:
        listed = {value for row in fresh.sql(query).rows() for value in row if isinstance(value, str)}
    assert TABLES.keys() <= listed


def test_a_table_that_no_statement_named_before_is_near_to_a_wrong_name(sample: Ledger) -> None:
    with aix.open(sample.path) as fresh, pytest.raises(SqlError, match='Did you mean "turns"'):
        fresh.sql("from turnz")


def test_variables_of_the_program_are_no_tables(sample: Ledger) -> None:
    secret = pl.DataFrame({"a": [1]})
    with pytest.raises(SqlError, match="secret does not exist"):
        sample.sql("from secret").rows()
    assert secret.height == 1


@pytest.mark.parametrize(
    "query",
    [
        "copy (select 1) to '{folder}/out.csv'",
        "copy (select 1) to '{folder}/ledger/out.csv'",
        "attach '{folder}/out.duckdb'",
        "install httpfs",
        "load httpfs",
        "set threads = 1",
        "reset lock_configuration",
        "set enable_external_access = true",
        "set allowed_paths = ['/']",
        "create persistent secret x (type http)",
        "from read_text('/etc/passwd')",
        "from read_text('{folder}/ledger/passwd')",
        "from read_csv('/etc/passwd')",
        "from read_parquet('{folder}/outside.parquet')",
        "from read_parquet('{folder}/ledger/link.parquet')",
        "from glob('/etc/*')",
        "from glob('{folder}/*')",
    ],
)
def test_what_would_slip_through_meets_a_locked_connection(
    guarded: Ledger, locked: duckdb.DuckDBPyConnection, query: str
) -> None:
    with pytest.raises((duckdb.PermissionException, duckdb.InvalidInputException)):
        locked.cursor().execute(query.replace("{folder}", str(guarded.path.parent)))


def test_errors_show_the_place_in_the_statement(sample: Ledger) -> None:
    with pytest.raises(SqlError, match=r"(?s)Referenced column \"nothing\".*\nLINE 2: , nothing\n {10}\^"):
        sample.sql("select id\n, nothing\nfrom turns")
    with pytest.raises(SqlError, match=r"(?s)Could not convert string.*LINE 1: select cast"):
        sample.sql("select cast(content as integer) from messages").rows()
    many_lines = "select 1" + "\n" * 9 + ", nothing"
    with pytest.raises(SqlError, match=r"\nLINE 10: , nothing\n {11}\^"):
        sample.sql(many_lines)
    ninth = "select 1" + "\n" * 8 + ", nothing"
    with pytest.raises(SqlError, match=r"\nLINE 9:  , nothing\n {11}\^"):
        sample.sql(ninth)


def test_an_error_holds_no_more_than_a_page_of_a_log(sample: Ledger) -> None:
    with pytest.raises(SqlError) as caught:
        sample.sql("select cast(repeat('x', 1_000_000) as integer)").rows()
    assert len(str(caught.value)) < 3_000
