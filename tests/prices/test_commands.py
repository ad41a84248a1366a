"""`aix prices`, and `--prices` of `aix import`."""

import json
from pathlib import Path

import pytest

from aix.prices.lines import parse_lines
from tests.support.command_line import run_in_process

ENTRY = {
    "uuid": "u",
    "sessionId": "s",
    "timestamp": "2026-01-05T10:00:00Z",
    "message": {"role": "assistant", "content": "x", "model": "house-model"},
}


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("imported")
    (folder / "a.jsonl").write_text(json.dumps(ENTRY) + "\n")
    assert (
        run_in_process("import", str(folder / "a.jsonl"), "--ledger", str(folder / "ledger"), "--jobs", "1").returncode
        == 0
    )
    return folder / "ledger"


def test_the_lines_as_csv_are_a_file_of_prices() -> None:
    process = run_in_process("prices", "list", "opus-5", "--format", "csv")
    lines = parse_lines(process.stdout, Path("copy.csv"))
    assert {line.variant for line in lines} == {"standard", "batch", "fast"}
    assert all("opus-5" in line.model for line in lines)


def test_a_model_is_shown_with_what_was_chosen_and_why() -> None:
    process = run_in_process(
        "prices", "show", "claude-opus-4-6", "--at", "2026-03-12", "--input-tokens", "200001", "--json"
    )
    rows = {row["variant"]: row for row in json.loads(process.stdout)}
    assert float(rows["standard"]["input"]) == 10
    assert rows["standard"]["valid_to"] == "2026-03-13"
    assert "standard taken" in rows["flex"]["price_basis"]


def test_an_unknown_model_names_the_nearest() -> None:
    process = run_in_process("prices", "show", "gemini-2.5-pr")
    assert (process.returncode, process.stdout) == (2, "")
    assert "did you mean gemini-2.5-pro or" in process.stderr


def test_an_unknown_model_that_is_near_to_none_is_told_how_to_list_them() -> None:
    process = run_in_process("prices", "show", "nosuch")
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr == "aix: there is no priced model named 'nosuch'\n  `aix prices list` lists all\n"


def test_models_without_a_price_are_found_until_a_file_prices_them(ledger: Path, tmp_path: Path) -> None:
    process = run_in_process("prices", "check", "--ledger", str(ledger), "--json")
    assert process.returncode == 1
    [row] = json.loads(process.stdout)
    assert (row["finding"], row["model"], row["requests"]) == ("unpriced", "house-model", 1)
    own = tmp_path / "own.csv"
    own.write_text("model,input,output\nhouse-model,1,2\n")
    process = run_in_process("prices", "check", "--ledger", str(ledger), AIX_PRICES=str(own))
    assert process.returncode == 0
    assert "1 of your own" in process.stderr
    own.write_text("model,input,output\nhouse-model,1,2\nhouse-mdel-2,1,2\n")
    process = run_in_process("prices", "check", "--prices", str(own), "--ledger", str(ledger), "--json")
    assert process.returncode == 1
    assert [(row["finding"], row["model"]) for row in json.loads(process.stdout)] == [("unused", "house-mdel-2")]


def test_prices_alone_lists_the_prices_in_use(ledger: Path, tmp_path: Path) -> None:
    process = run_in_process("prices", "--ledger", str(ledger))
    assert [line.split() for line in process.stdout.splitlines()[2:]] == [
        ["house-model", "–", "–", "–", "–", "–", "1", "no", "price", "known"]
    ]
    assert process.stderr.startswith("aix: USD per million tokens")
    own = tmp_path / "own.csv"
    own.write_text("model,input,output,cache_read,valid_from,source\nhouse-model,0.125,1234,0.5,2026-01-01,our list\n")
    paid = tmp_path / "ledger"
    run_in_process("import", str(ledger.parent / "a.jsonl"), "--ledger", str(paid), "--prices", str(own), "--jobs", "1")
    shown = run_in_process("prices", "--ledger", str(paid)).stdout
    assert shown.split("\n")[2].split() == [
        *("house-model", "$0.125", "$1,234.00", "$0.50", "–", "2026-01-01", "1", "our", "list", "house-model")
    ]
    [row] = json.loads(run_in_process("prices", "used", "--ledger", str(paid), "--json").stdout)
    assert (row["model"], row["input"], row["valid_from"], row["requests"]) == ("house-model", 0.125, 1767225600000, 1)


def test_a_broken_file_is_named_with_its_line_by_every_command(ledger: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_text("model,inputt\nm,1\n")
    for command in (["prices", "check"], ["prices", "list"], ["import", str(ledger.parent / "a.jsonl")]):
        target = [] if "list" in command else ["--ledger", str(ledger)]
        process = run_in_process(*command, "--prices", str(own), *target)
        assert (process.returncode, process.stdout) == (2, "")
        assert f"{own}:1: there is no column 'inputt'" in process.stderr
        assert "did you mean input?" in process.stderr


def test_prices_need_no_ledger(tmp_path: Path) -> None:
    process = run_in_process("prices", "check", "--ledger", str(tmp_path / "none"))
    assert process.returncode == 0
    assert "no ledger" in process.stderr
    process = run_in_process("prices", "--ledger", str(tmp_path / "none"))
    assert (process.returncode, process.stdout) == (0, "")
    assert "`aix prices list` lists all prices" in process.stderr
    assert "aix prices list" in run_in_process("prices", "--help").stdout
    assert "'list'" in run_in_process("prices", "lst").stderr
