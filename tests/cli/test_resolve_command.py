"""`aix resolve` on a small ledger: a thread and the reason, candidates with exit code 1, ids for scripts."""

import json
from pathlib import Path

import click
import pytest

from tests.support.command_line import AIX, run_here, run_in_process, run_on_terminal
from tests.support.conversations import session
from tests.support.row_batches import deliver
from tests.support.sample_conversation import ABANDONED, AFTER, MAIN, SUBAGENT
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ledger")
    write_ledger(folder, SAMPLE_ROWS)
    return folder


def test_people_see_the_thread_and_why(ledger: Path) -> None:
    process = run_in_process("resolve", "s-1", "--ledger", str(ledger), COLUMNS="80")
    assert process.returncode == 0
    assert process.stdout == (
        "thread    session  title\n────────  ───────  ─────────────────\n13SEYQ1X  s-1      Rename a function\n"
    )
    assert process.stderr == f"aix: alias of the session {MAIN}, whose head is the turn {AFTER}\n"


def test_candidates_are_listed_with_exit_code_1(ledger: Path) -> None:
    process = run_in_process("resolve", "session-log:s", "--ledger", str(ledger), COLUMNS="80")
    assert process.returncode == 1
    assert process.stdout == (
        "thread    session   title\n"
        "────────  ────────  ──────────────────────────────\n"
        "13SEYQ1X  s-1       Rename a function\n"
        "60DWWY4X  agent-a   Look for callers\n"
        "4MWHK2BC  0a1b2c3d  Rename the function. 日本語 🚀\n"
    )
    assert process.stderr == "aix: session-log:s leads to several threads: name one of these\n"


def test_programs_get_every_fact(ledger: Path) -> None:
    process = run_in_process("resolve", "persona:ada", "--json", "--ledger", str(ledger))
    assert json.loads(process.stdout) == [
        {
            "status": "resolved",
            "thread_id": AFTER,
            "session_label": MAIN,
            "is_head": True,
            "title": "Rename a function",
            "reason": f"main session of the persona ada, {MAIN}",
            "score": None,
        }
    ]
    process = run_in_process("resolve", "session-log:s", "--json", "--ledger", str(ledger))
    rows = json.loads(process.stdout)
    assert {(row["status"], row["session_label"]) for row in rows} == {
        ("candidate", label) for label in (MAIN, ABANDONED, SUBAGENT)
    }


def test_scripts_get_the_id_alone_or_nothing(ledger: Path) -> None:
    process = run_in_process("resolve", "s-1", "--id", "--ledger", str(ledger))
    assert (process.stdout, process.stderr, process.returncode) == (f"{AFTER}\n", "", 0)
    process = run_in_process("resolve", "session-log:s", "--id", "--ledger", str(ledger))
    assert (process.stdout, process.returncode) == ("", 1)
    assert f"say which: {AFTER} ({MAIN}), " in process.stderr
    process = run_in_process("resolve", "nobody", "--id", "--ledger", str(ledger))
    assert (process.stdout, process.returncode) == ("", 2)


def test_a_trigger_routes_to_the_persona(ledger: Path) -> None:
    for arguments in ([], ["ada"], ["persona:ada"]):
        process = run_in_process("resolve", "--trigger", *arguments, "--ledger", str(ledger))
        assert "13SEYQ1X" in process.stdout
        assert "main session of the persona ada" in process.stderr
    assert run_in_process("resolve", "--trigger", "s-1", "--ledger", str(ledger)).returncode == 2


@pytest.mark.parametrize("arguments", [[], ["s-1", "--id", "--json"], ["s-1", "--id", "-o", "x"]])
def test_contradictory_wishes_are_refused(ledger: Path, arguments: list[str]) -> None:
    with pytest.raises(click.UsageError):
        run_here("resolve", *arguments, "--ledger", str(ledger))


@pytest.mark.long
def test_a_terminal_names_the_next_step(ledger: Path) -> None:
    output, code = run_on_terminal(AIX, "resolve", "s-1", "--ledger", str(ledger))
    assert (code, "next: `aix resume 13SEYQ1X` continues it" in " ".join(output.split())) == (0, True)


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    label = "log:\x1b[31mred\n$(rm -rf)"
    deliver(tmp_path, {"turns": SAMPLE_ROWS["turns"], "sessions": [session(label, AFTER)]})
    for arguments in (["log:"], ["log:", "--format", "markdown"], ["\x1b[2Jnobody"]):
        process = run_in_process("resolve", *arguments, "--ledger", str(tmp_path))
        assert "\x1b" not in process.stdout + process.stderr
