"""The ledger that tests of reports read, and a report of it."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

import aix
from aix.reading.ledger import Ledger
from aix.reports.library import find_report
from aix.reports.report import Report, make_report
from tests.reports.ledger import LONG_SESSION, write_report_ledger


@pytest.fixture(scope="session")
def report_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of the ledger; nobody writes to it."""
    return write_report_ledger(tmp_path_factory.mktemp("reports"))


@pytest.fixture(scope="session")
def report_ledger(report_folder: Path) -> Iterator[Ledger]:
    """Give the ledger, opened."""
    with aix.open(report_folder) as ledger:
        yield ledger


Made = Callable[..., Report]


@pytest.fixture(scope="session")
def made(report_ledger: Ledger) -> Made:
    """Give a function that makes the report of a name with these parameters, and makes it once."""

    @cache
    def make(name: str, **parameters: str) -> Report:
        asked = {"session": LONG_SESSION} | parameters if name == "session" else parameters
        return make_report(name, find_report(name), report_ledger, asked, "UTC")

    return make


@pytest.fixture(scope="session")
def overview(made: Made) -> Report:
    """Give the overview of the whole ledger."""
    return made("overview")
