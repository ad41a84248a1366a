"""Sessions of personas: the first mapping that fits, whoever started a subagent, else what the log states."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

import aix
from aix.pipeline.run import Settings, import_histories
from aix.reading.routing import resolve
from tests.permissions.ledger import apply_personas
from tests.support.conversations import context, session, turn
from tests.support.row_batches import deliver
from tests.support.sample_conversation import Row

FILE = """
[personas.seller]
[personas.baker]
[personas.anyone]
[personas.scout]
[personas.root]

[[mappings]]
persona = "scout"
agent = ["scout", "atlas"]

[[mappings]]
persona = "baker"
origin = "log"
workspace = "/srv/shop/bakery"

[[mappings]]
persona = "seller"
workspace = ["/srv/shop", 'C:\\shop']

[[mappings]]
persona = "anyone"
origin = "chat"

[[mappings]]
persona = "root"
origin = "roots"
workspace = "/"
"""


def of_folder(label: str, folder: str | None, origin: str = "log", **values: object) -> Row:
    routing = {} if folder is None else {"routing_key": f"ws:{folder}"}
    return {**session(label, f"t-{label}", origin=origin), **routing, **values}


def by(label: str, parent: str, call: str | None = None, **values: object) -> Row:
    own = {"is_subagent": 1, "parent_session_label": parent, "spawn_tool_call_id": call, **values}
    return {**of_folder(label, None), **own}


SESSIONS = [
    of_folder("shop", "/srv/shop"),
    of_folder("below", "/srv/shop/desk"),
    of_folder("bakery", "/srv/shop/bakery"),
    of_folder("bakery-chat", "/srv/shop/bakery", "chat"),
    of_folder("beside", "/srv/shopping"),
    of_folder("windows", "C:\\shop\\desk"),
    of_folder("chat", None, "chat"),
    of_folder("root", "/anywhere", "roots"),
    of_folder("atlas", "/srv/shop", persona_id="atlas"),
    by("child", "shop"),
    by("grandchild", "child", persona_id="helper"),
    by("scouting", "grandchild", "call-scout"),
    by("below-scout", "scouting"),
    by("child-in-bakery", "shop", routing_key="ws:/srv/shop/bakery"),
    by("orphan", "gone", routing_key="ws:/srv/shop"),
    by("of-nobody", "beside", persona_id="helper"),
    of_folder("by-first-turn", None),
]
EXPECTED: Mapping[str, tuple[str, str]] = {
    "shop": ("seller", "mapping"),
    "below": ("seller", "mapping"),
    "bakery": ("baker", "mapping"),
    "bakery-chat": ("seller", "mapping"),
    "beside": ("p", "log"),
    "windows": ("seller", "mapping"),
    "chat": ("anyone", "mapping"),
    "root": ("root", "mapping"),
    "atlas": ("scout", "mapping"),
    "child": ("seller", "parent"),
    "grandchild": ("seller", "parent"),
    "scouting": ("scout", "mapping"),
    "below-scout": ("scout", "parent"),
    "child-in-bakery": ("seller", "parent"),
    "orphan": ("seller", "mapping"),
    "of-nobody": ("helper", "log"),
    "by-first-turn": ("baker", "mapping"),
}


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("personas")
    heads = [turn(str(row["thread_id"])) for row in SESSIONS if row["label"] != "by-first-turn"]
    turns = [
        turn("t-first", workspace_path="/srv/shop/bakery", started_at=5),
        turn("t-by-first-turn", "t-first", workspace_path="/elsewhere", started_at=6),
    ]
    held = [{"session_label": "by-first-turn", "turn_id": row["id"]} for row in turns]
    held += [{"session_label": row["label"], "turn_id": row["thread_id"]} for row in SESSIONS[:-1]]
    spawning = {"call_id": "call-scout", "turn_id": "t-grandchild", "raw_target": "scout"}
    calls = {"id": "call-scout", "turn_id": "t-grandchild", "tool_name": "Task", "params_json": "{}"}
    deliver(
        folder / "ledger",
        {
            "turns": [*heads, *turns],
            "turn_context": [context(str(row["id"])) for row in (*heads, *turns)],
            "sessions": SESSIONS,
            "session_turns": held,
            "tool_calls": [{**calls, "status": "completed", "started_at": 1, "sequence": 0}],
            "permission_decisions": [spawning],
        },
    )
    file = folder / "personas.toml"
    file.write_text(FILE)
    return apply_personas(folder / "ledger", file)


def test_each_session_has_the_persona_that_the_rules_give_it(ledger: Path) -> None:
    found = aix.open(ledger).sql("select session_label, persona_id, basis from v_session_personas").rows()
    assert {label: rest for label, *rest in found} == {label: [*rest] for label, rest in EXPECTED.items()}


def test_a_subagent_that_a_mapping_names_breaks_the_invariant_and_no_other(ledger: Path) -> None:
    found = aix.open(ledger).query("health/persona_inherited").dicts()
    assert [row["row_id"] for row in found] == ["of-nobody", "scouting"]
    assert found[1]["reason"] == "It has the persona scout, and its parent grandchild has seller."


def test_main_sessions_follow_the_personas_in_force(ledger: Path) -> None:
    opened = aix.open(ledger)
    main = dict(opened.sql("select persona_id, session_label from v_main_sessions").rows())
    assert main == {
        "anyone": "chat",
        "baker": "bakery",
        "p": "beside",
        "root": "root",
        "scout": "atlas",
        "seller": "bakery-chat",
    }
    assert resolve(opened, "persona:baker").only().session_label == "bakery"


@pytest.mark.parametrize("named", ["child", "nick"])
@pytest.mark.long
def test_a_file_names_the_main_session_by_its_label_or_an_alias(ledger: Path, tmp_path: Path, named: str) -> None:
    copy = shutil.copytree(ledger, tmp_path / "ledger")
    deliver(
        copy, {"session_aliases": [{"alias": "nick", "session_label": "child", "created_at": 1, "reason": "manual"}]}
    )
    file = tmp_path / "personas.toml"
    file.write_text(FILE.replace("[personas.baker]", f'[personas.baker]\nmain = "{named}"\n'))
    opened = aix.open(apply_personas(copy, file))
    route = resolve(opened, "persona:baker").only()
    assert (route.session_label, route.thread_id) == ("child", "t-child")
    file.write_text(FILE.replace("[personas.baker]", '[personas.baker]\nmain = "nowhere"\n'))
    opened = aix.open(apply_personas(copy, file))
    assert resolve(opened, "persona:baker").only().session_label == "bakery"


def transcript(name: str, folder: str, *turns: str) -> str:
    """Return a log of Claude Code in which each prompt, whose record has its name, is answered by a command."""
    lines: list[Row] = []
    for minute, key in enumerate(turns):
        uuid = lines[-1]["uuid"] if lines else None
        for kind, record, parent in (("user", key, uuid), ("assistant", f"{key}-answer", key)):
            call = {"type": "tool_use", "id": f"call-{key}", "name": "Bash", "input": {"command": "rm -r x"}}
            message = {"role": kind, "content": key if kind == "user" else [call], "id": f"msg-{key}", "model": "m"}
            place = {"sessionId": name, "cwd": folder, "version": "2.1.40", "timestamp": f"2026-02-03T09:0{minute}:00Z"}
            lines.append({"type": kind, "uuid": record, "parentUuid": parent, **place, "message": message})
    return "".join(f"{json.dumps(line)}\n" for line in lines)


@pytest.mark.parametrize(("first", "fork"), [("a", "b"), ("b", "a")], ids=["before its fork", "after its fork"])
def test_a_fork_into_another_folder_has_the_persona_of_that_folder(tmp_path: Path, first: str, fork: str) -> None:
    logs, file = tmp_path / "logs", tmp_path / "personas.toml"
    logs.mkdir()
    (logs / f"{first}.jsonl").write_text(transcript(first, "/srv/shop", "one", "two"))
    (logs / f"{fork}.jsonl").write_text(transcript(fork, "/srv/wide", "one", "other"))
    (logs / "copy.jsonl").write_text(transcript("copy", "/srv/shop", "one"))
    file.write_text(
        "[personas.narrow]\ntools.deny = ['Bash(rm *)']\n[personas.wide]\n"
        "[[mappings]]\npersona = 'narrow'\nworkspace = '/srv/shop'\n"
        "[[mappings]]\npersona = 'wide'\nworkspace = '/srv/wide'\n"
    )
    import_histories(tmp_path / "ledger", [logs], Settings(jobs=0, personas=file))
    with aix.open(tmp_path / "ledger") as opened:
        found = opened.sql("select session_label, persona_id from v_session_personas").rows()
        assert {label.removeprefix("claude-code:"): persona for label, persona in found} == {
            first: "narrow",
            fork: "wide",
            "copy": "narrow",
        }
        decisions = dict(opened.sql("select call_id, decision from persona_verdicts").rows())
        assert (decisions["call-two"], decisions.get("call-other")) == ("deny", None)
        if first < fork:
            [change] = opened.query("permission_usage/persona_changes").dicts()
            assert (change["status"], change["gains"]) == ("alarm", "Bash(rm *) (denied before)")
