"""Every file of the SQL library gives the same rows on Spark as on DuckDB; `make test-spark` runs this."""

import datetime
import math
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

import aix
from aix.ledger.manifest import read_latest
from aix.ledger.views import create_views
from aix.query_files import query_root
from tests.library.spark import (
    Rows,
    Values,
    declared_parameters,
    library_files,
    reason_for_duckdb_only,
    register,
    rows_on_spark,
    spark_session,
    views_in_order,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

FIXTURES = Path(__file__).parents[2] / "fixtures"
SQL = {path.relative_to(query_root()).with_suffix("").as_posix(): path.read_text("utf-8") for path in library_files()}
REASONS = {name: reason for name, sql in SQL.items() if (reason := reason_for_duckdb_only(sql)) is not None}
PORTABLE = [name for name in SQL if name not in REASONS]
MOST_OF_TEN_FOR_DUCKDB_ALONE = 1
RELATIVE_ERROR = 1e-9


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fixtures of the library and the sample, imported."""
    folder = tmp_path_factory.mktemp("spark") / "ledger"
    sources = [path for path in (FIXTURES / "library", FIXTURES / "sample") if path.exists()]
    aix.import_histories(sources, folder)
    return folder


@pytest.fixture(scope="module")
def spark(ledger: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator["SparkSession"]:
    with spark_session(tmp_path_factory.mktemp("scratch")) as session:
        register(session, ledger, read_latest(ledger))
        yield session


@pytest.fixture(scope="module")
def duck(ledger: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("set TimeZone = 'UTC'")
        create_views(connection, ledger, read_latest(ledger))
        for name, sql in views_in_order():
            connection.execute(f'create or replace view "{name}" as {sql}')
        yield connection


@pytest.fixture(scope="module")
def choices(duck: duckdb.DuckDBPyConnection) -> Values:
    """For each common parameter a value that leaves some of the ledger's rows out."""
    row = duck.execute(
        """
        select (select percentile_disc(0.2) within group (order by started_at) from turns),
          (select percentile_disc(0.9) within group (order by started_at) from turns) + 1,
          (select mode(project) from session_context), (select mode(origin) from turn_context),
          (select mode(model) from requests), (select min(session_label) from session_turns)
        """
    ).fetchone()
    assert row is not None
    names = ("since", "until", "project", "origin", "model", "session")
    found = {name: value for name, value in zip(names, row, strict=True) if value is not None}
    return {**found, "timezone": "Europe/Berlin"}


def test_at_most_one_query_in_ten_needs_duckdb() -> None:
    assert len(REASONS) * 10 <= len(SQL) * MOST_OF_TEN_FOR_DUCKDB_ALONE


@pytest.mark.parametrize("name", REASONS)
def test_a_query_that_needs_duckdb_says_why(name: str) -> None:
    assert REASONS[name]


@pytest.mark.parametrize("name", PORTABLE)
def test_spark_and_duckdb_give_the_same_rows(
    name: str, spark: "SparkSession", duck: duckdb.DuckDBPyConnection, choices: Values
) -> None:
    declared = declared_parameters(SQL[name])
    chosen = {parameter: value for parameter, value in choices.items() if parameter in declared}
    for values in [{}, *_parts(chosen)]:
        expected, found = rows_on_duckdb(duck, SQL[name], values), rows_on_spark(spark, SQL[name], values)
        assert len(found) == len(expected), values
        for there, here in zip(found, expected, strict=True):
            assert all(map(is_same, there, here)), (values, there, here)


def _parts(chosen: Values) -> list[dict[str, str | int | float | bool]]:
    """What limits time and zone in one run, what chooses rows in another: together they would leave none."""
    limits = {name: value for name, value in chosen.items() if name in {"since", "until", "timezone"}}
    others = {name: value for name, value in chosen.items() if name not in limits}
    return [part for part in (limits, others) if part]


def rows_on_duckdb(connection: duckdb.DuckDBPyConnection, sql: str, values: Values) -> Rows:
    for name, value in values.items():
        connection.execute(f"set variable {name} = $1", [value])
    try:
        return connection.execute(sql).fetchall()
    finally:
        for name in values:
            connection.execute(f"reset variable {name}")


def is_same(there: object, here: object) -> bool:
    """Whether two values are equal and of one kind; numbers with a point may differ in their last places."""
    if isinstance(there, float) and isinstance(here, float):
        return math.isclose(there, here, rel_tol=RELATIVE_ERROR, abs_tol=0.0)
    return _kind(there) is _kind(here) and there == here


def _kind(value: object) -> type:
    return next(
        (kind for kind in (bool, int, Decimal, str, datetime.date) if isinstance(value, kind)),
        type(value),
    )
