"""The logs for permission audits are imported as their README says, counted by hand."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import aix
from aix.health import Status, check
from aix.reading.ledger import Ledger
from tests.permissions.by_hand import FIXTURES, calls_by_hand, outcomes_by_hand, settings_by_hand
from tests.permissions.ledger import SECRETS

OUTCOMES = "select outcome, class, count(*) from permission_decisions group by all"
CALLS = """
    select split_part(t.session_label, ':', 2), count(*)
    from permission_decisions p join session_turns t using (turn_id) group by all
"""
LOOK_ALIKES = """
    select outcome, count(*) from permission_decisions
    where call_id like 'toolu_look-alikes_%' or call_id = 'toolu_denied-by-hook_04' group by all order by outcome
"""
INFERRED = "select call_id from permission_decisions where is_inferred order by call_id"
RULES = "select file, min(first_seen_at), max(last_seen_at) from permission_rules group by all"
USERS = "select distinct file from permission_rules where scope = 'user' order by file"
HOLDING = "select id from tool_calls where contains(concat(params_json, result_json), $1) order by id"


@pytest.fixture(scope="module")
def ledger(permission_ledger: Path) -> Iterator[Ledger]:
    with aix.open(permission_ledger) as opened:
        yield opened


def test_every_outcome_is_the_one_counted_by_hand(ledger: Ledger) -> None:
    assert {(outcome, name): count for outcome, name, count in ledger.sql(OUTCOMES)} == outcomes_by_hand()


def test_every_session_has_the_calls_counted_by_hand(ledger: Ledger) -> None:
    assert dict(ledger.sql(CALLS).rows()) == calls_by_hand()


def test_what_looks_like_a_denial_is_none(ledger: Ledger) -> None:
    assert ledger.sql(LOOK_ALIKES).rows() == [("failed", 9), ("ran", 3)]


def test_only_what_no_word_of_the_log_says_is_inferred(ledger: Ledger) -> None:
    open_calls = ["toolu_interrupted-and-open_03", "toolu_interrupted-and-open_04"]
    assert ledger.sql(INFERRED).rows() == [(call,) for call in [*open_calls, "toolu_not-granted_08"]]


def test_rules_stand_where_and_since_when_the_readme_says(ledger: Ledger) -> None:
    written = {(file, at * 1000, at * 1000) for file, at in settings_by_hand().items()}
    assert set(ledger.sql(RULES).rows()) == written
    assert [file for (file,) in ledger.sql(USERS)] == [
        "/home/ada/.claude/settings.json",
        "/home/ada/.config/Cursor/User/globalStorage/state.vscdb",
    ]


def test_the_ledger_is_sound(permission_ledger: Path) -> None:
    assert [each.name for each in check(permission_ledger) if each.status is Status.ALARM] == []


def test_secrets_are_in_the_ledger_and_in_no_file_of_the_fixtures(ledger: Ledger) -> None:
    secrets = [secret.partition("\\n")[0] for secret in SECRETS.values()]
    assert [ledger.sql(HOLDING, [secret]).rows() for secret in secrets] == [
        [("toolu_secrets-seen_01",)],
        [("toolu_secrets-seen_02",), ("toolu_secrets-seen_04",)],
        [("toolu_secrets-seen_03",)],
    ]
    texts = {path: path.read_text("utf-8") for path in FIXTURES.rglob("*.jsonl")}
    assert [path for path, text in texts.items() for secret in secrets if secret in text] == []
