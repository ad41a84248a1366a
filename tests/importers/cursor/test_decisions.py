"""Permission decisions that Cursor writes down, and their rows."""

import json

import pytest
from msgspec import Raw

from aix_importers.cursor.calls import read_call
from aix_importers.cursor.records import read_tool

REJECTED = {"status": "rejected"}
ACCEPTED = {"userDecision": "accepted"}


def outcome(additional: dict[str, object], **fields: object) -> tuple[str, str | None, str, str, bool]:
    data = {"tool": 15, "name": "run_terminal_cmd", "status": "completed", "additionalData": additional, **fields}
    tool = read_tool(Raw(json.dumps(data).encode()))
    assert tool is not None
    call = read_call(tool)
    return call.status, call.error, *call.outcome


@pytest.mark.parametrize(
    ("block", "word"),
    [
        ("inBlocklist", "denied_rule"),
        ("hookBlocked", "denied_hook"),
        ("readonlyMode", "denied_mode"),
        ("smartMode", "denied_mode"),
        ("outOfWorkspace", "denied_directory"),
        ("notInAllowlist", "denied_user"),
        ("notInTeamAllowlist", "denied_user"),
        ("deleteProtection", "denied_user"),
        ("protectedConfig", "denied_user"),
        ("playwrightProtection", "denied_user"),
        ("mcpToolsProtection", "denied_user"),
        ("something new", "denied_user"),
    ],
)
def test_a_rejected_call_was_stopped_by_its_reason_or_else_by_the_user(block: str, word: str) -> None:
    said = f"rejected by user ({block})" if word == "denied_user" else f"blocked ({block})"
    evidence = f"additionalData.status: rejected, blockReason: {block}"
    assert outcome({**REJECTED, "blockReason": block}) == ("failed", said, word, evidence, False)


def test_what_the_user_decided_is_the_users_whatever_the_reason_to_ask() -> None:
    found = outcome({"status": "pending", "blockReason": "inBlocklist"}, userDecision="rejected")
    evidence = "userDecision: rejected, blockReason: inBlocklist"
    assert found == ("failed", "rejected by user (inBlocklist)", "denied_user", evidence, False)
    assert outcome({}, result='{"rejected": true}')[2:] == ("denied_user", "result.rejected: true", False)


@pytest.mark.parametrize(
    ("additional", "fields", "expected"),
    [
        ({}, ACCEPTED, ("ran", "userDecision: accepted, which is also written when nobody was asked", False)),
        ({"blockReason": "inBlocklist"}, ACCEPTED, ("ran", "userDecision: accepted, blockReason: inBlocklist", False)),
        ({"status": "success"}, {}, ("ran", "status: completed", False)),
        ({"status": "error"}, {}, ("ran", "status: completed", False)),
        ({"status": "skipped"}, {}, ("not_granted", "additionalData.status: skipped", True)),
        (
            {"status": "skipped", "blockReason": "notInAllowlist"},
            {},
            ("not_granted", "additionalData.status: skipped, blockReason: notInAllowlist", False),
        ),
        (
            {"status": "skipped", "blockReason": "hookBlocked"},
            {},
            ("denied_hook", "additionalData.status: skipped, blockReason: hookBlocked", False),
        ),
        (
            {"blockReason": "hookBlocked"},
            {"status": "error"},
            ("denied_hook", "status: error, blockReason: hookBlocked", False),
        ),
        (
            {"blockReason": "notInAllowlist"},
            {"status": "error"},
            ("failed", "status: error, blockReason: notInAllowlist", False),
        ),
        (
            {"status": "pending", "blockReason": "deleteProtection"},
            {"status": "loading"},
            ("pending", "additionalData.status: pending, blockReason: deleteProtection", False),
        ),
        ({"status": "running"}, {"status": "loading"}, ("pending", "additionalData.status: running", True)),
        ({"status": "cancelled"}, {"status": "cancelled"}, ("interrupted", "status: cancelled", False)),
    ],
)
def test_the_evidence_is_the_field_that_shows_the_outcome(
    additional: dict[str, object], fields: dict[str, object], expected: tuple[str, str, bool]
) -> None:
    assert outcome(additional, **fields)[2:] == expected
