"""The ledger that tests of reports read, and a report of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import aix
from aix.reading.ledger import Ledger
from aix.reports.library import find_report
from aix.reports.report import Report, make_report
from tests.reports.ledger import write_report_ledger


@pytest.fixture(scope="session")
def report_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of the ledger; nobody writes to it."""
    return write_report_ledger(tmp_path_factory.mktemp("reports"))


@pytest.fixture(scope="session")
def report_ledger(report_folder: Path) -> Iterator[Ledger]:
    """Give the ledger, opened."""
    with aix.open(report_folder) as ledger:
        yield ledger


@pytest.fixture(scope="session")
def overview(report_ledger: Ledger) -> Report:
    """Give the overview of the whole ledger."""
    return make_report("overview", find_report("overview"), report_ledger, {}, "UTC")
