"""Tables of personas: kept with the hash of the file, and the same however rows and files came."""

import json
import shutil
from pathlib import Path

import pytest

import aix
from aix.errors import LedgerDamagedError, PersonasFileError
from aix.merge.forget import forget
from aix.merge.ledger_merge import join_ledger
from aix.merge.selection import Selection
from aix.merge.tagging import Entity, add_tag
from aix.permissions import derived_tables
from aix.personas.persona_tables import FILE_TABLES, VERDICTS
from aix.pipeline.run import Settings, import_histories
from aix.store.manifest import PRICE_TABLES, Manifest, read_latest
from aix_importers.claude_code.permissions.dialect import ClaudeCodeRules
from tests import ROOT
from tests.permissions.ledger import apply_personas
from tests.support.conversations import call, context, session, turn
from tests.support.row_batches import deliver, dump, facts
from tests.support.sample_conversation import Row

FILE = """
[personas.seller]
tools.deny = ["Bash(rm *)"]
[personas.baker]
tools.allow = ["Read"]
[[mappings]]
persona = "seller"
workspace = "/srv/shop"
[[mappings]]
persona = "baker"
workspace = "/srv/bakery"
"""
STRICTER = FILE.replace("Bash(rm *)", "Bash")
Rows = dict[str, list[Row]]


def conversation(name: str, folder: str, command: str = "rm -r cache", parent: str | None = None) -> Rows:
    """Return a session of one turn with a command; with a parent, that of a subagent."""
    head, call_id = f"turn-{name}", f"call-{name}"
    started = {} if parent is None else {"is_subagent": 1, "parent_session_label": parent}
    decision = {"call_id": call_id, "turn_id": head, "class": "exec", "raw_target": command, "outcome": "ran"}
    return {
        "turns": [turn(head, workspace_path=folder)],
        "turn_context": [{**context(head), "origin": "claude-code"}],
        "sessions": [{**session(name, head), "origin": "claude-code", "routing_key": f"ws:{folder}", **started}],
        "session_turns": [{"session_label": name, "turn_id": head}],
        "tool_calls": [{**call(call_id, head), "tool_name": "Bash", "params_json": json.dumps({"command": command})}],
        "permission_decisions": [decision],
    }


SHOP, BAKERY = conversation("shop", "/srv/shop"), conversation("bakery", "/srv/bakery")
CHILD = conversation("child", "/srv/bakery", "rm -r oven", parent="shop")


def write(folder: Path, text: str = FILE) -> Path:
    path = folder / "personas.toml"
    path.write_text(text)
    return path


def verdicts(ledger: Path) -> list[tuple[object, ...]]:
    with aix.open(ledger) as opened:
        return opened.sql("select call_id, persona_id, decision, rule from persona_verdicts order by 1").rows()


def tables_of_personas(version: Manifest) -> set[str]:
    return version.views.keys() & {*FILE_TABLES, VERDICTS}


OF_SHOP = ("call-shop", "seller", "deny", "Bash(rm *)")
OF_BAKERY = ("call-bakery", "baker", "unlisted", None)
OF_CHILD = ("call-child", "seller", "deny", "Bash(rm *)")


def test_the_file_changes_nothing_that_logs_say(tmp_path: Path) -> None:
    for name in ("with", "without"):
        deliver(tmp_path / name, SHOP, BAKERY)
    before = read_latest(tmp_path / "with")
    after = read_latest(apply_personas(tmp_path / "with", write(tmp_path)))
    assert {name: files for name, files in after.tables.items() if name not in PRICE_TABLES} == before.tables
    assert facts(tmp_path / "with") == facts(tmp_path / "without")
    assert verdicts(tmp_path / "with") == [OF_BAKERY, OF_SHOP]


@pytest.mark.long
def test_a_file_is_applied_once_again_when_it_changes_and_no_more_without_it(tmp_path: Path) -> None:
    ledger, file = tmp_path / "ledger", write(tmp_path)
    deliver(ledger, SHOP)
    first = read_latest(apply_personas(ledger, file))
    assert read_latest(apply_personas(ledger, file)) == first
    write(tmp_path, STRICTER)
    second = read_latest(apply_personas(ledger, file))
    assert (second.version, second.personas == first.personas) == (first.version + 1, False)
    assert verdicts(ledger) == [(*OF_SHOP[:3], "Bash")]
    last = read_latest(apply_personas(ledger, None))
    assert (last.personas, tables_of_personas(last)) == (None, set())
    assert last.views == {name: files for name, files in first.views.items() if name in last.views}


def test_a_commit_that_knows_no_file_keeps_the_personas_and_judges_new_calls(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    deliver(ledger, SHOP)
    before = read_latest(apply_personas(ledger, write(tmp_path)))
    add_tag(ledger, "good", [Entity("sessions", "shop")], 1)
    tagged = read_latest(ledger)
    assert [tagged.views.get(name) for name in FILE_TABLES] == [before.views.get(name) for name in FILE_TABLES]
    deliver(ledger, BAKERY)
    assert read_latest(ledger).personas == before.personas
    assert verdicts(ledger) == [OF_BAKERY, OF_SHOP]


@pytest.mark.parametrize("order", [(SHOP, CHILD), (CHILD, SHOP)], ids=["parent first", "subagent first"])
def test_a_subagent_is_judged_as_its_parent_whichever_comes_first(tmp_path: Path, order: tuple[Rows, Rows]) -> None:
    ledger = tmp_path / "ledger"
    deliver(ledger, order[0])
    apply_personas(ledger, write(tmp_path))
    deliver(ledger, order[1])
    assert verdicts(ledger) == [OF_CHILD, OF_SHOP]


@pytest.mark.long
def test_personas_stay_when_answers_of_rules_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = tmp_path / "ledger"
    deliver(ledger, SHOP, BAKERY)
    before = read_latest(apply_personas(ledger, write(tmp_path)))
    monkeypatch.setattr(ClaudeCodeRules, "version", ClaudeCodeRules.version + 1)
    add_tag(ledger, "good", [Entity("sessions", "shop")], 1)
    after = read_latest(ledger)
    assert (after.personas, after.views_made_by == before.views_made_by) == (before.personas, False)
    assert after.views[VERDICTS] != before.views[VERDICTS]
    assert verdicts(ledger) == [OF_BAKERY, OF_SHOP]
    with aix.open(ledger) as opened:
        assert opened.sql("select persona_id from v_session_personas order by 1").rows() == [("baker",), ("seller",)]


def test_forgetting_removes_the_verdicts_too(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    deliver(ledger, SHOP, BAKERY)
    apply_personas(ledger, write(tmp_path))
    forget(ledger, Selection(labels=["shop"]))
    assert verdicts(ledger) == [OF_BAKERY]
    left = [path for path in ledger.rglob("*") if path.is_file() and b"call-shop" in path.read_bytes()]
    assert left == []


@pytest.mark.long
def test_joining_a_ledger_leaves_its_personas_out(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    deliver(ours, SHOP)
    deliver(theirs, BAKERY)
    apply_personas(theirs, write(tmp_path))
    join_ledger(ours, theirs)
    assert read_latest(ours).personas is None
    assert verdicts(ours) == []
    join_ledger(theirs, ours)
    assert verdicts(theirs) == [OF_BAKERY, OF_SHOP]


def test_an_import_applies_the_file_also_when_nothing_else_is_new(tmp_path: Path) -> None:
    ledger, logs = tmp_path / "ledger", shutil.copytree(ROOT / "fixtures/session_log/two_turns", tmp_path / "logs")
    settings = Settings(jobs=0, personas=write(tmp_path))
    import_histories(ledger, [logs], Settings(jobs=0))
    assert read_latest(ledger).personas is None
    first = import_histories(ledger, [logs], settings).after
    assert first is not None
    assert tables_of_personas(first) >= {"personas", "persona_permissions", "persona_mappings"}
    assert import_histories(ledger, [logs], settings).after == first
    write(tmp_path, "[personas.seller]\ntool.deny = []")
    before = dump(ledger)
    with pytest.raises(PersonasFileError, match="no setting 'tool'"):
        import_histories(ledger, [logs], settings)
    kept = import_histories(ledger, [logs], Settings(jobs=0, keeps_personas=True))
    assert (kept.after, kept.has_other_personas) == (first, False)
    assert (read_latest(ledger), dump(ledger)) == (first, before)
    gone = import_histories(ledger, [logs], Settings(jobs=0)).after
    assert gone is not None
    assert tables_of_personas(gone) == set()


@pytest.mark.long
def test_odd_texts_come_through_the_tables(tmp_path: Path) -> None:
    odd = 'it\'s; drop table x -- \\ "q" 🖨 \u202e'
    file = tmp_path / "personas.toml"
    file.write_text(
        f"[personas.one]\nsoul = '''{odd}'''\ntools.deny = ['''Bash({odd})''']\ntemperature = 0.25\n", "utf-8"
    )
    deliver(tmp_path / "ledger", SHOP)
    apply_personas(tmp_path / "ledger", file)
    add_tag(tmp_path / "ledger", "good", [Entity("sessions", "shop")], 1)
    with aix.open(tmp_path / "ledger") as opened:
        assert opened.sql("select soul, temperature, has_tool_list from personas").rows() == [(odd, 0.25, False)]
        assert opened.sql("select value from persona_permissions").rows() == [(f"Bash({odd})",)]


def fork(name: str, parent: str, folder: str, origin: str = "claude-code", started_at: int = 5) -> Rows:
    """Return a session whose only own turn follows one of another session."""
    head = f"turn-{name}"
    return {
        "turns": [turn(head, parent, workspace_path=folder, started_at=started_at)],
        "turn_context": [{**context(head), "origin": origin}],
        "sessions": [{**session(name, head), "origin": origin, "routing_key": f"ws:{folder}"}],
        "session_turns": [{"session_label": name, "turn_id": head}],
    }


def test_forks_that_change_the_persona_are_judged_by_what_they_gain(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    forks = [
        fork("to-baker", "turn-shop", "/srv/bakery"),
        fork("to-seller", "turn-bakery", "/srv/shop"),
        fork("to-nobody", "turn-shop", "/elsewhere"),
        fork("to-same", "turn-shop", "/srv/shop/desk"),
        {**fork("of-workshop", "turn-bakery", "/srv/shop", "workshop", started_at=9)},
    ]
    deliver(ledger, SHOP, BAKERY, *forks)
    apply_personas(ledger, write(tmp_path, FILE.replace("[personas.baker]", "[personas.baker]\ncredentials = []")))
    with aix.open(ledger) as opened:
        rows = opened.query("permission_usage/persona_changes").dicts()
        found = {row["session_label"]: (row["status"], row["how"], row["gained"], row["gains"]) for row in rows}
        assert found == {
            "to-baker": ("ok", "fork", 0, None),
            "to-seller": ("alarm", "fork", 2, "every tool, every credential"),
            "to-nobody": ("skip", "fork", 0, None),
            "of-workshop": ("alarm", "fork", 2, "every tool, every credential"),
        }
        later = opened.query("permission_usage/persona_changes", since=6).dicts()
        assert [row["session_label"] for row in later] == ["of-workshop"]


def test_places_are_judged_in_the_form_that_calls_name_them(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    calls = {"home": "cat ~/docs/a", "drive": "cat C:/Docs/a", "etc": "cat /etc/passwd", "own": "cat notes.md"}
    deliver(ledger, *(conversation(name, "/srv/shop", command) for name, command in calls.items()))
    lists = "sandbox.read = ['workspace', '~/docs', 'c:/Docs']\n"
    apply_personas(ledger, write(tmp_path, FILE.replace("[personas.seller]", f"[personas.seller]\n{lists}")))
    with aix.open(ledger) as opened:
        rows = opened.query("permission_usage/persona_sandbox").dicts()
    assert [(row["status"], row["place"], row["calls"]) for row in rows] == [
        ("alarm", "/etc/passwd", 1),
        ("ok", None, 3),
    ]


def test_credentials_are_found_by_how_commands_name_them(tmp_path: Path) -> None:
    commands = {
        "NPM_TOKEN": "curl -H $NPM_TOKEN x",
        "X_SECRET": "echo ${!X_SECRET}",
        "WIN_PASSWORD": "echo $env:WIN_PASSWORD",
        "API_KEY": "printenv -0 API_KEY",
        "DB_PASSWORD": "type %DB_PASSWORD%",
        "SHOP_VALUE": "use $SHOP_VALUE",
        "none": "echo $HOME $KEYBOARD $TOKENS_LEFT_OVER $MONKEY",
        "no variable": "npm token list",
    }
    ledger = tmp_path / "ledger"
    deliver(ledger, *(conversation(name, "/srv/shop", command) for name, command in commands.items()))
    text = FILE.replace("[personas.seller]", "[personas.seller]\ncredentials = []")
    text = text.replace("[personas.baker]", "[personas.baker]\ncredentials = ['SHOP_VALUE']")
    apply_personas(ledger, write(tmp_path, text))
    with aix.open(ledger) as opened:
        rows = opened.query("permission_usage/persona_credentials").dicts()
    assert {(row["credential"], row["session_label"]) for row in rows} == {
        (name, name) for name in commands if name.isupper()
    }


@pytest.mark.long
def test_a_derivation_that_fails_loses_no_personas_for_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = tmp_path / "ledger"
    deliver(ledger, SHOP)
    before = read_latest(apply_personas(ledger, write(tmp_path)))

    def fail(*_: object, **__: object) -> None:
        raise LedgerDamagedError(ledger, "it cannot be split")

    with monkeypatch.context() as patch:
        patch.setattr(derived_tables, "derived_rows", fail)
        deliver(ledger, BAKERY)
    assert (read_latest(ledger).views, read_latest(ledger).personas) == ({}, None)
    add_tag(ledger, "good", [Entity("sessions", "shop")], 1)
    assert read_latest(ledger).personas is None, "so that the next import sees that the file is not applied"
    assert read_latest(apply_personas(ledger, write(tmp_path))).personas == before.personas
    assert verdicts(ledger) == [OF_BAKERY, OF_SHOP]
