"""Rules are in force as the latest reading of their file shows them, in every table and view about rules."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import aix
from aix.importing.run import Settings, import_histories
from aix.permissions.derivation import read_rule_book
from aix.reading.ledger import Ledger

CLAUDE, CURSOR, PERSONAS = "{}/.claude/settings.json", "{}/.cursor/cli.json", "{}/programs.json"
GONE = None


def rules(*denied: str) -> str:
    return json.dumps({"permissions": {"deny": denied}})


def personas(*names: str) -> str:
    tools = {name: {"permissions": {"tools": {"deny": [f"tool_of_{name}"]}}} for name in names}
    return json.dumps([{"id": name, "programType": "agent", "config": tools[name]} for name in names])


STATES: dict[str, tuple[str, tuple[str | None, ...], set[str]]] = {
    "one_taken_out": (CLAUDE, (rules("Bash(make *)", "Read"), rules("Read", "WebFetch")), {"Read", "WebFetch"}),
    "all_taken_out": (CLAUDE, (rules("Bash(make *)", "Read"), rules()), set()),
    "no_permissions": (CLAUDE, (rules("Read"), "{}"), set()),
    "null_permissions": (CLAUDE, (rules("Read"), '{"permissions": null, "model": "any"}'), set()),
    "came_back": (CLAUDE, (rules("Read"), "{}", rules("Read")), {"Read"}),
    "moved_to_another_day": (CLAUDE, (rules("Read"), rules("Read")), {"Read"}),
    "cursor_all_taken_out": (CURSOR, (rules("Shell(make)"), rules()), set()),
    "cursor_no_permissions": (CURSOR, (rules("Shell(make)"), "{}"), set()),
    "cursor_null_permissions": (CURSOR, (rules("Shell(make)"), '{"permissions": null}'), set()),
    "persona_taken_out": (PERSONAS, (personas("ada", "bob"), personas("bob")), {"tool_of_bob"}),
    "all_personas_taken_out": (PERSONAS, (personas("ada", "bob"), "[]"), set()),
    "deleted": (CLAUDE, (rules("Read"), GONE), {"Read"}),
    "empty": (CLAUDE, (rules("Read"), ""), {"Read"}),
    "broken": (CLAUDE, (rules("Read"), '{"permissions": ['), {"Read"}),
    "unusable_entry": (CLAUDE, (rules("Read"), '{"permissions": {"deny": [7]}}'), {"Read"}),
    "cursor_broken": (CURSOR, (rules("Shell(make)"), '{"permissions": []}'), {"Shell(make)"}),
}
"""By folder: a file, what it held at one moment after the other, and what is in force in the end."""


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    folder = tmp_path_factory.mktemp("in_force")
    for moment in range(3):
        for name, (form, states, _) in STATES.items():
            file = folder / "logs" / form.format(name)
            file.parent.mkdir(parents=True, exist_ok=True)
            if moment < len(states):
                write(file, states[moment], 1_770_000_000 + moment)
        import_histories(folder / "ledger", [folder / "logs"], Settings(jobs=0))
    with aix.open(folder / "ledger") as opened:
        yield opened


def write(file: Path, content: str | None, at: int) -> None:
    if content is None:
        file.unlink()
    else:
        file.write_text(content, "utf-8")
        os.utime(file, (at, at))


@pytest.mark.parametrize("name", STATES)
def test_rules_are_in_force_as_the_latest_whole_reading_of_their_file_shows_them(ledger: Ledger, name: str) -> None:
    form, _, expected = STATES[name]
    of_the_file = f"where contains(file, '/{form.format(name)}')"
    assert {rule for (rule,) in ledger.sql(f"select rule from rules_in_force {of_the_file}").rows()} == expected
    assert {rule for (rule,) in ledger.sql(f"select rule from v_rules {of_the_file}").rows()} == expected
    assert ledger.sql(f"select count(*) > 0 from permission_rules {of_the_file}").rows() == [(True,)]


def test_the_book_has_what_the_table_has(ledger: Ledger) -> None:
    book = read_rule_book(ledger._connection)
    known = {(rule.file, rule.text) for listed in book.rules.values() for rule in listed}
    assert known == set(ledger.sql("select file, rule from rules_in_force").rows())
