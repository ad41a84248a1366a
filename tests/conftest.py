"""No test sees the user's home, configuration or ledger."""

from pathlib import Path

import pytest
from hypothesis import settings

from tests.permissions.ledger import build_permission_ledger
from tests.support.compacted_ledger import make_compacted_ledger

# How long an example takes says more about the machine than about the code.
settings.register_profile("aix", deadline=None)
settings.load_profile("aix")


@pytest.fixture(autouse=True)
def empty_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    for variable in ("AIX_CONFIG", "AIX_LEDGER", "AIX_PRICES", "AIX_TIMEZONE", "AIX_AUTO_IMPORT", "AIX_DEBUG"):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    return home


@pytest.fixture(scope="session")
def compacted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a ledger with compactions of every kind; nobody writes to it."""
    return make_compacted_ledger(tmp_path_factory.mktemp("compacted") / "ledger")


@pytest.fixture(scope="session")
def permission_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a ledger with the logs and rules for permission audits; nobody writes to it."""
    return build_permission_ledger(tmp_path_factory.mktemp("permissions") / "ledger")
