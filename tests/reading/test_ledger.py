"""A ledger as a Python object: one version, every common form of result, nothing but reading."""

import datetime
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import polars as pl
import pytest

import aix
from aix.errors import (
    LedgerDamagedError,
    LedgerNotFoundError,
    MissingLibraryError,
    SqlError,
    UnknownNameError,
    UnknownVersionError,
)
from aix.reading.connection import HARMLESS_FUNCTIONS, connect
from aix.reading.ledger import Ledger
from aix.schema import SCHEMA_VERSION, TABLES
from aix.schema.arrow import arrow_schema
from aix.store.manifest import read_latest
from tests.store.test_ledgers_of_all_versions import FIXTURES, VERSIONS, open_views
from tests.support.changes import commit
from tests.support.numbered_ledgers import next_generation, rows_of
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    folder = tmp_path_factory.mktemp("sample") / "ledger"
    write_ledger(folder, SAMPLE_ROWS)
    return aix.open(folder)


@pytest.mark.parametrize("name", TABLES)
def test_every_form_of_a_result_holds_the_same_rows(sample: Ledger, name: str) -> None:
    result = sample.sql(f'select * from "{name}"')
    connection = open_views(sample.path)
    expected = connection.table(name).fetchall()
    assert result.columns == TABLES[name].column_names
    assert result.types == tuple(str(column.type) for column in TABLES[name])
    assert result.rows() == list(result) == expected
    assert [tuple(row.values()) for row in result.arrow().to_pylist()] == expected
    assert result.polars().rows() == expected
    frame = result.pandas()
    cells = frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None)
    assert [tuple(list(cell) if hasattr(cell, "tolist") else cell for cell in row) for row in cells] == expected


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_a_lazy_frame_with_the_types_of_the_schema(sample: Ledger, name: str, tmp_path: Path) -> None:
    frame = sample.table(name)
    assert isinstance(frame, pl.LazyFrame)
    assert frame.collect().rows() == sample.sql(f'select * from "{name}"').rows()
    write_ledger(tmp_path, {})
    empty = aix.open(tmp_path).table(name).collect()
    assert empty.height == 0
    assert empty.schema == frame.collect().schema == pl.DataFrame(arrow_schema(TABLES[name]).empty_table()).schema


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["turns", "turn_context", "message_facts", "session_turns"])
def test_a_ledger_of_any_schema_version_reads_as_one_of_today(tmp_path: Path, version: int, name: str) -> None:
    shutil.copytree(FIXTURES / f"schema_{version}", tmp_path / "ledger")
    ledger = aix.open(tmp_path / "ledger")
    connection = open_views(tmp_path / "ledger")
    expected = connection.table(name).fetchall()
    assert ledger.sql(f"from {name}").rows() == expected
    frame = ledger.table(name).collect()
    assert frame.rows() == expected
    assert frame.schema == pl.DataFrame(arrow_schema(TABLES[name]).empty_table()).schema


def test_the_fixtures_cover_every_schema_version() -> None:
    assert {path.name for path in FIXTURES.iterdir()} == {f"schema_{version}" for version in VERSIONS}
    assert max(VERSIONS) == SCHEMA_VERSION


@pytest.mark.parametrize("name", ["it's", 'a"b', "we[i]rd", "any*", "one?", "id=1", "näve 日本", "semi;colon"])
def test_a_folder_of_any_name_is_read(tmp_path: Path, name: str) -> None:
    write_ledger(tmp_path / name, SAMPLE_ROWS)
    ledger = aix.open(tmp_path / name)
    rows = ledger.sql("from turns").rows()
    assert len(rows) == len(SAMPLE_ROWS["turns"])
    assert ledger.table("turns").collect().rows() == rows


def test_a_ledger_behind_a_link_is_read(tmp_path: Path) -> None:
    write_ledger(tmp_path / "ledger", SAMPLE_ROWS)
    (tmp_path / "link").symlink_to(tmp_path / "ledger")
    assert len(aix.open(tmp_path / "link").sql("from turns").rows()) == len(SAMPLE_ROWS["turns"])
    (tmp_path / "ledger" / "data").rename(tmp_path / "elsewhere")
    (tmp_path / "ledger" / "data").symlink_to(tmp_path / "elsewhere")
    assert len(aix.open(tmp_path / "ledger").sql("from turns").rows()) == len(SAMPLE_ROWS["turns"])


def test_a_path_that_duckdb_cannot_open_is_named(tmp_path: Path) -> None:
    write_ledger(tmp_path / "ledger", SAMPLE_ROWS)
    folder = (tmp_path / "ledger").rename(os.fsdecode(bytes(tmp_path) + b"/\xff"))
    with pytest.raises(LedgerDamagedError, match="not UTF-8"):
        aix.open(folder).sql("from turns")


def test_without_a_path_the_configured_ledger_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_ledger(tmp_path / "mine", SAMPLE_ROWS)
    monkeypatch.setenv("AIX_LEDGER", str(tmp_path / "mine"))
    assert aix.open().path == tmp_path / "mine"
    monkeypatch.setenv("AIX_LEDGER", str(tmp_path / "nowhere"))
    with pytest.raises(LedgerNotFoundError):
        aix.open()


def test_a_reader_keeps_its_version(tmp_path: Path) -> None:
    commit(tmp_path, next_generation)
    with aix.open(tmp_path) as ledger:
        rows = iter(ledger.sql("select tag from tags, range(200_000)"))
        lazy = ledger.table("tags")
        assert next(rows) == ("1",)
        for _ in range(3):
            commit(tmp_path, next_generation)
        assert set(rows) == {("1",)}
        assert ledger.sql("select distinct name from chat_users").rows() == [("1",)]
        assert set(lazy.collect()["tag"]) == {"1"}
        assert ledger.version == 1
    assert aix.open(tmp_path).version == 4


def test_every_version_can_be_asked(tmp_path: Path) -> None:
    for _ in range(3):
        commit(tmp_path, next_generation)
    ledger = aix.open(tmp_path)
    assert ledger.versions() == (1, 2, 3)
    for version in ledger.versions():
        then = ledger.at(version)
        assert then.version == version
        assert then.sql("select distinct tag from tags").rows() == [(str(version),)]
        assert then.table("programs").collect().height == len(rows_of(version)["programs"])


def test_a_version_that_is_not_there_is_answered_with_those_that_are(tmp_path: Path) -> None:
    for _ in range(5):
        commit(tmp_path, next_generation)
    (tmp_path / "versions" / "0000000002.json").unlink()
    with pytest.raises(UnknownVersionError) as caught:
        aix.open(tmp_path).at(2)
    assert str(caught.value) == "the ledger has no version 2"
    assert caught.value.remedy == "the versions are: 1, 3 to 5"


def test_an_unknown_table_is_answered_with_the_nearest(sample: Ledger) -> None:
    with pytest.raises(UnknownNameError) as caught:
        sample.table("turn")
    assert "turns" in caught.value.remedy


def test_a_file_that_goes_missing_is_named(tmp_path: Path) -> None:
    write_ledger(tmp_path, SAMPLE_ROWS)
    ledger = aix.open(tmp_path)
    ledger.sql("from turns")
    shutil.rmtree(tmp_path / "data" / "turns")
    with pytest.raises(LedgerDamagedError, match=r"turns/part-1\.parquet"):
        ledger.sql("from turns").rows()
    with pytest.raises(LedgerDamagedError, match="table turns"):
        aix.open(tmp_path).sql("select 1")


def test_parameters_are_bound_by_place_or_name(sample: Ledger) -> None:
    query = "select count(*) from turns where started_at between $1 and $2"
    assert sample.sql(query, [2_000, 2_500]).rows() == [(3,)]
    assert sample.sql("select $low as low, $text as text", {"low": 1, "text": "'; drop"}).rows() == [(1, "'; drop")]
    assert sample.sql("select $1 as n", [2**62]).polars().rows() == [(2**62,)]
    assert sample.sql("select ? as n", [None]).arrow().to_pylist() == [{"n": None}]
    with pytest.raises(SqlError, match="not provided"):
        sample.sql("select $1")


def test_several_results_are_read_at_once_and_more_than_once(sample: Ledger) -> None:
    one, other = sample.sql("select * from range(5_000) order by 1"), sample.sql("select * from range(5_000)")
    pairs = zip(one, other, strict=True)
    assert next(pairs) == ((0,), (0,))
    assert len(list(pairs)) == 4_999
    assert one.rows() == one.polars().rows()
    threads = [threading.Thread(target=one.rows) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_several_threads_ask_one_ledger_at_once(sample: Ledger) -> None:
    asked = [f'from "{name}"' for name in ("v_turn_owner", *TABLES)] * 2

    def rows_of(ledger: Ledger, sql: str) -> list[tuple[object, ...]]:
        return sorted(ledger.sql(sql).rows(), key=repr)

    expected = [rows_of(sample, sql) for sql in asked]
    with aix.open(sample.path) as shared, ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda sql: rows_of(shared, sql), asked)) == expected


def test_a_query_is_asked_by_its_name_or_itself(sample: Ledger) -> None:
    [query] = [query for query in aix.queries() if query.name == "overview/table_rows"]
    assert sample.query(query).rows() == sample.query(query.name).rows() != []


@pytest.mark.parametrize("form", ["rows", "arrow"])
@pytest.mark.parametrize("parameters", [None, [400_000]])
def test_a_result_larger_than_memory_streams(tmp_path: Path, form: str, parameters: list[int] | None) -> None:
    write_ledger(tmp_path, {})
    program = f"""
import resource, sys
import pyarrow, aix
count = {"'$1'" if parameters else "400_000"}
result = aix.open(sys.argv[1]).sql(f"select repeat('x', 2_000) || i as text from range({{count}}) t(i)", {parameters})
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
if {form!r} == "rows":
    rows = sum(1 for _ in result)
else:
    with result.arrow_reader() as reader:
        rows = sum(batch.num_rows for batch in reader)
print(rows, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    command = [sys.executable, "-c", program, str(tmp_path)]
    rows, grown_mb = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert int(rows) == 400_000
    assert int(grown_mb) < 300, "the result is 800 MB"


def test_an_order_is_kept_on_the_way_out(sample: Ledger) -> None:
    result = sample.sql("select i, cast(i as utinyint) as small from range(250) t(i) order by hash(i)")
    rows = result.rows()
    assert rows != sorted(rows)
    assert result.polars().rows() == rows == sample.sql("from range(250) t(i) select i, i order by hash(i)").rows()


def test_columns_of_one_name_get_names_of_their_own(sample: Ledger) -> None:
    result = sample.sql("select 1 as a, 2 as a, 3 as A")
    assert len({name.lower() for name in result.columns}) == 3
    assert result.rows() == result.polars().rows() == [(1, 2, 3)]


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


def test_pandas_is_asked_for_when_it_is_missing(sample: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingLibraryError) as caught:
        sample.sql("select 1").pandas()
    assert "pip install pandas" in caught.value.remedy


def test_pandas_keeps_whole_numbers_beside_null(sample: Ledger) -> None:
    frame = sample.sql("values (9007199254740993, true), (null, null)").pandas()
    assert frame.iloc[0, 0] == 9_007_199_254_740_993
    assert frame.isna().to_numpy().tolist() == [[False, False], [True, True]]


def test_what_pandas_cannot_hold_is_said(sample: Ledger) -> None:
    with pytest.raises(SqlError, match="pandas cannot hold"):
        sample.sql("select date 'infinity'").pandas()


UUID = "00000000-0000-0000-0000-00000000000a"
# What each type becomes: as a Python value, and as a polars value where that is another one.
NATIVE: list[tuple[str, object, object]] = [
    ("true", True, True),
    ("127::tinyint", 127, 127),
    ("255::utinyint", 255, 255),
    ("18446744073709551615::ubigint", 2**64 - 1, 2**64 - 1),
    ("sum(1)", 1, 1),
    ("('1' || repeat('0', 37))::hugeint", 10**37, 10**37),
    ("0.5::float", 0.5, 0.5),
    ("1e300", 1e300, 1e300),
    ("json('[1]')", "[1]", "[1]"),
    ("null", None, None),
    ("date '2026-02-05'", "2026-02-05", datetime.date(2026, 2, 5)),
    ("date 'infinity'", "infinity", ...),
    ("time '12:30:00'", "12:30:00", datetime.time(12, 30)),
    ("time '24:00:00'", "24:00:00", ...),
    ("timetz '12:30:00+02'", "12:30:00+02", "12:30:00+02"),
    ("timestamp '2026-02-05 12:00:00'", "2026-02-05 12:00:00", datetime.datetime(2026, 2, 5, 12)),
    ("timestamp_s '2026-02-05 12:00:00'", "2026-02-05 12:00:00", datetime.datetime(2026, 2, 5, 12)),
    ("timestamp_ns '2026-02-05 12:00:00'", "2026-02-05 12:00:00", datetime.datetime(2026, 2, 5, 12)),
    ("timestamp 'infinity'", "infinity", ...),
    ("timestamptz '2026-02-05 12:00:00+02'", "2026-02-05 10:00:00+00", ...),
    ("interval 90 minutes", "01:30:00", "01:30:00"),
    ("'\\x00a'::blob", b"\x00a", b"\x00a"),
    ("'0101'::bit", "0101", "0101"),
    ("'a'::enum('a', 'b''c')", "a", "a"),
    (f"uuid '{UUID}'", UUID, UUID),
    ("[1, null]", [1, None], [1, None]),
    ("[1, 2]::integer[2]", [1, 2], [1, 2]),
    ("[date '2026-02-05']", ["2026-02-05"], [datetime.date(2026, 2, 5)]),
    ("{'a': 1, 'b \"c': [interval 1 day]}", {"a": 1, 'b "c': ["1 day"]}, {"a": 1, 'b "c': ["1 day"]}),
    ("row(1, 'x')", "(1, x)", "(1, x)"),
    ("map {'k': 1}", {"k": 1}, ...),
    ("map {[1]: 1}", {"key": [[1]], "value": [1]}, ...),
    ("union_value(n := 1)", "1", "1"),
]


@pytest.mark.parametrize(("expression", "value", "in_polars"), NATIVE, ids=[expression for expression, *_ in NATIVE])
def test_every_type_has_a_value_outside(sample: Ledger, expression: str, value: object, in_polars: object) -> None:
    result = sample.sql(f"select {expression} as x")
    assert result.rows() == [(value,)]
    frame = result.polars()
    assert frame.shape == (1, 1)
    if in_polars is not ...:  # what polars itself cannot turn into a Python value, or does so in its own way
        assert frame.rows() == [(in_polars,)]


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
def test_what_would_slip_through_meets_a_locked_connection(guarded: Ledger, query: str) -> None:
    connection = connect(guarded.path, read_latest(guarded.path)).cursor()
    with pytest.raises((duckdb.PermissionException, duckdb.InvalidInputException)):
        connection.execute(query.replace("{folder}", str(guarded.path.parent)))


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


def test_large_sorts_spill_into_a_private_folder_that_goes_with_the_connection(sample: Ledger, tmp_path: Path) -> None:
    program = """
import os, stat, sys, tempfile
tempfile.tempdir = sys.argv[2]
import aix
ledger = aix.open(sys.argv[1])
[(folder,)] = ledger.sql("select current_setting('temp_directory')").rows()
print(oct(stat.S_IMODE(os.stat(folder).st_mode)), os.path.dirname(folder) == sys.argv[2])
"""
    command = [sys.executable, "-c", program, str(sample.path), str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    assert said == "0o700 True\n"
    assert list(tmp_path.iterdir()) == []
