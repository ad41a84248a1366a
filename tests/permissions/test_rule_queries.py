"""Answers of the queries about rules of the fixtures, held against what was counted by hand in their README."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.permissions.by_hand import outcomes_by_hand
from tests.permissions.changed_ledger import ChangedLedger, Rows, ask, open_changed

PRESS = "/home/ada/press/.claude/settings.json"
PRESS_LOCAL = "/home/ada/press/.claude/settings.local.json"
LOOM = "/home/ada/loom/.claude/settings.json"
LOOM_LOCAL = "/home/ada/loom/.claude/settings.local.json"
MILL = "/home/bo/mill/.claude/settings.json"
ADA = "/home/ada/.claude/settings.json"
MANAGED = "/etc/claude-code/managed-settings.json"
EDITOR = "/home/ada/.config/Cursor/User/globalStorage/state.vscdb"
LAMP = "/home/ada/lamp/.cursor/cli.json"

NEVER_MATCHED = {
    (PRESS, "allow", "Bash(make *)"),
    (PRESS, "allow", "WebFetch(domain:never.example)"),
    (PRESS, "allow", "Write(/docs/**)"),
    (PRESS, "allow", "mcp__*"),
    (PRESS, "allow", "Bash(git log"),
    (PRESS, "ask", "Bash(npm publish *)"),
    (PRESS, "deny", "WebFetch(domain:bad.example)"),
    (PRESS_LOCAL, "allow", "Bash(docker ps)"),
    (LOOM_LOCAL, "allow", "Bash(cargo *)"),
    (ADA, "deny", "Bash(curl *)"),
    (MANAGED, "deny", "Bash(mkfs *)"),
    (MANAGED, "deny", "Read(~/.ssh/**)"),
    (EDITOR, "allow", "Shell(npm test)"),
    (LAMP, "deny", "Write(.env*)"),
}
COUNTED = {
    (PRESS, "deny", "Bash(rm *)"): 4,
    (PRESS, "deny", "Read(./.env)"): 2,  # the reading, and `cat .env`
    (LOOM, "deny", "Bash(git push --force *)"): 1,
    (LOOM, "deny", "Edit(/vendor/**)"): 1,
    (LOOM, "deny", "mcp__tracker__delete_issue"): 1,
    (MILL, "deny", "Bash(npm publish *)"): 2,
    (MILL, "deny", "Bash(docker run --privileged *)"): 1,
    (ADA, "ask", "Bash(git push *)"): 2,
    (PRESS, "allow", "mcp__tracker"): 2,
    (LAMP, "allow", "Shell(make)"): 2,
    (LAMP, "allow", "Read(src/**)"): 1,
    (EDITOR, "deny", "Shell(rm)"): 1,
}
OF_CAT_ENV = "toolu_denied-by-rule_04"
OF_CHILD = "/home/ada/press/src/roller.ts"


@pytest.fixture(scope="module")
def ledger(permission_ledger: Path) -> Iterator[ChangedLedger]:
    with open_changed(permission_ledger) as opened:
        yield opened


def key(row: dict[str, object]) -> tuple[object, ...]:
    return row["file"], row["kind"], row["rule"]


def alarms(rows: Rows) -> Rows:
    return [row for row in rows if row["status"] == "alarm"]


def test_rules_are_hit_as_often_as_was_counted(ledger: ChangedLedger) -> None:
    hits = {key(row): row["hits"] for row in ask(ledger, "rule_hits") if row["kind"] != "directory"}
    assert {rule for rule, count in hits.items() if count == 0} == NEVER_MATCHED
    assert {rule: hits[rule] for rule in COUNTED} == COUNTED
    assert len(hits) == 2 + 6 + 18 + 3 + 5 + 2 + 3 + 5 + 4


def test_only_old_grants_without_use_are_blamed(ledger: ChangedLedger) -> None:
    rows = ask(ledger, "unused_rules")
    assert {key(row): row["severity"] for row in alarms(rows)} == {
        (PRESS, "allow", "Bash(make *)"): "low",
        (PRESS, "allow", "WebFetch(domain:never.example)"): "low",
    }
    assert {key(row) for row in rows if row["status"] == "info"} == NEVER_MATCHED - {key(row) for row in alarms(rows)}


def test_fewer_days_blame_younger_grants_but_none_that_is_younger_still(ledger: ChangedLedger) -> None:
    rows = ask(ledger, "unused_rules", days=30)
    young = {(PRESS_LOCAL, "allow", "Bash(docker ps)"), (EDITOR, "allow", "Shell(npm test)")}
    blamed = {key(row) for row in alarms(rows)}
    assert young <= blamed
    assert (LOOM_LOCAL, "allow", "Bash(cargo *)") not in blamed


def test_a_rule_is_judged_only_where_calls_were_made(ledger: ChangedLedger) -> None:
    rows = ask(ledger, "unused_rules", "delete from call_targets where cwd = '/home/ada/press'")
    assert {row["status"] for row in rows if row["file"] == PRESS} == {"skip"}


def test_an_unused_grant_of_a_whole_tool_weighs_more(ledger: ChangedLedger) -> None:
    changes = [
        f"update {table} set rule = 'Bash'{more} where rule = 'Bash(make *)'"
        for table, more in (("permission_rules", ""), ("rules_in_force", ", is_tool_wide = true"))
    ]
    rows = ask(ledger, "unused_rules", *changes)
    assert [row["severity"] for row in rows if row["rule"] == "Bash"] == ["medium"]


def test_rules_that_change_nothing_are_those_that_were_written_so(ledger: ChangedLedger) -> None:
    remarks = {key(row): row["remark"] for row in alarms(ask(ledger, "shadowed_rules"))}
    by_hand = {
        (PRESS, "allow", "Bash(git status)"): "redundant",
        (PRESS, "allow", "Bash(npm run build)"): "redundant",
        (PRESS, "allow", "Bash(rm *)"): "shadowed",
        (PRESS, "allow", "Write(/docs/**)"): "unreachable",
        (PRESS, "allow", "mcp__*"): "unreachable",
        (PRESS, "allow", "Bash(git log"): "unreachable",
        (LOOM_LOCAL, "allow", "Bash(pytest -q)"): "redundant",
    }
    assert {rule: remarks[rule] for rule in by_hand} == by_hand
    # What Ada grants everywhere can only be redundant in one of her projects.
    assert {file for file, _, _ in remarks.keys() - by_hand.keys()} <= {ADA}


def test_a_guard_that_never_fires_weighs_more_than_a_grant(ledger: ChangedLedger) -> None:
    changes = [
        f"update {table} set kind = 'deny' where rule = 'mcp__*'"
        for table in ("permission_rules", "rules_in_force", "rule_remarks")
    ]
    rows = ask(ledger, "shadowed_rules", *changes)
    assert [row["severity"] for row in rows if row["rule"] == "mcp__*"] == ["medium"]


def test_a_rule_that_others_always_outdo_is_told_by_its_use(ledger: ChangedLedger) -> None:
    rows = ask(ledger, "shadowed_rules", "delete from rule_remarks where rule = 'Bash(rm *)'")
    [row] = [row for row in rows if key(row) == (PRESS, "allow", "Bash(rm *)")]
    assert (row["remark"], row["by_rule"], row["is_inferred"], row["severity"]) == (
        "outdone",
        "Bash(rm *)",
        True,
        "low",
    )


def test_broad_rules_come_with_what_would_have_sufficed(ledger: ChangedLedger) -> None:
    found = {(row["file"], row["rule"]): row for row in alarms(ask(ledger, "broad_rules"))}
    git = found[PRESS, "Bash(git *)"]
    programs = [f"Bash(git {command} *)" for command in ("diff", "log", "status", "tag")]
    assert (git["narrow_rules"], git["severity"]) == ("\n".join(programs), "medium")
    scripts = [f"Bash(npm run {script} *)" for script in ("build", "print", "soak", "test")]
    assert found[PRESS, "Bash(npm run:*)"]["narrow_rules"] == "\n".join(scripts)
    assert found.keys() == {(PRESS, "Bash(git *)"), (PRESS, "Bash(npm run:*)"), (MILL, "Bash(npm *)")}


def test_what_another_rule_denies_is_never_proposed(ledger: ChangedLedger) -> None:
    [mill] = [row for row in ask(ledger, "broad_rules") if row["file"] == MILL]
    assert "publish" not in str(mill["narrow_rules"])


def test_a_rule_of_many_uses_stays(ledger: ChangedLedger) -> None:
    assert alarms(ask(ledger, "broad_rules", most=3)) == []


def test_every_denial_by_rule_is_predicted_but_those_of_no_settings_file(ledger: ChangedLedger) -> None:
    counts = Counter((row["project"], row["status"]) for row in ask(ledger, "rule_denials"))
    assert counts == {
        ("/home/ada/press", "ok"): 5,
        ("/home/ada/loom", "ok"): 3,
        ("/home/bo/mill", "ok"): 3,
        ("/home/ada/lamp", "ok"): 1,
        ("/home/cy/drift", "alarm"): 3,
    }


def test_a_replay_counts_every_call_and_disagrees_where_the_readme_does(ledger: ChangedLedger) -> None:
    rows = ask(ledger, "replay")
    assert sum(int(str(row["calls"])) for row in rows) == sum(outcomes_by_hand().values())
    disagreeing = {
        (row["project"], row["decision"], row["outcome"]): row["calls"] for row in rows if row["agrees"] is False
    }
    assert disagreeing == {
        ("/home/ada/press", "deny", "ran"): 1,  # `cat .env`
        ("/home/cy/drift", "none", "denied_rule"): 3,
        ("/home/ada/loom", "allow", "not_granted"): 1,  # a tool that the capture was started without
    }


def test_granted_against_used_counts_every_outcome(ledger: ChangedLedger) -> None:
    rows = ask(ledger, "granted_vs_used")
    counts: Counter[tuple[str, object]] = Counter()
    for row in rows:
        for outcome in ("ran", "failed", "interrupted", "denied_user", "denied_rule", "denied_mode", "denied_hook"):
            counts[outcome, row["class"]] += int(str(row[outcome]))
    by_hand = outcomes_by_hand()
    assert {pair: count for pair, count in counts.items() if count} == {
        pair: by_hand[pair] for pair in by_hand if pair[0] in {outcome for outcome, _ in counts}
    }
    assert {row["agent"] for row in rows} == {"main", "subagent scout", "subagent general-purpose"}
    assert {row["status"] for row in rows if row["project"] == "/home/cy/drift"} == {"skip"}


def test_the_one_call_that_went_past_a_rule_is_an_alarm(ledger: ChangedLedger) -> None:
    rows = ask(ledger, "used_not_granted")
    [row] = alarms(rows)
    assert (row["call_id"], row["severity"], row["rule"], row["is_inferred"]) == (
        OF_CAT_ENV,
        "high",
        "Read(./.env)",
        False,
    )
    assert [row["project"] for row in rows if row["status"] == "skip"] == ["/home/cy/drift"]
    assert [found["row_id"] for found in ledger.rows("health/deny_wins")] == [OF_CAT_ENV]


def test_a_rule_that_came_later_was_not_broken(ledger: ChangedLedger) -> None:
    later = "update permission_rules set first_seen_at = 2000000000000 where rule = 'Read(./.env)'"
    rows = ask(ledger, "used_not_granted", later)
    assert alarms(rows) == []
    assert [row["status"] for row in rows if row["cause"] == "denied_later"] == ["info"]
    assert ledger.rows("health/deny_wins", later) == []


@pytest.mark.parametrize(
    ("call", "mode", "cause", "severity", "is_inferred"),
    [
        ("toolu_denied-in-loom_07", "plan", "plan_mode", "medium", False),
        ("toolu_denied-by-rule_02", "plan", "plan_mode", "medium", True),
        ("toolu_denied-by-rule_02", "dontAsk", "never_asked", "low", True),
    ],
)
def test_a_mode_that_forbids_what_ran_is_an_alarm(
    ledger: ChangedLedger, call: str, mode: str, cause: str, severity: str, *, is_inferred: bool
) -> None:
    rows = ask(ledger, "used_not_granted", f"update call_targets set mode = '{mode}' where call_id = '{call}'")
    [row] = [row for row in alarms(rows) if row["call_id"] == call]
    assert (row["cause"], row["severity"], row["is_inferred"]) == (cause, severity, is_inferred)


def test_what_no_rules_are_known_for_is_skipped(ledger: ChangedLedger) -> None:
    forgotten = ("delete from rule_verdicts", "delete from rule_matches", "delete from permission_rules")
    rows = ask(ledger, "used_not_granted", *forgotten)
    assert alarms(rows) == []
    skipped = Counter(row["project"] for row in rows if row["status"] == "skip")
    assert set(skipped.values()) == {1}
    assert {row["status"] for row in ask(ledger, "granted_vs_used", *forgotten)} == {"skip"}
    assert {row["status"] for row in ask(ledger, "rule_denials", *forgotten)} == {"skip"}


def test_a_subagent_that_acts_for_a_parent_in_plan_mode_is_an_alarm(ledger: ChangedLedger) -> None:
    found = {row["tool_name"]: row for row in alarms(ask(ledger, "subagent_escalation"))}
    assert found.keys() == {"Bash", "Edit"}
    assert {row["cause"] for row in found.values()} == {"plan_of_parent"}
    assert (found["Edit"]["is_inferred"], found["Bash"]["is_inferred"]) == (False, True)
    assert {row["agent"] for row in found.values()} == {"subagent general-purpose"}


def test_a_subagent_that_runs_what_its_parent_was_denied_is_an_alarm(ledger: ChangedLedger) -> None:
    of_parent = "where call_id = 'toolu_subagents_01'"
    denied = f"update call_targets set is_denied = true, target = '{OF_CHILD}' {of_parent}"
    [alike] = [row for row in alarms(ask(ledger, "subagent_escalation", denied)) if row["cause"] == "denied_to_parent"]
    assert (alike["agent"], alike["severity"], alike["is_inferred"]) == ("subagent scout", "medium", True)
    same = f"update permission_decisions set raw_target = '{OF_CHILD}' {of_parent}"
    rows = ask(ledger, "subagent_escalation", denied, same)
    [row] = [row for row in alarms(rows) if row["cause"] == "denied_to_parent"]
    assert (row["severity"], row["is_inferred"]) == ("high", False)


def test_a_subagent_in_a_wider_mode_is_an_alarm(ledger: ChangedLedger) -> None:
    rows = ask(
        ledger,
        "subagent_escalation",
        "update permission_decisions set mode = 'default' where call_id like 'toolu_subagents_0%'",
        "update call_targets set mode = 'bypassPermissions' where is_subagent",
    )
    assert {(row["cause"], row["severity"]) for row in alarms(rows)} == {("wider_mode", "medium")}
