"""Permission rules of settings files, and whose they are."""

import json
import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given

from aix_importers.claude_code import ClaudeCodeImporter
from aix_importers.claude_code.settings import Rule, kept_days, read_rules, scope_of
from tests.importers.claude_code.odd_json import NOT_OBJECTS, assert_storable, odd_json

PATH = "/w/.claude/settings.json"
NAMES = ("allow", "ask", "deny", "additionalDirectories", "defaultMode", "disableBypassPermissionsMode")


def rules_of(permissions: object) -> tuple[list[Rule], list[str]]:
    """Return the rules, and what was reported."""
    reported: list[str] = []
    return read_rules(PATH, json.dumps({"permissions": permissions}).encode(), reported.append), reported


def test_rules_come_with_kind_and_position() -> None:
    permissions = {
        "allow": ["Bash(make:*)", "Read(~/.zshrc)"],
        "deny": ["Read(./.env)"],
        "ask": ["Bash(git push:*)"],
        "additionalDirectories": ["../lib"],
        "defaultMode": "acceptEdits",
        "disableBypassPermissionsMode": "disable",
    }
    assert rules_of(permissions) == (
        [
            Rule("allow", "Bash(make:*)", 0),
            Rule("allow", "Read(~/.zshrc)", 1),
            Rule("ask", "Bash(git push:*)", 0),
            Rule("deny", "Read(./.env)", 0),
            Rule("directory", "../lib", 0),
            Rule("mode", "acceptEdits", 0),
            Rule("mode", "disableBypassPermissionsMode=disable", 0),
        ],
        [],
    )


def test_a_rule_that_is_listed_twice_is_one() -> None:
    assert rules_of({"allow": ["Read", "Bash", "Read"], "deny": ["Read"]})[0] == [
        Rule("allow", "Read", 0),
        Rule("allow", "Bash", 1),
        Rule("deny", "Read", 0),
    ]


@pytest.mark.parametrize("content", [b"{}", b'{"permissions":null}', b'{"permissions":{}}', b'\xef\xbb\xbf{"env":{}}'])
def test_settings_without_rules_have_none(content: bytes) -> None:
    assert read_rules(PATH, content) == []


def test_nothing_else_of_the_settings_is_kept_or_said() -> None:
    settings = {
        "env": {"API_TOKEN": "s3cret"},
        "apiKeyHelper": "s3cret",
        "hooks": {"PreToolUse": [{"command": "s3cret"}]},
        "permissions": {"allow": ["Read", {"s3cret": 1}], "s3cret": ["s3cret"], "deny": {"s3cret": 1}},
    }
    reported: list[str] = []
    assert read_rules(PATH, json.dumps(settings).encode(), reported.append) == [Rule("allow", "Read", 0)]
    assert reported
    assert "s3cret" not in " ".join(reported)


def test_a_bad_entry_is_reported_and_spoils_no_other() -> None:
    rules, reported = rules_of({"allow": ["Read", 5, "", None, "Bash"], "deny": "Bash", "defaultMode": ["plan"]})
    assert rules == [Rule("allow", "Read", 0), Rule("allow", "Bash", 4)]
    assert reported == [
        f"Entry 1 of `permissions.allow` in {PATH} is no rule and was skipped.",
        f"Entry 2 of `permissions.allow` in {PATH} is no rule and was skipped.",
        f"Entry 3 of `permissions.allow` in {PATH} is no rule and was skipped.",
        f"`permissions.deny` in {PATH} is no list and was skipped.",
        f"`permissions.defaultMode` in {PATH} is no text and was skipped.",
    ]


@pytest.mark.parametrize("content", NOT_OBJECTS)
def test_a_file_that_is_no_json_object_is_an_error_that_says_so(content: bytes) -> None:
    if content.startswith(b'{"file_path"'):
        content = content.replace(b"file_path", b"permissions")
    with pytest.raises(ValueError, match=r"settings\.json holds no JSON object"):
        read_rules(PATH, content)


@pytest.mark.parametrize("permissions", [5, "allow", ["Read"], True])
def test_permissions_that_are_no_object_are_an_error_that_says_so(permissions: object) -> None:
    with pytest.raises(ValueError, match=r"`permissions` in /w/\.claude/settings\.json is no JSON object"):
        rules_of(permissions)


def test_rules_are_text_that_files_can_hold() -> None:
    assert read_rules(PATH, b'{"permissions":{"allow":["Bash(\\ud800)"]}}') == [Rule("allow", "Bash(\ufffd)", 0)]


@given(odd_json("permissions", *NAMES))
def test_whatever_a_file_holds_gives_rules_or_an_error(content: bytes) -> None:
    rules = []
    with suppress(ValueError):
        rules = read_rules(PATH, content)
    assert_storable(rules)
    assert len({(rule.kind, rule.rule) for rule in rules}) == len(rules)


@pytest.mark.parametrize(
    ("path", "scope"),
    [
        ("/etc/claude-code/managed-settings.json", "managed"),
        ("/Library/Application Support/ClaudeCode/managed-settings.json", "managed"),
        ("C:\\Program Files\\ClaudeCode\\managed-settings.json", "managed"),
        ("/etc/claude-code/managed-settings.d/10-team.json", "managed"),
        ("/home/ada/.claude/settings.json", "user"),
        ("/Users/ada/.claude/settings.json", "user"),
        ("/var/root/.claude/settings.json", "user"),
        ("~/.claude/settings.json", "user"),
        ("C:\\Users\\ada\\.claude\\settings.json", "user"),
        ("/home/ada/.config/claude/settings.json", "user"),
        ("/home/ada/code/.claude/settings.json", "project"),
        ("/srv/users/api/.claude/settings.json", "project"),
        (".claude/settings.json", "project"),
        ("C:\\code\\.claude\\settings.json", "project"),
        ("/home/ada/code/.claude/settings.local.json", "local"),
        ("/home/ada/.claude/settings.local.json", "local"),
    ],
)
def test_the_scope_follows_from_name_and_place(path: str, scope: str) -> None:
    assert scope_of(path) == scope


def test_settings_in_a_folder_of_the_client_are_those_of_the_user() -> None:
    path = "/data/people/ada/.claude/settings.json"
    assert scope_of(path) == "project"
    assert scope_of(path, ["/data/people/ada/.claude/"]) == "user"


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("{}", 30),
        ('\ufeff{"cleanupPeriodDays": 99999}', 99_999),
        ('{"cleanupPeriodDays": 7, "env": {}}', 7),
        ('{"cleanupPeriodDays": 0}', None),
        ('{"cleanupPeriodDays": -3}', None),
        ('{"cleanupPeriodDays": "30"}', None),
        ('{"cleanupPeriodDays": null}', None),
        ("[]", None),
        ("{", None),
    ],
)
def test_settings_say_how_long_transcripts_are_kept(tmp_path: Path, text: str, days: int | None) -> None:
    (tmp_path / "settings.json").write_text(text, "utf-8")
    assert kept_days(tmp_path / "settings.json") == days
    retention = ClaudeCodeImporter({}).retention(tmp_path)
    assert (retention and (retention.tool, retention.days)) == (days and ("Claude Code", days))


def test_without_settings_transcripts_are_kept_for_thirty_days(tmp_path: Path) -> None:
    assert kept_days(tmp_path / "settings.json") == 30
    os.mkfifo(tmp_path / "settings.json")
    assert kept_days(tmp_path / "settings.json") is None
