"""`aix audit explain`: which rule decides about a call."""

import json
from pathlib import Path

import click
import pytest

from aix.errors import SettingsFileError, UnknownNameError
from tests.support.command_line import run_aix, run_here

PROJECT = {
    "permissions": {
        "allow": ["Bash(git *)", "Bash(npm *)", "Edit(/src/**)"],
        "ask": ["Bash(git push *)"],
        "deny": ["Bash(rm:*)", "Read(~/.ssh/**)"],
    }
}


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    file = tmp_path / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps(PROJECT), encoding="utf-8")
    return file


def explain(capfdbinary: pytest.CaptureFixture[bytes], *arguments: str) -> dict[str, object]:
    run_here("audit", "explain", "--json", *arguments)
    explained = json.loads(capfdbinary.readouterr().out)
    assert isinstance(explained, dict)
    return explained


@pytest.mark.parametrize(
    ("command", "decision", "rules"),
    [
        ("git status && npm ci", "allow", ["Bash(git *)", "Bash(npm *)"]),
        ("git push", "ask", ["Bash(git push *)"]),
        ("git push; rm x", "deny", ["Bash(rm:*)"]),
        ("make", "none", []),
        ("rm -rf /", "deny", ["Bash(rm:*)"]),
    ],
)
def test_the_deciding_rules_are_named(
    settings: Path, capfdbinary: pytest.CaptureFixture[bytes], command: str, decision: str, rules: list[str]
) -> None:
    call = ("--tool", "Bash", "--input", json.dumps({"command": command}), "--cwd", "/w")
    explained = explain(capfdbinary, "--settings", str(settings), *call)
    assert (explained["decision"], explained["rules"]) == (decision, rules)
    where = {"kind": decision, "scope": "project", "file": str(settings)} if rules else {"kind": None}
    assert explained.items() >= {"rule": rules[0] if rules else None, **where}.items()
    assert str(explained["reason"]).endswith(".")


def test_files_hold_together_and_paths_start_where_they_are_told(
    settings: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    more = tmp_path / "more.json"
    more.write_text(json.dumps({"deny": ["Edit(/src/locked/**)"]}), encoding="utf-8")
    files = ("--settings", str(more), "--settings", str(settings), "--settings-dir", "/w/shop", "--home", "/home/ada")
    edit = ("--tool", "Edit", "--cwd", "/w/shop", "--input")
    allowed = explain(capfdbinary, *files, *edit, '{"file_path": "src/a.py"}')
    denied = explain(capfdbinary, *files, *edit, '{"file_path": "/w/shop/src/locked/a.py"}')
    assert (allowed["decision"], allowed["file"]) == ("allow", str(settings))
    assert (denied["decision"], denied["file"], denied["scope"]) == ("deny", str(more), "command_line")
    assert [rule["rule"] for rule in denied["matching"]] == ["Edit(/src/**)", "Edit(/src/locked/**)"]  # type: ignore[attr-defined]
    read = explain(capfdbinary, *files, "--tool", "Read", "--input", '{"file_path": "/home/ada/.ssh/id"}')
    assert read["rule"] == "Read(~/.ssh/**)"


def test_people_get_a_sentence(settings: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    run_here("audit", "explain", "--settings", str(settings), "--tool", "Bash", "--input", '{"command": "rm x"}')
    first, second, risk = capfdbinary.readouterr().out.decode().splitlines()
    assert risk.startswith("  risk: destructive, low: ")
    assert first == f"deny: Bash(rm:*) in {settings} denies it."
    assert second.split()[:2] == ["deny", "Bash(rm:*)"]


@pytest.mark.parametrize(
    ("command", "programs", "decision"),
    [
        ("'rm' x", ["rm"], "none"),
        (r"\rm x", ["rm"], "none"),
        ("r''m -rf x", ["rm"], "none"),
        ("/bin/rm -rf x", ["rm"], "none"),
        ("bash -c 'rm x'", ["rm"], "none"),
        ("c=rm; $c -rf x", ["$c", "rm"], "none"),
        ("${x:-rm} -rf x", ["${x:-rm}", "rm"], "none"),
        ("echo 'rm x' | sh", ["echo", "sh", "rm"], "none"),
        ("npm ci && git status; /bin/rm 'a b'", ["npm", "git", "rm"], "none"),
    ],
)
def test_a_deny_rule_that_misses_how_a_program_is_written_is_named(
    settings: Path, capfdbinary: pytest.CaptureFixture[bytes], command: str, programs: list[str], decision: str
) -> None:
    call = ("--settings", str(settings), "--tool", "Bash", "--input", json.dumps({"command": command}), "--cwd", "/w")
    explained = explain(capfdbinary, *call)
    assert (explained["decision"], explained["programs"]) == (decision, programs)
    sentence = "the program is rm: deny Bash(rm:*) does not match this spelling"
    assert explained["missed_spellings"] == [
        {"program": "rm", "rule": "Bash(rm:*)", "file": str(settings), "why": sentence}
    ]
    run_here("audit", "explain", *call)
    shown = capfdbinary.readouterr().out.decode().splitlines()
    assert f"  {sentence}" in shown
    assert f"  programs: {', '.join(programs)}" in shown


@pytest.mark.parametrize(
    ("command", "programs"),
    [
        ("rm x", ["rm"]),
        ("sudo rm x", ["rm"]),
        ("env A=1 rm x", ["rm"]),
        ("command rm x", ["rm"]),
        ("echo rm", ["echo"]),
        ("'ls' rm", ["ls"]),
        ("git status", ["git"]),
        ("", []),
    ],
)
def test_no_spelling_is_missed_where_rules_match_or_name_another_program(
    settings: Path, capfdbinary: pytest.CaptureFixture[bytes], command: str, programs: list[str]
) -> None:
    call = ("--settings", str(settings), "--tool", "Bash", "--input", json.dumps({"command": command}), "--cwd", "/w")
    explained = explain(capfdbinary, *call)
    assert (explained["missed_spellings"], explained["programs"]) == ([], programs)


@pytest.mark.parametrize(
    ("tool", "given", "risks"),
    [
        ("Bash", {"command": "/bin/rm -rf /srv/x"}, [("destructive", "high"), ("write_outside_workspace", "medium")]),
        ("Bash", {"command": "sudo ls; sudo ls"}, [("privilege", "high")]),
        ("Read", {"file_path": "/w/.env"}, [("credential_read", "high")]),
        ("Write", {"file_path": "/etc/hosts"}, [("write_outside_workspace", "high")]),
        ("Bash", {"command": "ls"}, []),
        ("Bash", {"command": 7}, []),
        ("Nothing", {}, []),
    ],
)
def test_a_call_that_never_happened_has_its_risks(
    settings: Path,
    capfdbinary: pytest.CaptureFixture[bytes],
    tool: str,
    given: dict[str, object],
    risks: list[tuple[str, str]],
) -> None:
    call = ("--settings", str(settings), "--tool", tool, "--input", json.dumps(given), "--cwd", "/w")
    found = json.loads(json.dumps(explain(capfdbinary, *call)["risks"]))
    assert [(risk["class"], risk["severity"]) for risk in found] == risks
    assert all(set(risk) == {"class", "severity", "why"} and risk["why"].endswith(".") for risk in found)
    run_here("audit", "explain", *call)
    shown = capfdbinary.readouterr().out.decode()
    assert all(f"\n  risk: {risk['class']}, {risk['severity']}: {risk['why']}\n" in shown for risk in found)


def test_rules_on_risks_of_ones_own_hold_for_a_call_that_never_happened(
    settings: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        'dated = 2026-11-16\n[risks]\nbuilding = "Builds something."\n[[rule]]\nid = "build"\nrisk = "building"\n'
        'severity = "low"\nprogram = ["make"]\n',
        "utf-8",
    )
    call = ("--settings", str(settings), "--tool", "Bash", "--input", '{"command": "make"}', "--cwd", "/w")
    expected = [{"class": "building", "severity": "low", "why": "Builds something."}]
    assert explain(capfdbinary, *call, "--risks", str(own))["risks"] == expected
    assert explain(capfdbinary, *call)["risks"] == []


def test_the_rules_of_every_tool_tell_the_programs_of_its_calls(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    file = tmp_path / ".cursor" / "cli.json"
    file.parent.mkdir()
    file.write_text('{"permissions": {"allow": [], "deny": ["Shell(rm)"]}}', "utf-8")
    call = ("--tool", "run_terminal_cmd", "--input", '{"command": "sudo ls && rm x"}', "--cwd", "/w")
    explained = explain(capfdbinary, "--settings", str(file), *call)
    assert (explained["decision"], explained["programs"]) == ("deny", ["ls", "rm"])
    risks = json.loads(json.dumps(explained["risks"]))
    assert {risk["class"] for risk in risks} == {"privilege", "destructive"}


@pytest.mark.parametrize("origin", [(), ("--origin", "claude-code")])
def test_a_call_without_rules_has_its_programs_and_risks(
    capfdbinary: pytest.CaptureFixture[bytes], origin: tuple[str, ...]
) -> None:
    explained = explain(capfdbinary, "--tool", "Bash", "--input", '{"command": "sudo rm -rf /srv/x"}', *origin)
    assert (explained["decision"], explained["programs"], explained["matching"]) == ("none", ["rm"], [])
    assert {risk["class"] for risk in json.loads(json.dumps(explained["risks"]))} >= {"privilege", "destructive"}


@pytest.mark.parametrize("arguments", [("--tool", "Nothing"), ("--tool", "Bash", "--origin", "nobody")])
def test_a_call_of_no_known_tool_needs_rules_or_an_origin(arguments: tuple[str, ...]) -> None:
    with pytest.raises(click.UsageError, match="--origin"):
        run_here("audit", "explain", *arguments, "--input", '{"command": "ls"}')


@pytest.mark.parametrize(
    "arguments",
    [
        ("--tool", "Bash", "--input", '{"command"'),
        ("--tool", "Bash", "--input", "[1]"),
        ("--tool", "Bash"),
        ("--input", "{}"),
    ],
)
def test_a_call_that_is_none_is_refused(settings: Path, arguments: tuple[str, ...]) -> None:
    with pytest.raises(click.UsageError):
        run_here("audit", "explain", "--settings", str(settings), *arguments)


def test_rules_that_cannot_be_had_are_refused(settings: Path, tmp_path: Path) -> None:
    call = ("--tool", "Bash", "--input", "{}")
    with pytest.raises(click.UsageError):
        run_here("audit", "explain", *call)
    with pytest.raises(SettingsFileError):
        run_here("audit", "explain", "--settings", str(tmp_path / "none.json"), *call)
    with pytest.raises(UnknownNameError):
        run_here("audit", "explain", "--settings", str(settings), "--origin", "nobody", *call)
    refused = run_aix("audit", "explain", "--settings", str(settings), "--tool", "Bash", "--input", "[]")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--input is no JSON object" in refused.stderr


def test_a_folder_may_be_named_from_the_present_one(
    settings: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call = ("--tool", "Edit", "--input", '{"file_path": "src/a.py"}')
    for cwd, decision in ((".", "allow"), ("sub", "none"), ("sub/..", "allow")):
        assert explain(capfdbinary, "--settings", str(settings), *call, "--cwd", cwd)["decision"] == decision
    assert explain(capfdbinary, "--settings", str(settings), "--settings-dir", "sub", *call)["decision"] == "none"


def test_rules_that_never_decide_are_named(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    file = tmp_path / "rules.json"
    file.write_text('{"allow": ["Bash(", "Bash(ls)"]}', "utf-8")
    call = ("--settings", str(file), "--tool", "Bash", "--input", '{"command": "make"}')
    [idle] = json.loads(json.dumps(explain(capfdbinary, *call)["never_decide"]))
    assert (idle["kind"], idle["rule"]) == ("allow", "Bash(")
    run_here("audit", "explain", *call)
    first, second = capfdbinary.readouterr().out.decode().splitlines()
    assert first.endswith("The mode decides, and what the tool does by itself.")
    assert second.startswith("  never decides: allow Bash( (")


def test_a_file_that_is_no_json_and_one_of_no_known_tool_are_told_apart(tmp_path: Path) -> None:
    call = ("--tool", "Bash", "--input", '{"command": "ls"}')
    for content, problem in (("{", "it is no JSON: "), ('{"theme": "dark"}', "--origin: claude-code, cursor")):
        file = tmp_path / "some.json"
        file.write_text(content, "utf-8")
        with pytest.raises(SettingsFileError, match=problem):
            run_here("audit", "explain", "--settings", str(file), *call)
