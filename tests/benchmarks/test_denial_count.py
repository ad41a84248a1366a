"""The count of denials over raw Claude Code logs, on lines few enough to count by hand."""

import json
from pathlib import Path

import pytest

import aix
from benchmarks.denial_count import Count, cause_of, compare, differences
from tests.permissions.ledger import LOGS


def count(folder: Path, *lines: object) -> Count:
    path = folder / "log.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    counted = Count()
    counted.add_file(path)
    return counted


def call(call_id: str) -> dict[str, object]:
    return {"message": {"content": [{"type": "tool_use", "id": call_id}]}}


def result(call_id: str, content: object, *, is_error: bool = True) -> dict[str, object]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": is_error}
    return {"message": {"content": [block]}}


@pytest.mark.long
def test_the_ledger_has_the_denials_of_the_logs(permission_ledger: Path) -> None:
    with aix.open(permission_ledger) as ledger:
        counted, known, by_fields = compare(LOGS / "claude-code", ledger)
    assert list(differences(counted.denials, known)) == []
    assert (len(known), by_fields) == (46, 4)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Error: This command requires approval", "not_granted"),
        ("Exit code 1: This command requires approval", None),
        ("<tool_use_error>Blocked: too long</tool_use_error>", "denied_rule"),
        ("Blocked: too long", None),
        ("cd to '/a' was blocked. For security, Claude Code may only change directories", "denied_directory"),
        ("x\ncd to '/a' was blocked. For security, Claude Code may only change directories", None),
        ("Permission to use Bash with command a has been denied.", "denied_rule"),
        ("Permission to use Bash has been denied. IMPORTANT: You *may*", "not_granted"),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", None),
    ],
)
def test_only_the_words_at_the_beginning_tell(text: str, cause: str | None) -> None:
    assert cause_of(text) == cause


def test_copies_count_once_and_results_of_no_call_do_not(tmp_path: Path) -> None:
    denied = result("a", [{"type": "text", "text": "This command requires approval"}])
    counted = count(
        tmp_path, call("a"), denied, denied, {"data": {"message": denied}}, result("b", "[Request interrupted by user")
    )
    assert counted.denials == {"a": "not_granted"}
    assert len(counted.results) == 2


def test_what_is_no_error_and_what_is_no_line_is_no_denial(tmp_path: Path) -> None:
    shown = result("a", "This command requires approval", is_error=False)
    assert count(tmp_path, call("a"), shown, [1], None, "x").denials == {}


def test_differences_name_the_call_and_both_sides() -> None:
    assert list(differences({"a": "denied_user", "b": "denied_rule"}, {"b": "denied_rule", "c": "interrupted"})) == [
        "a: the logs say denied_user, the ledger no denial",
        "c: the logs say no denial, the ledger interrupted",
    ]
