"""The notebooks run from their first cell to their last, and show the figures that the command line gives."""

import ast
import csv
import json
from decimal import Decimal
from typing import TypedDict

import pytest

from aix.sample import sample_ledger
from docs.run_notebooks import FOLDER, run_notebook
from tests.support.command_line import run_aix

pytestmark = pytest.mark.long

NOTEBOOKS = ["compaction_impact", "permission_usage", "token_economics", "your_own_question"]

every_notebook = pytest.mark.parametrize("name", NOTEBOOKS)


class Cell(TypedDict):
    metadata: dict[str, list[str]]
    outputs: list[dict[str, dict[str, str]]]


@pytest.fixture(scope="module")
def shown_now(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Cell]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        return {name: run_notebook(FOLDER / f"{name}.ipynb").cells for name in NOTEBOOKS}


@pytest.fixture(scope="module")
def ledger() -> str:
    with sample_ledger() as opened:
        return str(opened.path)


def figures(cells: list[Cell]) -> dict[str, object]:
    [cell] = [cell for cell in cells if "figures" in cell["metadata"].get("tags", ())]
    text = cell["outputs"][0]["data"]["text/plain"]
    shown: dict[str, object] = ast.literal_eval("".join(text))
    return shown


def answer(query: str, ledger: str) -> list[dict[str, str]]:
    output = run_aix("query", query, "--format", "csv", "--ledger", ledger).stdout
    return list(csv.DictReader(output.splitlines()))


def test_there_are_no_others() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == NOTEBOOKS


def test_the_figures_of_tokens_are_those_of_the_command_line(shown_now: dict[str, list[Cell]], ledger: str) -> None:
    rows = answer("token_economics/cost_by_origin", ledger)
    assert figures(shown_now["token_economics"]) == {
        "cost_usd": str(sum(Decimal(row["cost_usd"] or 0) for row in rows)),
        "cache_read_tokens": sum(int(row["cache_read_tokens"] or 0) for row in rows),
    }


def test_the_figures_of_compactions_are_those_of_the_command_line(
    shown_now: dict[str, list[Cell]], ledger: str
) -> None:
    costs = answer("compaction_impact/cost", ledger)
    assert figures(shown_now["compaction_impact"]) == {
        "total_usd": str(sum(Decimal(row["total_usd"] or 0) for row in costs)),
        "paid_back": sum(row["is_paid_back"] == "true" for row in answer("compaction_impact/break_even", ledger)),
        "reread_tokens": sum(int(row["result_tokens"] or 0) for row in answer("compaction_impact/rereads", ledger)),
    }


def test_the_figures_of_permissions_are_those_of_the_command_line(
    shown_now: dict[str, list[Cell]], ledger: str
) -> None:
    assert figures(shown_now["permission_usage"]) == {
        "calls": len(answer("permission_usage/calls", ledger)),
        "risky_calls": sum(int(row["calls"]) for row in answer("permission_usage/risks", ledger)),
    }


def test_the_figures_of_your_own_question_are_those_of_the_command_line(
    shown_now: dict[str, list[Cell]], ledger: str
) -> None:
    costs = [Decimal(row["cost_usd"] or 0) for row in answer("token_economics/cost_by_session", ledger)]
    dear = [cost for cost in costs if cost >= Decimal("0.1")]
    assert figures(shown_now["your_own_question"]) == {"sessions": len(dear), "cost_usd": str(sum(dear))}


@every_notebook
def test_what_is_stored_in_it_is_what_it_gives_now(name: str, shown_now: dict[str, list[Cell]]) -> None:
    stored = json.loads((FOLDER / f"{name}.ipynb").read_text("utf-8"))["cells"]
    assert figures(stored) == figures(shown_now[name])
    outputs = [output for cell in stored for output in cell.get("outputs", ())]
    assert [output for output in outputs if "image/png" in output.get("data", ())], "the plot is not stored"
