"""Golden cases of the importers, and the harness that runs them."""

import json
import shutil
from pathlib import Path

import pytest

from aix.testing import GoldenCase, golden_cases
from tests import ROOT
from tests.support.command_line import run_in_process

pytestmark = pytest.mark.long

FIXTURES = ROOT / "fixtures"


@pytest.mark.parametrize("case", golden_cases(FIXTURES / "session_log"), ids=str)
def test_the_ledger_holds_what_is_expected(case: GoldenCase) -> None:
    case.check()
    assert json.loads(case.expected or "")["broken"] == []


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    folder = tmp_path / "session_log"
    for name in ("two_turns", "truncated_last_line"):
        shutil.copytree(FIXTURES / "session_log" / name, folder / name)
    return folder


def test_a_difference_is_shown_and_written_only_by_force(cases: Path) -> None:
    assert run_in_process("golden", str(cases)).returncode == 0
    expected = cases / "two_turns" / "expected.json"
    right = expected.read_text()
    expected.write_text(right.replace("completed", "failed"))
    shown = run_in_process("golden", str(cases), "--json")
    assert shown.returncode == 1
    assert [row["result"] for row in json.loads(shown.stdout)] == ["as expected", "differs"]
    assert '"status": "completed"' in shown.stderr
    assert run_in_process("golden", str(cases), "--regenerate").returncode == 0
    assert expected.read_text() != right
    assert run_in_process("golden", str(cases), "two_turns", "--force").returncode == 0
    assert expected.read_text() == right


def test_a_case_is_the_same_wherever_it_lies(cases: Path) -> None:
    here, elsewhere = GoldenCase(FIXTURES / "session_log" / "two_turns"), GoldenCase(cases / "two_turns")
    assert here.run() == elsewhere.run()


def test_a_case_that_is_not_there_is_named(cases: Path) -> None:
    process = run_in_process("golden", str(cases), "two_turn")
    assert (process.returncode, "did you mean two_turns" in process.stderr) == (2, True)


def test_a_missing_expected_file_is_written_when_asked_for(cases: Path) -> None:
    (cases / "two_turns" / "expected.json").unlink()
    [case] = [case for case in golden_cases(cases) if str(case) == "two_turns"]
    with pytest.raises(AssertionError, match="aix golden"):
        case.check()
    assert case.regenerate()
    case.check()
