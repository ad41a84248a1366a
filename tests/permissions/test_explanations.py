"""`aix audit explain` on the ledger of the fixtures."""

from pathlib import Path

import pytest

import aix
from aix.errors import AmbiguousNameError, UnknownCallError
from tests.permissions.ledger import Answer, write_settings
from tests.support.command_line import AIX, run_here, run_on_terminal
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger


def test_explaining_a_call_that_no_rule_decides_says_what_the_tool_does(
    permission_ledger: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    for number, by_default in ((1, "runs it by itself"), (3, "asks before it")):
        run_here("audit", "explain", f"toolu_denied-by-policy_0{number}", "--ledger", str(permission_ledger))
        assert f"\n  by default the tool {by_default}\n" in capsysbinary.readouterr().out.decode()


def test_explaining_a_call_names_its_targets_risks_and_the_rule(audit: Answer) -> None:
    explained = audit("explain", "toolu_denied-by-rule_05", "--json")
    assert explained["outcome"] == "denied_rule"
    assert explained["evidence_basis"] == "text"
    assert [target["command"] for target in explained["targets"] if target["kind"] == "command"] == [
        "git status",
        "rm -r cache",
    ]
    assert (explained["verdict"]["decision"], explained["verdict"]["rule"]) == ("deny", "Bash(rm *)")
    assert {rule["rule"] for rule in explained["matching"] if rule["is_deciding"]} == {"Bash(rm *)"}


def test_explaining_a_call_names_its_programs_and_deny_rules_that_miss_a_spelling(
    audit: Answer, permission_ledger: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    explained = audit("explain", "toolu_denied-by-rule_05", "--json")
    assert (explained["programs"], explained["missed_spellings"]) == (["git", "rm"], [])
    assert [risk["class"] for risk in explained["risks"]] == ["destructive"]
    settings = write_settings(tmp_path, deny=["Bash(gate.sh:*)", "Bash(rm *)"])
    sentence = "the program is gate.sh: deny Bash(gate.sh:*) does not match this spelling"
    explained = audit("explain", "toolu_look-alikes_09", "--settings", settings, "--json")
    assert (explained["programs"], [each["why"] for each in explained["missed_spellings"]]) == (["gate.sh"], [sentence])
    arguments = ("toolu_look-alikes_09", "--settings", settings, "--ledger", str(permission_ledger))
    run_here("audit", "explain", *arguments)
    assert f"\n  {sentence}\n" in capsysbinary.readouterr().out.decode()


def test_a_terminal_gets_an_explanation_with_short_ids_and_lines_that_fit(
    permission_ledger: Path, tmp_path: Path
) -> None:
    arguments = ("audit", "explain", "toolu_denied-by-rule_05", "--ledger", str(permission_ledger))
    shown, code = run_on_terminal(AIX, *arguments, columns=60)
    run_here(*arguments, "-o", str(tmp_path / "out.txt"))
    whole = (tmp_path / "out.txt").read_text("utf-8")
    lines = shown.replace("\r", "").splitlines()
    assert code == 0
    assert max(map(len, lines)) <= 60 < max(map(len, whole.splitlines()))
    assert " in claude-code:" in whole
    assert " in claude-code:" not in shown
    assert " ".join(shown.split()).endswith(" ".join(whole.split()[-12:]))


def test_explaining_a_call_under_other_rules(audit: Answer, tmp_path: Path) -> None:
    settings = write_settings(tmp_path, allow=["Bash(git status)", "Bash(rm *)"])
    explained = audit("explain", "toolu_denied-by-rule_05", "--settings", settings, "--json")
    assert explained["verdict"]["decision"] == "allow"


def test_a_call_of_whose_permission_nothing_is_known_is_explained(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    rows = {name: rows for name, rows in SAMPLE_ROWS.items() if name != "permission_decisions"}
    write_ledger(tmp_path / "ledger", rows)
    run_here("audit", "explain", "call_1", "--ledger", str(tmp_path / "ledger"))
    shown = capsysbinary.readouterr().out.decode()
    assert shown.startswith("call call_1 of Edit in an unknown session\n")
    assert "outcome: unknown" in shown
    assert "None" not in shown


def test_a_call_is_found_by_the_beginning_of_its_id(audit: Answer) -> None:
    with pytest.raises(AmbiguousNameError, match="toolu_denied-by-rule_0"):
        audit("explain", "toolu_denied-by-rule_0", "--json")
    with pytest.raises(UnknownCallError) as raised:
        audit("explain", "toolu_nobody", "--json")
    assert "`aix audit` lists" in raised.value.remedy


def test_people_read_an_explanation_without_control_characters(
    permission_ledger: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    with aix.open(permission_ledger) as opened:
        calls = [call for (call,) in opened.sql("select id from tool_calls where id like 'toolu_hostile%'").rows()]
    assert calls
    for call in calls:
        run_here("audit", "explain", str(call), "--ledger", str(permission_ledger))
    shown = capsysbinary.readouterr().out.decode()
    assert not {character for character in shown if character != "\n" and not character.isprintable()}
