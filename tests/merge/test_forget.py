"""Forgetting leaves nothing of what was forgotten, and everything else as it was."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import aix
from aix.health import check
from aix.ids import h63
from aix.merge.forget import Forgotten, forget
from aix.merge.selection import Selection, count_rules, select_before, select_match, select_source
from aix.reading.names import find_session
from aix.store.locks import staging_folder
from aix.store.manifest import manifest_paths, read_latest
from aix.store.views import create_views
from tests.support.conversations import call, context, message, request, session, turn
from tests.support.row_batches import Rows, deliver, dump, rows_of
from tests.support.sample_conversation import ABANDONED, MAIN, OTHER, SUBAGENT, Row
from tests.support.sample_ledger import SAMPLE_ROWS

pytestmark = pytest.mark.long

SECRET = 'correct horse "battery" staple\n日本'


def conversation(name: str, text: str, first: str | None = None) -> Rows:
    """A session of two turns, the first of which may be another session's, with the text in every place there is."""
    ids = [first or f"{name}-1", f"{name}-2"]
    own = ids if first is None else ids[1:]
    return {
        "turns": [
            turn(turn_id, above, place + 1, workspace_path=text)
            for place, (turn_id, above) in enumerate(zip(ids, [None, *ids], strict=False))
            if turn_id in own
        ],
        "turn_context": [context(turn_id, situation=text) for turn_id in own],
        "threads": [{"turn_id": turn_id, "persona_id": text} for turn_id in own],
        "messages": [message(f"m-{turn_id}", turn_id, "user", content=text, thinking=text) for turn_id in own],
        "message_files": [
            {"id": h63(turn_id), "message_id": f"m-{turn_id}", "kind": "read", "file_path": text} for turn_id in own
        ],
        "message_codeblocks": [
            {"id": h63(turn_id), "message_id": f"m-{turn_id}", "idx": 0, "content": text} for turn_id in own
        ],
        "message_lints": [{"id": h63(turn_id), "message_id": f"m-{turn_id}", "message": text} for turn_id in own],
        "tool_calls": [
            call(f"c-{turn_id}", turn_id, params_json=text, result_json=text, error=text) for turn_id in own
        ],
        "permission_decisions": [
            {"call_id": f"c-{turn_id}", "turn_id": turn_id, "raw_target": text} for turn_id in own
        ],
        "requests": [request(f"r-{turn_id}", turn_id, cwd=text) for turn_id in own]
        + [request(f"side-{name}", None, session_label=name, cwd=text)],
        "sessions": [session(name, ids[-1], task_description=text)],
        "session_context": [{"label": name, "title": text}],
        "session_aliases": [{"alias": f"{name} {text}", "session_label": name, "created_at": 1}],
        "session_turns": [{"session_label": name, "turn_id": turn_id} for turn_id in ids],
        "tags": [
            {"entity_type": "sessions", "entity_id": name, "tag": text, "added_at": 1},
            {"entity_type": "turns", "entity_id": own[0], "tag": text, "added_at": 1},
        ],
        "file_paths": [{"file_path": text, "workspace_path": "/", "relative_path": text}],
        "import_runs": [{"id": "run", "started_at": 1, "tool_version": "1"}],
        "import_sources": [{"source_key": f"key-{name}", "importer": "test", "path": f"/logs/{name}.jsonl"}],
        "import_log": [
            {"run_id": "run", "source_key": f"key-{name}", "seq": 0, "session_label": name, "status": "imported"}
        ],
        "import_problems": [
            {"run_id": "run", "source_key": f"key-{name}", "seq": 0, "kind": "k", "reason": text, "sample": text}
        ],
        "inferred_values": [
            {"table_name": "turns", "row_key": own[-1], "column_name": "started_at", "basis": text},
        ],
    }


def bytes_of(ledger: Path) -> Iterator[bytes]:
    for path in ledger.rglob("*"):
        if path.is_file():
            yield path.read_bytes()


def connect(ledger: Path) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    create_views(connection, ledger, read_latest(ledger))
    return connection


def forget_session(ledger: Path, name: str) -> Forgotten:
    with connect(ledger) as connection:
        selection = Selection(labels=[find_session(connection, name)])
    return forget(ledger, selection)


@pytest.fixture
def marker() -> str:
    """A text that compression cannot hide in so small a file: it is looked for in the rows, and in raw bytes."""
    return "Zq9" * 4


def test_forgetting_a_session_leaves_none_of_its_text_in_any_file(tmp_path: Path, marker: str) -> None:
    deliver(tmp_path, conversation("keep", "harmless"))
    deliver(tmp_path, conversation("gone", marker))
    deliver(tmp_path, conversation("gone", marker + " grown"))
    with staging_folder(tmp_path) as living:
        (living / "note").write_text("of another process that is at work")
        dead = tmp_path / "staging" / "dead"
        dead.mkdir()
        (dead / "messages.parquet").write_text(marker)
        (tmp_path / "data" / "messages-orphan.parquet").write_text(marker)
        forgotten = forget_session(tmp_path, "gone")
        assert (living / "note").exists()
    assert forgotten.sessions == ["gone"]
    assert not any(marker.encode() in content for content in bytes_of(tmp_path))
    assert not any(marker in row for rows in dump(tmp_path).values() for row in rows)
    assert manifest_paths(tmp_path) == [tmp_path / "versions" / f"{read_latest(tmp_path).version:010}.json"]


def test_what_is_left_is_as_if_the_session_had_never_been_there(tmp_path: Path) -> None:
    kept = [conversation("keep", "harmless"), SAMPLE_ROWS]
    deliver(tmp_path / "all", conversation("gone", SECRET), *kept)
    deliver(tmp_path / "kept", *kept)
    forgotten = forget_session(tmp_path / "all", "gone")
    left = dump(tmp_path / "all")
    left["import_sources"] = [row for row in left["import_sources"] if "key-gone" not in row]
    assert left == dump(tmp_path / "kept")
    assert forgotten.rows["messages"] == 2
    assert forgotten.rows["tags"] == 2
    assert forgotten.rows["import_problems"] == 1


def test_a_turn_that_another_session_shares_stays_with_it(tmp_path: Path) -> None:
    deliver(tmp_path, conversation("one", "text of one"))
    deliver(tmp_path, conversation("fork", "text of fork", first="one-1"))
    forgotten = forget_session(tmp_path, "one")
    assert forgotten.sharing_sessions == {"fork": 1}
    assert [row["id"] for row in rows_of(tmp_path, "turns")] == ["fork-2", "one-1"]
    assert [row["label"] for row in rows_of(tmp_path, "sessions")] == ["fork"]
    assert {row["id"]: row["has_children"] for row in rows_of(tmp_path, "turns")} == {"one-1": 1, "fork-2": 0}
    forget_session(tmp_path, "fork")
    assert "turns" not in dump(tmp_path)


def test_subagents_go_with_the_session_that_spawned_them(tmp_path: Path) -> None:
    deliver(tmp_path, SAMPLE_ROWS)
    assert forget_session(tmp_path, MAIN).sessions == sorted([MAIN, SUBAGENT])
    left = dump(tmp_path)
    assert [row["label"] for row in rows_of(tmp_path, "sessions")] == [ABANDONED]
    assert len(left["turns"]) == 2, "the abandoned branch and the turn before it"


def test_a_subagent_can_go_alone_and_the_call_no_longer_names_it(tmp_path: Path) -> None:
    deliver(tmp_path, SAMPLE_ROWS)
    assert forget_session(tmp_path, SUBAGENT).sessions == [SUBAGENT]
    calls = {row["id"]: row["spawned_session_label"] for row in rows_of(tmp_path, "tool_calls")}
    assert calls == {"call_1": None, "call_2": None}
    assert {row["label"] for row in rows_of(tmp_path, "sessions")} == {MAIN, ABANDONED}


def test_sessions_are_found_by_source(tmp_path: Path) -> None:
    deliver(
        tmp_path,
        conversation("a", "x"),
        conversation("b", "y"),
        {"session_context": [{"label": "b", "raw_path": "/raw/b"}]},
    )
    with connect(tmp_path) as connection:
        assert select_source(connection, Path("/logs/a.jsonl")).labels == ["a"]
        assert select_source(connection, Path("/logs")).labels == ["a", "b"]
        assert select_source(connection, Path("/raw/b")).labels == ["b"]
        assert select_source(connection, Path("/log")).labels == []


def rule(file: str, text: str, scope: str = "user") -> Row:
    times = {"first_seen_at": 1, "last_seen_at": 1}
    return {"origin": "claude-code", "scope": scope, "file": file, "kind": "deny", "rule": text, "position": 0, **times}


PLACES_OF_RULES = {
    "/conf/settings.json": {"/conf/settings.json"},
    "/conf/": {"/conf/settings.json"},
    "/p.jsonl": {"/p.jsonl#ada"},
    "/": {"/conf/settings.json", "/conf2/settings.json", "/p.jsonl#ada"},
    "/conf/settings": set[str](),
}


def test_rules_go_with_their_settings_file_and_stay_in_others(tmp_path: Path) -> None:
    rules = [
        rule("/conf/settings.json", "Bash(rm:*)"),
        rule("/conf2/settings.json", "Bash(rm:*)"),
        rule("/p.jsonl#ada", "Bash(ls)", "persona"),
    ]
    called = {
        "turns": [turn("T")],
        "turn_context": [context("T", origin="claude-code")],
        "sessions": [session("s", "T", origin="claude-code")],
        "messages": [message("M", "T", "assistant")],
        "tool_calls": [call("C", "T", message_id="M", tool_name="Bash", params_json='{"command": "rm x"}')],
        "permission_decisions": [{"call_id": "C", "turn_id": "T", "class": "exec", "raw_target": "rm x"}],
        "import_sources": [{"source_key": each["file"], "importer": "i", "path": each["file"]} for each in rules],
        "import_problems": [
            {"run_id": "run", "source_key": each["file"], "seq": 0, "kind": "k", "reason": "r"} for each in rules
        ],
        "permission_rules": rules,
    }
    deliver(tmp_path, called)
    with connect(tmp_path) as connection:
        for place, found in PLACES_OF_RULES.items():
            assert count_rules(connection, select_source(connection, Path(place))) == dict.fromkeys(found, 1)
        selection = select_source(connection, Path("/conf/settings.json"))
    assert forget(tmp_path, selection).rows == {"permission_rules": 1, "import_problems": 1}
    stays = {"/conf2/settings.json", "/p.jsonl#ada"}
    assert {row["file"] for row in rows_of(tmp_path, "permission_rules")} == stays
    assert {row["source_key"] for row in rows_of(tmp_path, "import_problems")} == stays
    with aix.open(tmp_path) as opened:
        assert {file for (file,) in opened.sql("select file from rules_in_force").rows()} == stays
        assert opened.sql("select file from rule_matches").rows() == [("/conf2/settings.json",)]
        assert opened.sql("select decision, file from rule_verdicts").rows() == [("deny", "/conf2/settings.json")]


def test_sessions_are_found_by_age(tmp_path: Path) -> None:
    deliver(tmp_path, {"turns": [turn("T")], "sessions": [session("old", "T", 5), session("new", "T", 9)]})
    with connect(tmp_path) as connection:
        assert select_before(connection, 9).labels == ["old"]


@pytest.mark.parametrize(
    "column", ["messages.content", "tool_calls.result_json", "session_context.title", "message_lints.message"]
)
def test_sessions_are_found_by_a_text_in_any_place(tmp_path: Path, column: str) -> None:
    name, _, _ = column.partition(".")
    whole = conversation("gone", "nothing")
    rows = [{**row, column.partition(".")[2]: f"a {SECRET} b"} for row in whole[name]]
    deliver(tmp_path, {**whole, name: rows}, conversation("keep", "harmless"))
    with connect(tmp_path) as connection:
        assert select_match(connection, SECRET).labels == ["gone"]


def test_a_text_in_json_is_found_as_json_writes_it(tmp_path: Path) -> None:
    deliver(
        tmp_path,
        {
            "turns": [turn("T")],
            "sessions": [session("s", "T")],
            "tool_calls": [call("c", "T", result_json='{"a":"say \\"hi\\""}')],
        },
    )
    with connect(tmp_path) as connection:
        assert select_match(connection, 'say "hi"').labels == ["s"]


def test_a_match_leaves_the_text_nowhere(tmp_path: Path, marker: str) -> None:
    stray = {
        "turns": [turn("orphan", workspace_path=marker)],
        "chat_users": [{"id": "u", "name": marker}, {"id": "v", "name": "Ada"}],
        "dag_events": [{"event_id": "e", "kind": "k", "payload_json": marker}],
    }
    deliver(tmp_path, conversation("gone", marker), conversation("keep", "harmless"), stray)
    with connect(tmp_path) as connection:
        selection = select_match(connection, marker)
    assert (selection.labels, selection.turns) == (["gone"], ["orphan"])
    forget(tmp_path, selection)
    assert not any(marker.encode() in content for content in bytes_of(tmp_path))
    assert [row["id"] for row in rows_of(tmp_path, "chat_users")] == ["v"]
    assert [row["label"] for row in rows_of(tmp_path, "sessions")] == ["keep"]


def test_forgetting_nothing_changes_nothing(tmp_path: Path) -> None:
    version = deliver(tmp_path, conversation("keep", "harmless"))
    forgotten = forget(tmp_path, Selection(labels=["nobody"]))
    assert (forgotten.sessions, forgotten.rows) == ([], {})
    assert read_latest(tmp_path) == version


def test_a_forgotten_session_can_be_imported_again(tmp_path: Path) -> None:
    deliver(tmp_path, conversation("a", "x"), conversation("b", "y"))
    before = dump(tmp_path)
    forget_session(tmp_path, "a")
    deliver(tmp_path, conversation("a", "x"))
    assert dump(tmp_path) == before


def hard_findings(ledger: Path) -> list[str]:
    return [finding.name for finding in check(ledger) if finding.status == "alarm"]


@pytest.mark.parametrize("label", [MAIN, ABANDONED, SUBAGENT])
def test_the_invariants_hold_whatever_was_forgotten(tmp_path: Path, label: str) -> None:
    deliver(tmp_path, SAMPLE_ROWS)
    forget_session(tmp_path, label)
    assert hard_findings(tmp_path) == []


def test_an_abandoned_branch_goes_although_the_log_of_another_session_has_it(tmp_path: Path) -> None:
    deliver(tmp_path, SAMPLE_ROWS)
    assert forget_session(tmp_path, ABANDONED).rows["turns"] == 1
    assert OTHER not in [row["id"] for row in rows_of(tmp_path, "turns")]


def test_rows_of_turns_and_calls_that_never_came_go_too(tmp_path: Path, marker: str) -> None:
    dangling = {
        "sessions": [session("gone", "T")],
        "session_turns": [{"session_label": "gone", "turn_id": "U"}],
        "messages": [message("m", "T", "user", content=marker), message("n", "U", "user", content=marker)],
        "requests": [request("r", "T", session_label="gone", cwd=marker)],
        "permission_decisions": [{"call_id": "nowhere", "turn_id": "U", "raw_target": marker}],
    }
    deliver(tmp_path, dangling, conversation("keep", "harmless"))
    forget_session(tmp_path, "gone")
    assert not any(marker in row for rows in dump(tmp_path).values() for row in rows)


def test_words_of_the_schema_are_no_text_to_match(tmp_path: Path) -> None:
    deliver(tmp_path, SAMPLE_ROWS, conversation("other", "x"))
    with connect(tmp_path) as connection:
        for word in ("normal", "active", "user", "model-x", "started_at", "completed"):
            assert select_match(connection, word).labels == [], word


def test_a_match_in_what_was_inferred_takes_no_conversation_along(tmp_path: Path) -> None:
    mark = {"table_name": "turns", "row_key": "T", "column_name": "started_at", "basis": "neighbours"}
    deliver(tmp_path, {"turns": [turn("T")], "sessions": [session("s", "T")], "inferred_values": [mark]})
    with connect(tmp_path) as connection:
        forget(tmp_path, select_match(connection, "neighbours"))
    assert [row["label"] for row in rows_of(tmp_path, "sessions")] == ["s"]
