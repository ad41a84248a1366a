"""`aix program`: the programs of a ledger on one screen, and one of them with all that is known."""

import json
from pathlib import Path
from shutil import copytree

import pytest

from aix.errors import AmbiguousNameError, UnknownNameError, UnknownProgramError, UsageError
from aix.pipeline.run import Settings, import_histories
from tests import ROOT
from tests.support.command_line import AIX, run_here, run_in_process, run_on_terminal
from tests.support.conversations import session, turn
from tests.support.row_batches import deliver


def shown(ledger: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    run_here("program", *arguments, "--ledger", str(ledger))
    return capsys.readouterr().out


def test_the_list_has_the_rows_of_the_inventory(program_ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [json.loads(line) for line in shown(program_ledger, capsys, "list", "--format", "jsonl").splitlines()]
    assert len(rows) == 20
    assert [row["program_id"] for row in rows if row["dangling"]] == ["researcher"]
    [ada] = [row for row in rows if row["program_id"] == "ada"]
    assert (ada["state"], ada["name"], ada["references_in"], ada["cost_usd"]) == ("available", "Ada", 2, 1.95)
    tasks = shown(program_ledger, capsys, "list", "--type", "task").splitlines()[2:]
    assert [line.split()[:2] for line in tasks] == [
        ["task-index", "completed"],
        ["task-letter", "failed"],
        ["task-survey", "completed"],
    ]


@pytest.mark.long
def test_a_program_is_shown_with_settings_references_events_and_cost(
    program_ledger: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = shown(program_ledger, capsys, "show", "@(researcher:2)")
    assert text.startswith("researcher  Research agent  agent, idle (its settings; last event: completed)\n")
    for line in (
        '  harness         {"maxTurns": 3}',
        "  tools           summarize (missing) !",
        "  assignee  task-survey (task)",
        "  2026-05-04 09:02  AGENT_TASK_ASSIGNED  idle → thinking, by ada",
        "$1.50 for 4 requests; principal of 8 events",
    ):
        assert f"\n{line}\n" in text
    assert "next:" not in text
    letter = shown(program_ledger, capsys, "show", "task-letter")
    assert letter.startswith("task-letter  Letter to the harbour office  task, failed\n")
    assert "TASK_FAILED   active → failed, The office is closed, by writer\n" in letter
    facts = json.loads(shown(program_ledger, capsys, "show", "quick", "--json"))
    events = [fact for fact in facts if fact["part"] == "event"]
    assert [(fact["value"], fact["at"]) for fact in events] == [
        ("by relay for writer for bo", 1777889220000),
        ("by researcher for ada", 1777889280000),
    ]
    assert {"part": "cost", "name": "cost_usd", "value": "0.450000000000", "at": None} in facts


def test_unknown_names_get_suggestions(program_ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UnknownProgramError) as unknown:
        shown(program_ledger, capsys, "show", "resarcher")
    assert unknown.value.remedy == "did you mean researcher or web-search? `aix program list` lists all"
    with pytest.raises(AmbiguousNameError, match="several programs begin with 'task-'"):
        shown(program_ledger, capsys, "show", "task-")
    with pytest.raises(UnknownNameError) as wrong_type:
        shown(program_ledger, capsys, "list", "--type", "agnt")
    assert "agent" in wrong_type.value.remedy


@pytest.mark.long
def test_a_screen_of_80_columns_has_what_matters_first(program_ledger: Path) -> None:
    listed, _ = run_on_terminal(AIX, "program", "list", "--ledger", str(program_ledger), NO_COLOR="1")
    assert listed.split("\n")[0].split() == ["program", "type", "state", "name", "cost", "last", "event"]
    text, _ = run_on_terminal(AIX, "program", "show", "researcher", "--ledger", str(program_ledger), NO_COLOR="1")
    steps = [line for line in text.splitlines() if "next:" in line]
    assert steps == ["aix: next: `aix query programs/broken_references` lists what is missing"]


def test_no_programs_are_answered_with_a_next_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deliver(tmp_path / "ledger", {"programs": [{"id": "ada", "program_type": "human", "config_json": "{}"}]})
    deliver(tmp_path / "graph", {"sessions": [session("s", "turn-1")], "turns": [turn("turn-1")]})
    for ledger, options, step in (
        ("ledger", ["--type", "task"], "aix program list"),
        ("graph", [], "aix import FOLDER"),
    ):
        run_here("program", "list", *options, "--ledger", str(tmp_path / ledger))
        said = capsys.readouterr().err
        assert f"docs/programs.md says where they come from. Next: `{step}`" in said
    run_here("cost", "--by", "task", "--ledger", str(tmp_path / "graph"))
    assert "1 session, but its log has no token counts, so there is no cost" in capsys.readouterr().err
    run_here("program", "list", "--ledger", str(tmp_path / "ledger"))
    assert "missing" not in capsys.readouterr().out


def test_a_thing_of_programs_is_unknown_without_programs(
    program_ledger: Path, compacted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for ledger, is_said in ((program_ledger, False), (compacted, True)):
        run_here("cost", "--by", "task,model", "--ledger", str(ledger))
        note = "No task is known: the ledger has no programs (docs/programs.md)"
        assert (note in capsys.readouterr().err) is is_said


@pytest.mark.long
def test_a_finding_about_a_program_ends_with_a_command_that_shows_it(program_ledger: Path) -> None:
    def said(*arguments: str) -> str:
        return run_in_process(*arguments, "--ledger", str(program_ledger)).stdout

    findings = json.loads(said("audit", "--pack", "programs", "--format", "json"))["findings"]
    [finding] = [each for each in findings if each["message"].startswith("`Letter writer` approved")]
    explained = said("audit", "explain", finding["id"])
    assert "\n  aix program show bo  the program\n" in explained
    assert f"{finding['details']['event_id'][:12]}…" in explained
    assert finding["details"]["event_id"] not in explained
    assert said("program", "show", "bo").startswith("bo  Bo")


def test_a_program_is_not_shown_as_a_session_and_its_name_leads_to_it(program_ledger: Path) -> None:
    with pytest.raises(UsageError, match="researcher is a program; see `aix program show researcher`"):
        run_here("show", "researcher", "--ledger", str(program_ledger))


def test_an_audit_of_a_ledger_without_programs_checks_nothing(compacted: Path) -> None:
    audited = run_in_process("audit", "--pack", "programs", "--ledger", str(compacted)).stdout
    assert "Nothing to check: the ledger has no rows of program_events, programs.\n" in audited


def test_an_unknown_finding_is_answered_with_the_command_that_lists_them(program_ledger: Path) -> None:
    refused = run_in_process("audit", "explain", "nope1", "--ledger", str(program_ledger))
    assert (refused.returncode, "`aix audit` lists findings" in refused.stderr) == (2, True)


@pytest.mark.long
def test_an_export_of_sessions_counts_its_files_and_names_the_next_step(program_ledger: Path, tmp_path: Path) -> None:
    given = ("export", "--format", "agent-dag", "-o", str(tmp_path / "g"), "--ledger", str(program_ledger))
    text, _ = run_on_terminal(AIX, *given, columns=400, NO_COLOR="1")
    count = sum(1 for path in (tmp_path / "g").rglob("*") if path.is_file())
    assert text.splitlines() == [
        f"aix: wrote {tmp_path / 'g'} ({count} files)",
        f"aix: next: `aix import {tmp_path / 'g'} --ledger NEW` reads it into another ledger",
    ]


@pytest.mark.long
@pytest.mark.parametrize(("name", "shows"), [("task-survey", "tag ls"), ("survey-1", "cost")])
def test_a_tag_is_followed_by_a_command_that_shows_it(
    program_ledger: Path, tmp_path: Path, name: str, shows: str
) -> None:
    ledger = tmp_path / "ledger"
    copytree(program_ledger, ledger)
    text, _ = run_on_terminal(AIX, "tag", "add", "sprint 12", name, "--ledger", str(ledger), NO_COLOR="1")
    assert text.splitlines()[-1] == f"aix: next: `aix {shows} --tag 'sprint 12'`"


def test_a_cost_without_the_price_of_a_request_is_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = copytree(ROOT / "fixtures" / "programs", tmp_path / "logs")
    survey = logs / "sessions" / "survey.jsonl"
    survey.write_text(survey.read_text("utf-8").replace('"model": "@(quick)"', '"model": "unheard-of"'), "utf-8")
    import_histories(tmp_path / "ledger", [logs], Settings(jobs=0))
    assert "≥$" in shown(tmp_path / "ledger", capsys, "list", "--type", "session")
    text = shown(tmp_path / "ledger", capsys, "show", "survey-1")
    assert ", 1 of them without a known price" in text.splitlines()[-1]


@pytest.mark.long
def test_settings_cannot_act_on_a_terminal(tmp_path: Path) -> None:
    config = json.dumps({"name": "\x1b[2Jgone\u202e", "\x1b]0;title\x07": "x" * 500})
    deliver(
        tmp_path / "ledger",
        {"programs": [{"id": "e\x1bvil", "program_type": "code", "lifecycle": "\x07", "config_json": config}]},
    )
    for words in (("list",), ("show", "e")):
        text, code = run_on_terminal(AIX, "program", *words, "--ledger", str(tmp_path / "ledger"), NO_COLOR="1")
        assert code == 0
        assert [part for part in ("\x1b[2J", "\x1b]", "\x07", "\u202e", "\x1bvil") if part in text] == []
        assert max(map(len, text.splitlines())) <= 80
