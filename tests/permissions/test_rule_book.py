"""Which rules are in force where a call was made."""

import json
import os
from pathlib import Path

import pytest

from aix.errors import SettingsFileError, UnknownNameError
from aix.permissions.rule_book import RuleBook, read_rule_files, rule_book

PLACES = [
    ("managed", "/etc/claude-code/managed-settings.json", "managed"),
    ("user", "/home/ada/.claude/settings.json", "of Ada"),
    ("user", "/home/bo/.claude/settings.json", "of Bo"),
    ("project", "/home/ada/press/.claude/settings.json", "of press"),
    ("local", "/home/ada/press/.claude/settings.local.json", "of press, local"),
]


@pytest.fixture
def book() -> RuleBook:
    return rule_book(
        ("claude-code", scope, file, 0, "allow", f"Bash({text})") for scope, file, text in reversed(PLACES)
    )


@pytest.mark.parametrize(
    ("cwd", "expected"),
    [
        ("/home/ada/press", ["of Ada", "of press", "of press, local", "managed"]),
        ("/home/ada/press/src", ["of Ada", "of press", "of press, local", "managed"]),
        ("/home/ada/press-shared", ["of Ada", "managed"]),
        ("/home/bo/press", ["of Bo", "managed"]),
        ("/srv/build", ["of Ada", "of Bo", "managed"]),
        ("/rootfs/build", ["of Ada", "of Bo", "managed"]),
        (None, ["of Ada", "of Bo", "managed"]),
    ],
)
def test_rules_hold_where_their_settings_do_and_the_strongest_come_last(
    book: RuleBook, cwd: str | None, expected: list[str]
) -> None:
    found = book.in_force("claude-code", cwd)
    assert found is not None
    assert [rule.text for rule in found.rules] == [f"Bash({text})" for text in expected]


def test_where_no_rules_are_known_there_is_no_set_of_them(book: RuleBook) -> None:
    assert book.in_force("cursor", "/home/ada/press") is None
    assert book.in_force("no-such-tool", "/home/ada/press") is None
    assert rule_book([]).in_force("claude-code", "/home/ada/press") is None


def test_the_same_rules_at_two_places_are_one_set(book: RuleBook) -> None:
    assert book.in_force("claude-code", "/home/ada/press") is book.in_force("claude-code", "/home/ada/press/src")


def test_the_digest_tells_one_set_of_rules_from_another(book: RuleBook) -> None:
    rows = [("claude-code", scope, file, 0, "allow", f"Bash({text})") for scope, file, text in PLACES]
    assert rule_book(rows).digest == book.digest
    assert rule_book(rows[1:]).digest != book.digest
    assert rule_book([*rows[1:], (*rows[0][:4], "deny", rows[0][5])]).digest != book.digest


def test_a_settings_file_is_read_by_whom_it_looks_like(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "mine.json", tmp_path / ".cursor" / "cli.json"
    theirs.parent.mkdir()
    ours.write_text(json.dumps({"permissions": {"allow": ["Bash(make)"]}}))
    theirs.write_text(json.dumps({"permissions": {"allow": ["Shell(make)"]}}))
    assert {
        origin: [rule.text for rule in rules] for origin, rules in read_rule_files([ours, theirs]).rules.items()
    } == {
        "claude-code": ["Bash(make)"],
        "cursor": ["Shell(make)"],
    }
    assert list(read_rule_files([ours], origin="cursor").rules) == ["cursor"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"[1]", "looks like the settings of no tool"), (None, "No such file")],
    ids=["list", "none"],
)
def test_a_file_that_is_no_settings_file_is_told_so(tmp_path: Path, content: bytes | None, problem: str) -> None:
    path = tmp_path / "settings.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SettingsFileError, match=problem):
        read_rule_files([path])


def test_an_unknown_origin_names_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError) as caught:
        read_rule_files([tmp_path / "settings.json"], origin="cursr")
    assert "cursor" in caught.value.remedy


def test_a_file_whose_name_is_no_text_is_named_so_that_a_column_can_hold_it(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.json")
    path.write_text('{"permissions": {"allow": ["Bash(ls)"]}}')
    [rule] = read_rule_files([path]).rules["claude-code"]
    assert rule.file == f"{tmp_path}/caf\\xe9.json"
