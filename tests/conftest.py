"""No test sees the user's home, configuration or ledger."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.permissions.ledger import apply_personas, build_permission_ledger
from tests.support.browsing import start_browser
from tests.support.compacted_ledger import make_compacted_ledger
from tests.support.program_ledger import build_program_ledger

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# How long an example takes says more about the machine than about the code. CI draws the same examples each time, so
# that a change fails by what it changes; developers' runs draw others each time, and find what none has drawn before.
settings.register_profile("aix", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("aix")


@pytest.fixture(autouse=True)
def empty_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    for variable in (
        "AIX_CONFIG",
        "AIX_LEDGER",
        "AIX_PRICES",
        "AIX_TIMEZONE",
        "AIX_AUTO_IMPORT",
        "AIX_DEBUG",
        "AIX_REDACT_NAMES",
        "AIX_EMBEDDING_COMMAND",
        "AIX_EMBEDDING_MODEL",
    ):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    return home


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """Give headless Chromium."""
    yield from start_browser()


@pytest.fixture(scope="session")
def compacted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a ledger with compactions of every kind; nobody writes to it."""
    return make_compacted_ledger(tmp_path_factory.mktemp("compacted") / "ledger")


@pytest.fixture(scope="session")
def program_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a ledger with the story of programs; nobody writes to it."""
    return build_program_ledger(tmp_path_factory.mktemp("programs") / "ledger")


@pytest.fixture(scope="session")
def permission_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a ledger with the logs and rules for permission audits; nobody writes to it."""
    return build_permission_ledger(tmp_path_factory.mktemp("permissions") / "ledger")


@pytest.fixture(scope="session")
def persona_ledger(permission_ledger: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the same ledger with the personas that lie beside its logs; nobody writes to it."""
    return apply_personas(shutil.copytree(permission_ledger, tmp_path_factory.mktemp("personas") / "ledger"))
