"""What the examples in docstrings stand on: a small ledger, as every session of examples finds it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import aix

SAMPLE = Path(__file__).parent / "fixtures" / "ledgers" / "schema_4"


@pytest.fixture(scope="session", autouse=True)
def names_of_examples(doctest_namespace: dict[str, object], tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give the examples `aix`, the folder of a ledger, and the ledger opened."""
    folder = shutil.copytree(SAMPLE, tmp_path_factory.mktemp("examples") / "ledger")
    with aix.open(folder) as ledger:
        doctest_namespace.update(aix=aix, folder=folder, ledger=ledger)
        yield
        doctest_namespace.clear()
