"""The notebook runs from its first cell to its last, and shows the figures that the command line gives."""

import ast
import csv
import json
from decimal import Decimal
from pathlib import Path
from typing import TypedDict

import pytest

from docs.run_notebooks import FOLDER, run_notebook
from tests.command_line import run_aix

FIXTURES = Path(__file__).parent.parent / "fixtures"
NOTEBOOK = FOLDER / "token_economics.ipynb"


class Cell(TypedDict):
    metadata: dict[str, list[str]]
    outputs: list[dict[str, dict[str, str]]]


@pytest.fixture(scope="module")
def shown_now(tmp_path_factory: pytest.TempPathFactory) -> list[Cell]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        cells: list[Cell] = run_notebook(NOTEBOOK).cells
    return cells


def figures(cells: list[Cell]) -> dict[str, object]:
    [cell] = [cell for cell in cells if "figures" in cell["metadata"].get("tags", ())]
    text = cell["outputs"][0]["data"]["text/plain"]
    shown: dict[str, object] = ast.literal_eval("".join(text))
    return shown


def test_its_figures_are_those_of_the_command_line(shown_now: list[Cell], tmp_path: Path) -> None:
    ledger = str(tmp_path / "ledger")
    run_aix("import", str(FIXTURES / "library"), str(FIXTURES / "sample"), "--ledger", ledger)
    answer = run_aix("query", "token_economics/cost_by_origin", "--format", "csv", "--ledger", ledger).stdout
    rows = list(csv.DictReader(answer.splitlines()))
    assert figures(shown_now) == {
        "cost_usd": str(sum(Decimal(row["cost_usd"] or 0) for row in rows)),
        "cache_read_tokens": sum(int(row["cache_read_tokens"] or 0) for row in rows),
    }


def test_what_is_stored_in_it_is_what_it_gives_now(shown_now: list[Cell]) -> None:
    stored = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    assert figures(stored) == figures(shown_now)
    outputs = [output for cell in stored for output in cell.get("outputs", ())]
    assert [output for output in outputs if "image/png" in output.get("data", ())], "the plot is not stored"
