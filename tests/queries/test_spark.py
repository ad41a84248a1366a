"""Every file of the SQL library gives the same rows on Spark as on DuckDB; `make test-spark` runs this."""

import datetime
import math
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

import aix
from aix.derived.materialised_tables import derived_selects
from aix.merge import groups
from aix.query.packs import find_query, own_query_names
from aix.query.views import library_views
from aix.store.manifest import read_latest
from aix.store.views import create_views
from tests import ROOT
from tests.merge.test_groups import conversation
from tests.permissions.ledger import apply_personas, build_permission_ledger
from tests.queries.agent_graphs import build_graph_ledger
from tests.queries.spark import (
    Rows,
    SparkLedger,
    Values,
    spark_session,
)
from tests.support.row_batches import deliver

pytestmark = pytest.mark.spark

FIXTURES = ROOT / "fixtures"
QUERIES = {name: find_query(name) for name in own_query_names()}
REASONS = {name: query.only_duckdb for name, query in QUERIES.items() if query.only_duckdb}
PORTABLE = [name for name in QUERIES if name not in REASONS]
MOST_OF_TEN_FOR_DUCKDB_ALONE = 1
RELATIVE_ERROR = 1e-9


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fixtures of the library, of audits, of programs, of agent graphs and the sample, in one ledger."""
    folder = build_permission_ledger(tmp_path_factory.mktemp("spark") / "ledger")
    sources = [path for path in (FIXTURES / "library", FIXTURES / "sample", FIXTURES / "programs") if path.exists()]
    aix.import_histories(sources, folder)
    build_graph_ledger(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "_TIMES_LARGER", 0)
        for turns in (1, 2):
            deliver(folder, conversation("grown", turns), conversation("beside"))
    apply_personas(folder)
    assert read_latest(folder).dead, "else it is not shown that dead rows are left out"
    return folder


@pytest.fixture(scope="module")
def spark(ledger: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkLedger]:
    with spark_session(tmp_path_factory.mktemp("scratch")) as session:
        yield SparkLedger(session, ledger, read_latest(ledger))


class DuckLedger:
    """One version of a ledger in DuckDB. As on Spark, a view is computed once for each set of values."""

    def __init__(self, ledger: Path) -> None:
        self._ledger = ledger
        self._connections: list[tuple[Values, duckdb.DuckDBPyConnection]] = []

    def rows(self, sql: str, values: Values) -> Rows:
        """Run a file of the library with these values set."""
        return self._connection(values).execute(sql).fetchall()

    def _connection(self, values: Values) -> duckdb.DuckDBPyConnection:
        for known, connection in self._connections:
            if known == values:
                return connection
        connection = duckdb.connect()
        connection.execute("set TimeZone = 'UTC'")
        for name, value in values.items():
            connection.execute(f"set variable {name} = $1", [value])
        manifest = read_latest(self._ledger)
        create_views(connection, self._ledger, manifest)
        derived = derived_selects(self._ledger, manifest)
        for view in library_views().values():
            connection.execute(f"create table {view.name} as {derived.get(view.name, view.statement)}")
        self._connections.append((values, connection))
        return connection


@pytest.fixture(scope="module")
def duck(ledger: Path) -> DuckLedger:
    return DuckLedger(ledger)


@pytest.fixture(scope="module")
def choices(duck: DuckLedger) -> list[Values]:
    """Nothing; the middle of the ledger's time, with summer time; what most requests have; two branches; and a file."""
    [times] = duck.rows(
        "select quantile_disc(requested_at, 0.2), quantile_disc(requested_at, 0.9), 'Europe/Berlin' from requests", {}
    )
    kinds = duck.rows(
        """
        select c.project, r.model, s.origin
        from requests r join session_context c on c.label = r.session_label join sessions s on s.label = c.label
        where c.project is not null and r.model is not null
        group by all order by count(*) desc, c.project, r.model, s.origin limit 1
        """,
        {},
    )
    branches = duck.rows(
        """
        select min(session_label), max(session_label), turn_id from v_session_turns
        group by turn_id having count(*) > 1 order by count(*) desc, turn_id limit 1
        """,
        {},
    )
    files = duck.rows("select file_path from message_files order by id limit 1", {})
    limits = _named(("since", "until", "timezone"), times)
    return [
        {},
        limits,
        *(_named(("project", "model", "origin"), each) for each in kinds),
        *(_named(("a", "b", "turn"), each) for each in branches),
        *(_named(("path",), each) for each in files),
    ]


def _named(names: tuple[str, ...], values: tuple[Any, ...]) -> Values:
    return dict(zip(names, values, strict=True))


def test_at_most_one_query_in_ten_needs_duckdb() -> None:
    assert len(REASONS) * 10 <= len(QUERIES) * MOST_OF_TEN_FOR_DUCKDB_ALONE


@pytest.mark.parametrize("name", PORTABLE)
def test_spark_and_duckdb_give_the_same_rows(
    name: str, spark: SparkLedger, duck: DuckLedger, choices: list[Values]
) -> None:
    query = QUERIES[name]
    declared = {parameter.name for parameter in query.parameters}
    for values in choices:
        if values and not values.keys() & declared:
            continue
        expected, found = duck.rows(query.sql, values), spark.rows(query.sql, values)
        assert len(found) == len(expected), values
        for there, here in zip(found, expected, strict=True):
            assert all(map(is_same, there, here)), (values, there, here)


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
