"""Permission outcomes, read from the results of calls."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aix_importers.claude_code.calls import Outcome, outcome_of_result

_REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit)."
)
_BLOCKED_CD = (
    "cd to '/etc' was blocked. For security, Claude Code may only change directories to child directories of the"
    " original working directory (/w) for this session."
)
DENIALS = [
    ("denied_user", f"{_REJECTED} STOP what you are doing and wait for the user to tell you how to proceed."),
    ("denied_user", f"{_REJECTED} To tell you how to proceed, the user said:\nuse make"),
    ("denied_user", f"{_REJECTED} The user provided the following reason for the rejection: use make"),
    ("denied_user", "The user doesn't want to take this action right now. STOP what you are doing"),
    ("denied_user", "The user wants to clarify these questions.\n    This means they may have more to say."),
    ("interrupted", "[Request interrupted by user for tool use]"),
    ("interrupted", "[Request interrupted by user]"),
    ("not_granted", "This command requires approval"),
    ("not_granted", "This Bash command contains multiple operations. The following part requires approval: rm x"),
    ("not_granted", "This Bash command contains multiple operations. The following parts require approval: rm x, rm y"),
    ("not_granted", "Claude requested permissions to write to /etc/x, but you haven't granted it yet."),
    ("not_granted", "Claude requested permissions to use WebFetch, but you haven't granted it yet."),
    ("not_granted", "Claude requested permissions to edit /w/.claude/x which is a sensitive file."),
    ("not_granted", "Permission to use Bash has been denied. IMPORTANT: You *may* attempt to use other tools."),
    ("not_granted", "Permission to use mcp__wiki__get has been auto-denied (prompts unavailable)."),
    ("denied_rule", "Permission to use Bash has been denied."),
    ("denied_rule", "Permission to use Bash with command rm -rf / has been denied."),
    ("denied_rule", "Permission to use Bash with command cat <<X\nhas been\nX has been denied. IMPORTANT: You *may*"),
    ("denied_rule", "Permission for this tool use was denied. The tool use was rejected (eg. if it was a file edit)."),
    ("denied_rule", "Glob patterns are not allowed in write operations. Please specify an exact file path."),
    ("denied_mode", "Permission to use Bash has been auto-denied in dontAsk mode."),
    (
        "denied_mode",
        "Permission to use Bash has been denied because Claude Code is running in don't ask mode. IMPORTANT",
    ),
    ("denied_mode", "Permission for this action has been denied. Reason: touches production"),
    ("denied_directory", _BLOCKED_CD),
    ("denied_directory", "mkdir in '/it's' was blocked. For security, Claude Code may only create directories in /w."),
    ("denied_hook", "PreToolUse:Bash hook error: [guard.sh]: no rm here"),
    ("denied_hook", "Hook PreToolUse:Bash denied this tool"),
]
FAILURES = [
    "",
    "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
    "File has been modified since read, either by the user or by a linter.",
    "<tool_use_error>Sibling tool call errored</tool_use_error>",
    "Error: No such tool available: Frobnicate",
    "Agent type 'reviewer' not found",
    "Exit code 1\nlog: This command requires approval",
    "Exit code 126\nbash: ./x: Permission denied",
    "BLOCKED: Test files protected",
    "Blocked: by a hook of the project",
    "Cancelled: parallel tool call Bash(ls) errored",
    "EACCES: permission denied, open /x",
    "Exit code 1\nCommand not allowed: rm",
    "Permission to use the machine was never asked for",
    "grep: 'x' was blocked. For security, ask",
    "log of a session: " + _REJECTED,
]


@pytest.mark.parametrize("prefix", ["", "Error: ", "ERROR: ", "<tool_use_error>", "<tool_use_error>Error: ", "\n"])
@pytest.mark.parametrize(("word", "text"), DENIALS)
def test_a_denial_is_known_by_how_its_text_begins(word: str, text: str, prefix: str) -> None:
    outcome = outcome_of_result(True, prefix + text, None)
    assert outcome == Outcome(word, text.partition("\n")[0], is_inferred=False)


@pytest.mark.parametrize("text", [text for _, text in DENIALS])
def test_a_denial_that_is_only_quoted_is_none(text: str) -> None:
    assert outcome_of_result(True, f"Exit code 1\n{text}", None).word == "failed"
    assert outcome_of_result(False, text, None).word == "ran"


@pytest.mark.parametrize("text", [*FAILURES, None])
def test_other_errors_are_failures(text: str | None) -> None:
    assert outcome_of_result(True, text, None) == Outcome("failed", "is_error", is_inferred=False)


def test_what_the_harness_blocks_stands_in_its_tag() -> None:
    outcome = outcome_of_result(True, "<tool_use_error>Blocked: sleep in the foreground</tool_use_error>", None)
    assert outcome == Outcome("denied_rule", "Blocked: sleep in the foreground", is_inferred=False)


def test_a_result_without_an_error_shows_that_the_call_ran() -> None:
    assert outcome_of_result(False, "anything", None) == Outcome("ran", "tool_result", is_inferred=False)
    assert outcome_of_result(False, None, None).word == "ran"


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("user-rejected", "denied_user"),
        ("permission-rule", "denied_rule"),
        ("automode-blocked", "denied_mode"),
        ("automode-unavailable", "denied_mode"),
        ("interrupted", "interrupted"),
        ("cancelled", "interrupted"),
    ],
)
def test_where_the_text_does_not_tell_the_kind_of_denial_does(kind: str, word: str) -> None:
    assert outcome_of_result(True, "No.", kind) == Outcome(word, f"toolDenialKind: {kind}", is_inferred=False)


def test_the_text_tells_more_than_the_kind_of_denial() -> None:
    text = "Permission to use Bash has been denied because Claude Code is running in don't ask mode."
    assert outcome_of_result(True, text, "permission-rule") == Outcome("denied_mode", text, is_inferred=False)


def test_a_kind_of_denial_that_nobody_knows_is_a_denial_all_the_same() -> None:
    assert outcome_of_result(True, None, "novel") == Outcome("not_granted", "toolDenialKind: novel", is_inferred=True)


def test_evidence_is_short_text_that_files_can_hold() -> None:
    path = "/w/\ud800" + "x" * 100_000
    evidence = outcome_of_result(
        True, f"Claude requested permissions to write to {path}, but you haven't granted it", None
    )
    assert evidence.word == "not_granted"
    assert len(evidence.evidence.encode()) < 500
    assert outcome_of_result(True, None, "\ud800" * 1000).evidence.startswith("toolDenialKind: \ufffd")


@given(st.none() | st.text(st.characters(codec=None)), st.none() | st.text(st.characters(codec=None)))
def test_no_result_breaks_it(text: str | None, kind: str | None) -> None:
    outcome_of_result(True, text, kind).evidence.encode()
    outcome_of_result(False, text, kind).evidence.encode()
