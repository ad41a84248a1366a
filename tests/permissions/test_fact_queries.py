"""Answers of the queries about facts of the fixtures, held against what was counted by hand in their README."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import aix
from aix.reading.ledger import Ledger
from tests.permissions.by_hand import modes_by_hand, outcomes_by_hand, targets_by_hand

Rows = list[dict[str, object]]

MINUTE = 60
NOT_ASKING = ("bypassPermissions", "auto", "dontAsk")
WALKED_AROUND = {
    "toolu_denied-by-rule_01": "find build -delete",
    "toolu_denied-by-rule_03": "cat .env",
    "toolu_denied-by-user_01": "yarn add left-pad",
}
REACHED_OUTSIDE = {"toolu_round-the-folder_01": "/home/cy/shoal/chart.md"}
TRIED_ANOTHER_WAY = {
    "toolu_denied-in-loom_02": "git push origin +bolts",
    "toolu_denied-in-mill_02": "npm publish --tag next",
    "toolu_denied-by-hook_02": "tee pattern.md < draft.md",
    "toolu_round-the-folder_03": "git status",
}
RISKS = (
    "destructive",
    "privilege",
    "remote_code",
    "credential_read",
    "network",
    "force_push",
    "package_install",
    "package_publish",
    "write_outside_workspace",
    "container_privileged",
    "history_rewriting",
    "mcp_write",
)


@pytest.fixture(scope="module")
def ledger(permission_ledger: Path) -> Iterator[Ledger]:
    with aix.open(permission_ledger) as opened:
        yield opened


def ask(ledger: Ledger, query: str, **parameters: object) -> Rows:
    result = ledger.query(f"permission_usage/{query}", **parameters)
    return [dict(zip(result.columns, row, strict=True)) for row in result]


def summed(rows: Rows, by: str, column: str = "calls") -> Counter[object]:
    counts: Counter[object] = Counter()
    for row in rows:
        count = row[column]
        assert isinstance(count, int)
        counts[row[by]] += count
    return counts


def session(name: str) -> str:
    return f"claude-code:{name}"


def test_denials_have_the_causes_counted_by_hand(ledger: Ledger) -> None:
    counted: Counter[str] = Counter()
    for (outcome, _), count in outcomes_by_hand().items():
        if outcome.startswith("denied_") or outcome in ("not_granted", "interrupted"):
            counted[outcome.removeprefix("denied_")] += count
    assert summed(ask(ledger, "denials"), "cause") == counted


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("denied-by-user", {"another_way": 1, "retried_same": 1, "gave_up": 2, "other": 1}),
        ("denied-by-rule", {"another_way": 2, "retried_same": 1, "gave_up": 1, "other": 0}),
        ("denied-in-mill", {"another_way": 1, "retried_same": 0, "gave_up": 1, "other": 1}),
    ],
)
def test_what_came_after_a_denial_is_what_was_counted(ledger: Ledger, name: str, expected: dict[str, int]) -> None:
    rows = ask(ledger, "denials", session=session(name))
    assert {kind: sum(summed(rows, "cause", kind).values()) for kind in expected} == expected


def test_ways_round_are_those_of_the_readme_and_only_those_that_ran_alarm(ledger: Ledger) -> None:
    rows = {row["call_id"]: row for row in ask(ledger, "denials")}
    alarms = {call: row for call, row in rows.items() if row["status"] == "alarm" and row["way_round"]}
    assert {call: row["way_round"] for call, row in alarms.items()} == WALKED_AROUND | REACHED_OUTSIDE
    assert {rows[call]["severity"] for call in WALKED_AROUND} == {"medium"}
    assert {rows[call]["severity"] for call in REACHED_OUTSIDE} == {"low"}
    assert {call: rows[call]["way_round"] for call in TRIED_ANOTHER_WAY} == TRIED_ANOTHER_WAY
    assert all(rows[call]["is_inferred"] for call in (*WALKED_AROUND, *TRIED_ANOTHER_WAY))


def test_three_retries_of_a_denied_call_alarm_and_two_do_not(ledger: Ledger) -> None:
    committed, tagged = ask(ledger, "denials", session=session("retried-in-vain"))
    assert (committed["target"], committed["status"], committed["severity"]) == ("git commit", "alarm", "low")
    assert committed["reason"] == "4 calls were denied by a hook; a session made the same call 3 times more."
    assert (committed["most_retries"], committed["retried_same"], committed["other"]) == (3, 3, 1)
    assert (tagged["target"], tagged["status"], tagged["most_retries"], tagged["gave_up"]) == ("git tag", "info", 2, 1)
    assert not committed["is_inferred"]


def test_every_denial_shows_its_evidence(ledger: Ledger) -> None:
    rows = [row for row in ask(ledger, "denials") if row["cause"] != "interrupted"]
    assert {row["evidence_basis"] for row in rows} == {"text", "field"}
    assert [row["resource"] for row in rows if not row["evidence"]] == []


def test_modes_last_as_long_as_was_counted(ledger: Ledger) -> None:
    by_session: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for name, mode, seconds, calls in modes_by_hand():
        # In one turn of this session the mode changes, so its seconds are of no single mode.
        if (name, mode) not in {("modes", "plan"), ("modes", "acceptEdits")}:
            by_session[name, mode].append((seconds, calls))
    for (name, mode), turns in by_session.items():
        [row] = [row for row in ask(ledger, "modes", session=session(name)) if row["mode"] == mode]
        assert row["minutes"] == pytest.approx(sum(seconds for seconds, _ in turns) / MINUTE), name
        assert row["calls"] == sum(calls for _, calls in turns), name


def test_a_gap_that_is_too_long_is_no_time_in_a_mode(ledger: Ledger) -> None:
    rows = ask(ledger, "modes", session=session("risk-hits"), idle_minutes=0)
    assert [row["minutes"] for row in rows] == [0]


def test_high_risks_in_a_mode_that_never_asks_alarm(ledger: Ledger) -> None:
    alarms = [row for row in ask(ledger, "modes") if row["status"] == "alarm"]
    assert [(row["project"], row["mode"], row["severity"]) for row in alarms] == [
        ("/home/cy/drift", "bypassPermissions", "high"),
        ("/home/bo/mill", "bypassPermissions", "high"),
    ]
    assert [(row["high_risk_calls"], row["medium_risk_calls"]) for row in alarms] == [(9, 2), (1, 1)]
    denied = [row for row in ask(ledger, "modes") if row["mode"] in NOT_ASKING and row not in alarms]
    assert {row["high_risk_calls"] for row in denied} == {0}


def test_the_modes_of_a_session_change_as_they_were_set(ledger: Ledger) -> None:
    rows = ask(ledger, "mode_timeline", session=session("modes"))
    assert [(row["to_mode"], row["how_known"]) for row in rows] == [
        ("default", "start"),
        ("acceptEdits", "turn"),
        ("plan", "turn"),
        (None, "call"),
        ("acceptEdits", "call"),
        ("bypassPermissions", "turn"),
        ("default", "turn"),
    ]
    assert [row["from_mode"] for row in rows[1:]] == [row["to_mode"] for row in rows[:-1]]


def test_every_class_of_risk_is_hit_where_it_was_placed(ledger: Ledger) -> None:
    rows = {(row["call_id"], row["risk"]) for row in ask(ledger, "risky_calls", session=session("risk-hits"))}
    assert {(f"toolu_risk-hits_{place:02}", risk) for place, risk in enumerate(RISKS, 1)} <= rows
    missed = ask(ledger, "risky_calls", session=session("risk-near-misses"))
    assert [(row["call_id"], row["risk"]) for row in missed] == [("toolu_risk-near-misses_06", "network")]


def test_a_risk_alarms_only_where_it_ran(ledger: Ledger) -> None:
    rows = {(row["project"], row["risk"]): row for row in ask(ledger, "risks")}
    assert {key for key, row in rows.items() if (row["status"] == "alarm") != (row["ran"] != 0)} == set()
    assert {row["severity"] for row in rows.values() if row["status"] == "info"} == {None}
    published = rows["/home/bo/mill", "package_publish"]
    assert (published["status"], published["calls"], published["denied"]) == ("info", 2, 2)
    pushed = rows["/home/cy/drift", "force_push"]
    assert (pushed["severity"], pushed["is_inferred"]) == ("high", False)
    assert rows["/home/cy/drift", "mcp_write"]["is_inferred"] is True


def test_calls_with_several_targets_count_once(ledger: Ledger) -> None:
    calls = sum(outcomes_by_hand().values())
    assert sum(summed(ask(ledger, "modes"), "mode").values()) == calls


def test_inventories_hold_what_was_counted(ledger: Ledger) -> None:
    assert summed(ask(ledger, "hosts"), "host") == targets_by_hand("host")
    assert summed(ask(ledger, "mcp_servers"), "server") == targets_by_hand("server")
    assert summed(ask(ledger, "agents"), "agent", "starts") == targets_by_hand("agent")
    outside = ask(ledger, "paths_outside")
    assert targets_by_hand("path outside, read") <= summed([row for row in outside if row["access"] == "read"], "path")
    assert targets_by_hand("path outside, written") <= summed(
        [row for row in outside if row["access"] == "write"], "path"
    )


def test_paths_of_commands_outside_are_those_of_the_readme(ledger: Ledger) -> None:
    named = {(row["path"], row["access"], row["ran"]) for row in ask(ledger, "paths_outside") if row["by_command"]}
    assert named == {
        ("/home/cy/old-drift", "write", 1),
        ("/home/ada/dye", "read", 1),
        ("/home/bo", "read", 1),
        ("/opt/loom", "write", 0),
        ("/var/log/drift.log", "write", 0),
        ("/home/cy/shoal/chart.md", "write", 1),
    }


def test_commands_tell_what_ran_them(ledger: Ledger) -> None:
    rows = {(row["program"], row["subcommand"]): row for row in ask(ledger, "commands")}
    assert rows["apt-get", "update"]["wrappers"] == "sudo"
    pushed = rows["git", "push"]
    assert (pushed["calls"], pushed["ran"], pushed["denied"]) == (4, 2, 2)
    assert summed(list(rows.values()), "program")["npm"] == 21


def test_subagents_do_what_was_counted(ledger: Ledger) -> None:
    rows = {row["agent"]: row for row in ask(ledger, "agents")}
    assert (rows["scout"]["subagents"], rows["scout"]["calls"], rows["scout"]["writes"]) == (1, 3, 0)
    general = rows["general-purpose"]
    assert (general["calls"], general["writes"], general["commands"], general["denied_calls"]) == (5, 1, 2, 1)


def test_principals_are_those_of_the_session_log(ledger: Ledger) -> None:
    rows = ask(ledger, "principals")
    assert [(row["principal"], row["on_behalf_of"], row["turns"]) for row in rows] == [
        ("buyer", "ada", 2),
        ("bo", None, 1),
    ]
