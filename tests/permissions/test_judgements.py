"""Judgements of the audits that the fixtures alone do not reach: rows are changed until each is."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.permissions.changed_ledger import ChangedLedger, Rows, ask, open_changed

Row = dict[str, object]

OF_PRESS_COMMAND = "toolu_denied-by-rule_02"  # `find build -delete`, which ran
OF_LOOM_WRITE = "toolu_denied-in-loom_07"  # which ran
OF_LOOM_DENIAL = "toolu_denied-in-loom_04"  # by `Edit(/vendor/**)`
OF_CHILD_COMMAND = "toolu_subagents-ab0a7_01"  # which ran
VENDOR = "Edit(/vendor/**)"
MIDDLE_OF_APRIL = 1_776_211_200_000


@pytest.fixture(scope="module")
def ledger(permission_ledger: Path) -> Iterator[ChangedLedger]:
    with open_changed(permission_ledger) as opened:
        yield opened


def about(rows: Rows, **values: object) -> Row:
    [row] = [row for row in rows if all(row[name] == value for name, value in values.items())]
    return row


def judged(row: Row) -> tuple[object, object]:
    return row["status"], row["severity"]


def decided(call: str, decision: str, rule: str | None) -> str:
    """Return what makes the rules decide so about a call; without a rule the tool does by itself."""
    kind, file, text = (f"'{each}'" for each in (decision, "settings.json", rule)) if rule else ("null",) * 3
    changes = f"decision = '{decision}', kind = {kind}, file = {file}, rule = {text}"
    return f"update rule_verdicts set {changes} where call_id = '{call}'"


def test_a_rule_whose_use_fits_no_narrow_rule_is_to_note(ledger: ChangedLedger) -> None:
    unfit = "update rule_matches set narrow_rule = null where rule = 'Bash(git *)' and narrow_rule = 'Bash(git tag *)'"
    row = about(ask(ledger, "broad_rules", unfit), rule="Bash(git *)")
    assert (*judged(row), row["uncovered_calls"]) == ("info", None, 1)
    assert str(row["reason"]).endswith("calls that it let pass fit no narrow rule.")


def test_one_narrow_rule_may_suffice(ledger: ChangedLedger) -> None:
    other = "update rule_matches set narrow_rule = 'Bash(git log *)' where rule = 'Bash(git *)'"
    row = about(ask(ledger, "broad_rules", other), rule="Bash(git *)")
    assert judged(row) == ("alarm", "medium")
    assert str(row["reason"]).endswith("pass that one narrow rule covers: Bash(git log *).")


def test_a_broad_rule_whose_uses_were_all_risky_is_to_be_removed(ledger: ChangedLedger) -> None:
    risky = f"update rule_matches set call_id = '{OF_PRESS_COMMAND}' where rule = 'Bash(git *)'"
    row = about(ask(ledger, "broad_rules", risky), rule="Bash(git *)")
    assert (*judged(row), row["narrow_rules"]) == ("alarm", "medium", None)
    assert str(row["reason"]).endswith("pass, all of them risky: remove the rule, or ask before such calls.")


def test_a_rule_of_many_uses_says_how_many(ledger: ChangedLedger) -> None:
    row = about(ask(ledger, "broad_rules", most=3), rule="Bash(git *)")
    assert (*judged(row), row["reason"]) == ("ok", None, "It was used for 4 different patterns.")


def test_a_mode_that_never_asks_is_a_low_alarm_where_nothing_severe_was_risked(ledger: ChangedLedger) -> None:
    bypassed = "update call_targets set mode = 'bypassPermissions' where session_label = 'claude-code:ran-and-failed'"
    row = about(ask(ledger, "modes", bypassed), project="/home/ada/press", mode="bypassPermissions")
    assert (*judged(row), row["high_risk_calls"]) == ("alarm", "low", 0)


@pytest.mark.parametrize("mode", ["auto", "dontAsk"])
def test_severe_risks_alarm_in_every_mode_that_asks_nobody(ledger: ChangedLedger, mode: str) -> None:
    unasked = f"update call_targets set mode = '{mode}' where session_label = 'claude-code:risk-hits'"
    row = about(ask(ledger, "modes", unasked), project="/home/cy/drift", mode=mode)
    assert judged(row) == ("alarm", "high")


@pytest.mark.parametrize(
    ("change", "status", "severity", "reason"),
    [
        (
            f"update permission_rules set first_seen_at = 2000000000000 where rule = '{VENDOR}'",
            "info",
            None,
            f"The deny rule {VENDOR} predicts it, but was first seen later.",
        ),
        (decided(OF_LOOM_DENIAL, "deny", None), "ok", None, "What the tool does by itself predicts it."),
        (
            decided(OF_LOOM_DENIAL, "allow", "Edit"),
            "alarm",
            "low",
            "Denied by a rule in no imported settings file: `Edit /home/ada/loom/vendor/shuttle.py`"
            " (the allow rule `Edit` lets it pass).",
        ),
    ],
    ids=["later", "by the tool", "allowed"],
)
def test_a_denial_by_rule_says_what_predicts_it(
    ledger: ChangedLedger, change: str, status: str, severity: str | None, reason: str
) -> None:
    row = about(ask(ledger, "rule_denials", change), call_id=OF_LOOM_DENIAL)
    assert (*judged(row), row["reason"]) == (status, severity, reason)


@pytest.mark.parametrize(
    ("decision", "rule", "cause", "status", "severity", "is_inferred"),
    [
        ("deny", "Bash(ruler *)", "denied_by_rule", "alarm", "high", False),
        ("deny", None, "denied_by_rule", "alarm", "high", True),
        ("ask", "Bash(ruler *)", "asked", "info", None, True),
    ],
)
def test_a_subagent_is_held_against_the_rules(
    ledger: ChangedLedger,
    decision: str,
    rule: str | None,
    cause: str,
    status: str,
    severity: str | None,
    *,
    is_inferred: bool,
) -> None:
    changes = [decided(OF_CHILD_COMMAND, decision, rule), "update permission_decisions set mode = 'default'"]
    row = about(ask(ledger, "subagent_escalation", *changes), cause=cause)
    assert (*judged(row), row["call_id"], row["is_inferred"]) == (status, severity, OF_CHILD_COMMAND, is_inferred)


def test_a_subagent_in_a_mode_that_is_a_little_wider_is_a_low_alarm(ledger: ChangedLedger) -> None:
    rows = ask(
        ledger,
        "subagent_escalation",
        "update permission_decisions set mode = 'default' where call_id like 'toolu_subagents_0%'",
        "update call_targets set mode = 'acceptEdits' where is_subagent",
    )
    assert {judged(row) for row in rows if row["cause"] == "wider_mode"} == {("alarm", "low")}


def test_a_subagent_without_known_parent_and_rules_is_skipped(ledger: ChangedLedger) -> None:
    rows = ask(
        ledger,
        "subagent_escalation",
        "delete from rule_verdicts",
        "update sessions set parent_turn_id = null, parent_session_label = null, spawn_tool_call_id = null",
    )
    assert {(*judged(row), row["cause"]) for row in rows} == {("skip", None, "unknown")}


def test_a_time_that_is_too_short_to_blame_a_rule_is_skipped(ledger: ChangedLedger) -> None:
    row = about(ask(ledger, "unused_rules", since=MIDDLE_OF_APRIL), rule="Bash(make *)", kind="allow")
    assert (*judged(row), row["reason"]) == ("skip", None, "The time asked for is shorter than 90 days.")


def test_a_grant_that_was_used_long_ago_is_blamed_since_then(ledger: ChangedLedger) -> None:
    row = about(ask(ledger, "unused_rules", days=3), rule="Skill(release-notes)")
    assert judged(row) == ("alarm", "low")
    assert str(row["reason"]).startswith(
        "Unused rule: `Skill(release-notes)` allows what it names; no call has needed it for "
    )


@pytest.mark.parametrize(
    ("changes", "cause", "status", "severity", "is_inferred"),
    [
        ([decided(OF_PRESS_COMMAND, "deny", None)], "denied", "alarm", "medium", True),
        ([decided(OF_PRESS_COMMAND, "ask", "Bash(find *)")], "asked", "info", None, True),
        ([decided(OF_PRESS_COMMAND, "ask", None)], "asked", "info", None, True),
    ],
)
def test_what_ran_is_held_against_the_rules(
    ledger: ChangedLedger, changes: list[str], cause: str, status: str, severity: str | None, *, is_inferred: bool
) -> None:
    row = about(ask(ledger, "used_not_granted", *changes), cause=cause, call_id=OF_PRESS_COMMAND)
    assert (*judged(row), row["is_inferred"]) == (status, severity, is_inferred)


def test_a_plan_that_is_written_in_plan_mode_is_to_note(ledger: ChangedLedger) -> None:
    planned = (
        "update call_targets set mode = 'plan', target = '/home/ada/.tool/plans/weave.md', is_outside = true "
        f"where call_id = '{OF_LOOM_WRITE}'"
    )
    row = about(ask(ledger, "used_not_granted", planned), cause="plan_file")
    assert (*judged(row), row["is_inferred"]) == ("info", None, True)
