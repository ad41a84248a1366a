"""Ledgers for all tests of the library: one with the fixtures, those of packs that have their own, one with nothing."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import duckdb
import pytest

import aix
from aix.derived.catalog import CATALOG
from aix.query.query_file import Query
from aix.reading.ledger import Ledger
from tests.permissions.ledger import build_permission_ledger, build_persona_ledger
from tests.queries.agent_graphs import build_graph_ledger
from tests.queries.ledger import Builder, build_ledger, builder_for
from tests.support.program_ledger import build_program_ledger
from tests.support.sample_ledger import write_ledger

_FIXTURES: Mapping[Builder, str] = {
    build_permission_ledger: "permission_ledger",
    build_persona_ledger: "persona_ledger",
    build_program_ledger: "program_ledger",
    build_graph_ledger: "graph_ledger",
}
"""By builder, the fixture that shares what it builds with other tests."""


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    with aix.open(build_ledger(tmp_path_factory.mktemp("library") / "ledger")) as ledger:
        yield ledger


@pytest.fixture(scope="session")
def filled_for(filled: Ledger, request: pytest.FixtureRequest) -> Iterator[Callable[[Query], Ledger]]:
    """The ledger that a query is tried on, made when the first one asks for it."""
    with ExitStack() as opened:
        ledgers: dict[Builder, Ledger] = {build_ledger: filled}

        def ledger_for(query: Query) -> Ledger:
            build = builder_for(query)
            if build not in ledgers:
                made: Path = request.getfixturevalue(_FIXTURES[build])
                ledgers[build] = opened.enter_context(aix.open(made))
            return ledgers[build]

        yield ledger_for


@pytest.fixture(scope="session")
def graph_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_graph_ledger(tmp_path_factory.mktemp("graph") / "ledger")


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    folder = tmp_path_factory.mktemp("empty")
    write_ledger(folder, {})
    with aix.open(folder) as ledger:
        yield ledger


@pytest.fixture(scope="session")
def plain(filled: Ledger) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB client that knows nothing of AIX, on the ledger with the fixtures."""
    with duckdb.connect(str(filled.path / CATALOG), read_only=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def plain_for(filled_for: Callable[[Query], Ledger]) -> Iterator[Callable[[Query], duckdb.DuckDBPyConnection]]:
    """The same client on the ledger that a query is tried on."""
    with ExitStack() as opened:
        clients: dict[Path, duckdb.DuckDBPyConnection] = {}

        def client_for(query: Query) -> duckdb.DuckDBPyConnection:
            path = filled_for(query).path
            if path not in clients:
                clients[path] = opened.enter_context(duckdb.connect(str(path / CATALOG), read_only=True))
            return clients[path]

        yield client_for
