"""The sample ledger, opened once for all tests of reading; no test writes to it."""

import pytest

import aix
from aix.reading.ledger import Ledger
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    folder = tmp_path_factory.mktemp("sample") / "ledger"
    write_ledger(folder, SAMPLE_ROWS)
    return aix.open(folder)
