"""A ledger of the fixtures that the query library is tried on; no test writes to it but for its index."""

from pathlib import Path

import pytest

from tests.queries.ledger import build_ledger


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_ledger(tmp_path_factory.mktemp("library") / "ledger")
