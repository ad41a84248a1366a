"""What the importer makes of each situation in `fixtures/session_log`."""

from pathlib import Path

import pytest

from aix.health import Severity, check
from tests.session_log.logs import FIXTURES, SITUATIONS, import_logs


@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_ledger_of_any_situation_is_whole(tmp_path: Path, situation: str) -> None:
    import_logs(tmp_path, FIXTURES / situation / "input")
    findings = [finding for finding in check(tmp_path) if finding.severity is Severity.HARD]
    assert not [(finding.name, finding.reason) for finding in findings if finding.count]
