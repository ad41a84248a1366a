"""`aix audit explain`: which rule decides about a call."""

import json
from pathlib import Path

import click
import pytest

from aix.errors import SettingsFileError, UnknownNameError
from tests.command_line import run_aix, run_here

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
    first, second = capfdbinary.readouterr().out.decode().splitlines()
    assert first == f"deny: Bash(rm:*) in {settings} denies it."
    assert second.split()[:2] == ["deny", "Bash(rm:*)"]


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
