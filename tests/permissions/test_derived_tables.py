"""Tables that a program derives: targets and risks of calls, and what rules say about them."""

import json
import os
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest

import aix
from aix.derived.catalog import CATALOG
from aix.derived.derived_data import renew
from aix.permissions.contract import Judge, Rule
from aix.permissions.rule_book import RuleBook, RuleSet
from aix.permissions.rule_rows import RuleRows, remark_rows
from aix.pipeline.run import Settings, import_histories
from aix.prices.table import PriceTable
from aix.query.views import library_views
from aix.reading.ledger import Ledger
from aix.store.manifest import manifest_path, read_latest
from aix_importers.claude_code.permissions import ClaudeCodeRules

DERIVED = [view.name for view in library_views().values() if view.derived]


def rows_of(ledger: Ledger, name: str) -> Counter[tuple[object, ...]]:
    return Counter(ledger.sql(f"from {name}").rows())


def test_every_derived_table_has_rows(persona_ledger: Path) -> None:
    with aix.open(persona_ledger) as opened:
        assert all(rows_of(opened, name) for name in DERIVED)


def test_what_no_version_has_kept_is_made_by_whoever_reads(permission_ledger: Path, tmp_path: Path) -> None:
    version = read_latest(permission_ledger)
    stripped = tmp_path / "ledger"
    (stripped / "versions").mkdir(parents=True)
    (stripped / "data").symlink_to(permission_ledger / "data")
    said = json.loads(manifest_path(permission_ledger, version.version).read_text("utf-8"))
    del said["views"], said["views_made_by"], said["rules"]
    manifest_path(stripped, version.version).write_text(json.dumps(said), "utf-8")
    with aix.open(permission_ledger) as kept, aix.open(stripped) as bare:
        for name in (*DERIVED, "call_targets"):
            assert rows_of(bare, name) == rows_of(kept, name)


def test_what_another_release_kept_is_made_by_whoever_reads(persona_ledger: Path, tmp_path: Path) -> None:
    version = read_latest(persona_ledger)
    earlier = tmp_path / "ledger"
    (earlier / "versions").mkdir(parents=True)
    (earlier / "data").symlink_to(persona_ledger / "data")
    said = json.loads(manifest_path(persona_ledger, version.version).read_text("utf-8"))
    manifest_path(earlier, version.version).write_text(json.dumps({**said, "views_made_by": "another"}), "utf-8")
    with aix.open(persona_ledger) as kept, aix.open(earlier) as bare:
        for name in DERIVED:
            assert rows_of(bare, name) == rows_of(kept, name)


def test_any_client_reads_them(persona_ledger: Path) -> None:
    catalog = str(persona_ledger / CATALOG)
    with aix.open(persona_ledger) as opened, duckdb.connect(catalog, read_only=True) as plain:
        for name in DERIVED:
            assert Counter(plain.table(name).fetchall()) == rows_of(opened, name)


def test_every_call_has_its_targets_once_and_keeps_its_outcome(permission_ledger: Path) -> None:
    with aix.open(permission_ledger) as opened:
        decided = opened.sql("select call_id, outcome from permission_decisions").rows()
        targets = opened.sql("select call_id, outcome, number from call_targets").rows()
    assert {(call, outcome) for call, outcome, _ in targets} == set(decided)
    assert len({(call, number) for call, _, number in targets}) == len(targets)


def test_settings_of_ones_own_take_the_place_of_those_found(permission_ledger: Path, tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"permissions": {"deny": ["Bash(npm *)"], "allow": ["Bash(npm test)"]}}))
    with aix.open(permission_ledger) as opened, opened.under(settings) as ruled:
        assert ruled.sql("select distinct kind, rule from permission_rules order by kind").rows() == [
            ("allow", "Bash(npm test)"),
            ("deny", "Bash(npm *)"),
        ]
        assert {file for (file,) in ruled.sql("select distinct file from rule_matches").rows()} == {str(settings)}
        counted = "select count(distinct call_id) from call_targets where program = 'npm' and origin = 'claude-code'"
        [(npm_calls,)] = opened.sql(counted).rows()
        [(denied,)] = ruled.sql("select count(*) from rule_verdicts where decision = 'deny'").rows()
        assert denied == npm_calls > 0
        remarks = ruled.sql("select rule, remark, by_rule from rule_remarks").rows()
        assert remarks == [("Bash(npm test)", "shadowed", "Bash(npm *)")]
        with ruled.at(ruled.version) as same:
            assert rows_of(same, "rule_verdicts") == rows_of(ruled, "rule_verdicts")
        unchanged = opened.sql("select count(*) from rule_verdicts where decision = 'allow'").rows()
        assert unchanged[0][0] > 0


def test_settings_of_ones_own_hold_for_every_call_wherever_their_file_lies(
    permission_ledger: Path, tmp_path: Path
) -> None:
    of_a_project = tmp_path / "elsewhere" / ".claude" / "settings.json"
    of_a_user = tmp_path / "home" / "zoe" / ".claude" / "settings.json"
    answers = []
    for settings in (tmp_path / "given.json", of_a_project, of_a_user):
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text(json.dumps({"permissions": {"allow": ["Bash(npm *)", "Bash(kiln fire)"]}}))
        with aix.open(permission_ledger) as opened, opened.under(settings) as ruled:
            used = ruled.query("permission_usage/unused_rules").rows()
            granted = ruled.query("permission_usage/granted_vs_used", origin="claude-code").rows()
        answers.append(([row[:3] for row in used], [row[:3] for row in granted]))
    assert answers[0] == answers[1] == answers[2]
    assert "skip" not in {status for _, status, _ in answers[0][0]}


def test_risks_of_ones_own_are_added(permission_ledger: Path, tmp_path: Path) -> None:
    own = tmp_path / "risks.toml"
    own.write_text(
        """
dated = 2026-11-01
[risks]
ink = "Touches ink."
[[rule]]
id = "own-npm"
risk = "ink"
severity = "low"
why = "npm is out of fashion here."
program = ["npm"]
"""
    )
    with aix.open(permission_ledger) as opened, opened.under(risks=own) as risky:
        assert risky.sql("select count(*) > 0 from call_risks where risk = 'ink'").rows() == [(True,)]
        assert risky.sql("select count(distinct risk) from call_risks").rows()[0][0] == (
            opened.sql("select count(distinct risk) from call_risks").rows()[0][0] + 1
        )
        assert rows_of(risky, "rule_verdicts") == rows_of(opened, "rule_verdicts")


def test_a_renewal_follows_a_dialect_that_answers_otherwise(
    permission_ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = shutil.copytree(permission_ledger, tmp_path / "ledger")
    before = renew(ledger, PriceTable())
    monkeypatch.setattr(ClaudeCodeRules, "version", ClaudeCodeRules.version + 1)
    after = renew(ledger, PriceTable())
    assert (after.version, after.rules) != (before.version, before.rules)
    assert after.tables == before.tables
    assert renew(ledger, PriceTable()) == after == read_latest(ledger)


class BrokenRules(ClaudeCodeRules):
    """Rules that fail, as those that another distribution brings may."""

    def judge(self, rules: Sequence[Rule], home: str | None = None) -> Judge:
        raise RuntimeError(f"{len(rules)} rules, home {home}")


def test_a_dialect_that_fails_decides_nothing_and_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = Rule("allow", "anything", "managed", "", 0, "")
    book = RuleBook({"broken": [rule]})
    monkeypatch.setattr(RuleBook, "in_force", lambda *_: RuleSet(BrokenRules(), (rule,)))
    [(decision, *_, reason, _, _)] = RuleRows(book).about(("broken", "Tool", None, "/", None))["rule_verdicts"]
    assert decision == "none"
    assert "RuntimeError" in str(reason)
    monkeypatch.setattr("aix.permissions.rule_book.dialects", lambda: {"broken": BrokenRules()})
    assert book.whole_input_tools() == BrokenRules.whole_input_tools
    assert list(remark_rows(book, {("broken", "managed", "", "allow", "anything")})) == []


def test_a_rule_that_was_taken_out_of_its_file_is_in_force_no_more(tmp_path: Path) -> None:
    logs, ledger = tmp_path / "logs", tmp_path / "ledger"
    settings = logs / "managed-settings.json"
    logs.mkdir()
    for number, rules in enumerate((["Bash(make *)", "Read"], ["Read", "WebFetch"])):
        settings.write_text(json.dumps({"permissions": {"deny": rules}}), "utf-8")
        os.utime(settings, (1_770_000_000 + number, 1_770_000_000 + number))
        import_histories(ledger, [logs], Settings(jobs=0))
    with aix.open(ledger) as opened:
        book = opened.rule_book
        assert {rule.text for rules in book.rules.values() for rule in rules} == {"Read", "WebFetch"}
        assert sorted(opened.sql("select rule from v_rules").rows()) == [("Read",), ("WebFetch",)]
        assert len(opened.sql("select rule from permission_rules").rows()) == 3, "what was there stays known"
