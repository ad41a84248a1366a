"""Two ledgers for all tests of the library: one with the fixtures, one with nothing."""

from collections.abc import Iterator

import duckdb
import pytest

import aix
from aix.ledger.catalog import CATALOG
from aix.reading.ledger import Ledger
from tests.library.ledger import build_ledger
from tests.sample_ledger import write_ledger


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    with aix.open(build_ledger(tmp_path_factory.mktemp("library") / "ledger")) as ledger:
        yield ledger


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
