"""`aix check` as users run it."""

import json
import re
from pathlib import Path

import pytest

from aix.health import check_names
from tests.support.command_line import AIX, run_in_process, run_on_terminal
from tests.support.sample_conversation import ABANDONED, OTHER, Row
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger

HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202etxt"


def write_changed(ledger: Path, table: str, **values: object) -> None:
    """Write the sample with other values in the first row of a table."""
    first, *others = SAMPLE_ROWS[table]
    changed: Row = {**first, **values}
    write_ledger(ledger, {**SAMPLE_ROWS, table: [changed, *others]})


def test_a_whole_ledger_gives_one_row_per_check_and_exits_with_0(tmp_path: Path) -> None:
    write_ledger(tmp_path, SAMPLE_ROWS)
    process = run_in_process("check", "--ledger", str(tmp_path), "--json")
    assert (process.returncode, process.stderr) == (0, "")
    rows = json.loads(process.stdout)
    assert [row["check"] for row in rows] == list(check_names())
    assert {row["status"] for row in rows} == {"ok", "skip"}
    assert {row["count"] for row in rows} == {0}


def test_a_broken_ledger_is_told_in_full_and_exits_with_1(tmp_path: Path) -> None:
    write_changed(tmp_path, "turns", tool_call_count=5)
    process = run_in_process("check", "--ledger", str(tmp_path), "--json")
    assert (process.returncode, process.stderr) == (1, "")
    [row] = [row for row in json.loads(process.stdout) if row["status"] not in ("ok", "skip")]
    assert row == {
        "check": "tool_call_count",
        "invariant": "I6b",
        "severity": "hard",
        "status": "alarm",
        "count": 1,
        "first_ids": [SAMPLE_ROWS["turns"][0]["id"]],
        "reason": "It says 5 tool calls and has 1.",
    }


def test_people_get_the_checks_that_are_not_ok_and_the_number_of_the_others(tmp_path: Path) -> None:
    write_ledger(tmp_path, SAMPLE_ROWS)
    process = run_in_process("check", "--ledger", str(tmp_path))
    header, _, *rows = process.stdout.splitlines()
    assert header.split()[:4] == ["check", "status", "rows", "reason"]
    assert [row.split()[:2] for row in rows] == [["append_only", "skip"]]
    assert re.fullmatch(r"aix: (\d+) of \d+ checks are ok\n", process.stderr)


def test_one_check_lists_its_rows_and_exits_with_1(tmp_path: Path) -> None:
    write_changed(tmp_path, "turns", tool_call_count=5)
    process = run_in_process("check", "tool_call_count", "--ledger", str(tmp_path), "--format", "csv")
    turn = SAMPLE_ROWS["turns"][0]["id"]
    assert process.stdout == f"table_name,row_id,reason\nturns,{turn},It says 5 tool calls and has 1.\n"
    assert process.returncode == 1
    unbroken = run_in_process("check", "ancestry", "--ledger", str(tmp_path), "--format", "csv")
    assert (unbroken.stdout, unbroken.returncode) == ("table_name,row_id,reason\n", 0)


def test_a_warning_exits_with_0(tmp_path: Path) -> None:
    others = [row for row in SAMPLE_ROWS["turns"] if row["id"] != OTHER]
    [other] = [row for row in SAMPLE_ROWS["turns"] if row["id"] == OTHER]
    write_ledger(tmp_path, {**SAMPLE_ROWS, "turns": [*others, {**other, "started_at": 1}]})
    process = run_in_process("check", "--ledger", str(tmp_path), "--json")
    assert process.returncode == 0
    [row] = [row for row in json.loads(process.stdout) if row["status"] == "info"]
    assert (row["check"], row["first_ids"]) == ("parent_starts_first", [OTHER])
    assert run_in_process("check", "parent_starts_first", "--ledger", str(tmp_path)).returncode == 0


def test_a_long_list_of_rows_comes_whole(tmp_path: Path) -> None:
    write_ledger(tmp_path, {"requests": [{"id": f"{n:05}", "requested_at": 1} for n in range(2_500)]})
    process = run_in_process("check", "ulid_form", "--ledger", str(tmp_path), "--format", "jsonl")
    assert [json.loads(line)["row_id"] for line in process.stdout.splitlines()] == [f"{n:05}" for n in range(2_500)]
    assert process.returncode == 1


def test_the_ledger_of_the_configuration_is_checked_unless_another_is_named(tmp_path: Path) -> None:
    write_ledger(tmp_path / "one", SAMPLE_ROWS)
    assert run_in_process("check", AIX_LEDGER=str(tmp_path / "one")).returncode == 0
    config = tmp_path / "config.toml"
    config.write_text('ledger = "one"\n')
    assert run_in_process("--config", str(config), "check").returncode == 0
    process = run_in_process("--config", str(config), "check", "--ledger", str(tmp_path / "two"))
    assert process.returncode == 3
    assert str(tmp_path / "two") in process.stderr
    assert process.stdout == ""


def test_an_unknown_check_is_a_wrong_usage_that_names_the_nearest(tmp_path: Path) -> None:
    process = run_in_process("check", "ancestri", "--ledger", str(tmp_path))
    assert process.returncode == 2
    assert "did you mean ancestry?" in process.stderr


@pytest.mark.parametrize("arguments", [(), ("references_to_turns",), ("subagent_links", "--format", "csv")])
def test_an_id_that_would_drive_a_terminal_cannot(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    sessions = [
        {**row, "parent_turn_id": HOSTILE, "spawn_tool_call_id": HOSTILE} if row["label"] == ABANDONED else row
        for row in SAMPLE_ROWS["sessions"]
    ]
    write_ledger(tmp_path, {**SAMPLE_ROWS, "sessions": sessions})
    shown, code = run_on_terminal(AIX, "check", *arguments, "--ledger", str(tmp_path), columns=200)
    assert code == 1
    assert "owned" in shown
    assert not {"\x07", "\u202e"} & set(shown)
    assert "\x1b]0" not in shown
    assert "\x1b[2J" not in shown
