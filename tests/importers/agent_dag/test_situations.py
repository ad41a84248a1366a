"""The histories of every situation, imported together, are those that were written down by hand."""

import json
import shutil
from pathlib import Path

import pytest

from aix.testing import GoldenCase, golden_cases
from tests.importers.agent_dag.histories import FIXTURES

CASES = golden_cases(FIXTURES)
_APART = {"refused", "broken"}


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, object]]]:
    """Rows of a ledger with all situations: their graphs have no agent, run or node in common."""
    folder = tmp_path_factory.mktemp("graphs") / "agent_dag" / "all"
    for case in CASES:
        shutil.copytree(case.folder / "input", folder / "input" / str(case))
    text = GoldenCase(folder).run()
    for case in CASES:
        text = text.replace(f"input/{case}/", "input/")
    loaded: dict[str, list[dict[str, object]]] = json.loads(text)
    return loaded


def test_the_ledger_holds_what_is_expected(content: dict[str, list[dict[str, object]]]) -> None:
    expected: dict[str, list[str]] = {name: [] for name in content if name not in _APART}
    for case in CASES:
        for name, rows in json.loads(case.expected or "").items():
            if name not in _APART:
                expected.setdefault(name, []).extend(map(json.dumps, rows))
    for name, rows in expected.items():
        assert sorted(map(json.dumps, content.get(name, []))) == sorted(rows), name


def test_no_invariant_is_broken(content: dict[str, list[dict[str, object]]]) -> None:
    assert (content["refused"], content["broken"]) == ([], [])
    assert all(json.loads(case.expected or "")["broken"] == [] for case in CASES)


def test_the_fixtures_are_small_and_made_by_hand() -> None:
    assert max(Path(case.folder / "input" / "graph.jsonl").stat().st_size for case in CASES) < 20_000
