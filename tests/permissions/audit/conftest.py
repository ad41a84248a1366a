"""The pack of another distribution, installed for a whole module."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.permissions.audit.acme import install_acme


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give the folder of the search path that the pack is installed in."""
    folder = tmp_path_factory.mktemp("site-packages")
    install_acme(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield folder
