"""The commands of audits, run on the ledger of the fixtures."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.permissions.ledger import Answer
from tests.support.command_line import run_here


@pytest.fixture
def audit(permission_ledger: Path, tmp_path: Path) -> Answer:
    """Run a command of the audit, and return the JSON that it wrote."""

    def run(*arguments: str) -> Any:  # noqa: ANN401 - JSON
        out = tmp_path / "out.json"
        run_here("audit", *arguments, "--ledger", str(permission_ledger), "-o", str(out))
        return json.loads(out.read_text("utf-8"))

    return run
