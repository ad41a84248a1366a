"""Tags: given to sessions and turns, kept whatever is imported, gone with what they were given to."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click
import duckdb
import pytest

import aix
from aix.errors import (
    AmbiguousIdError,
    TagError,
    UnknownIdError,
    UnknownNameError,
    UnknownSessionError,
    UnknownThingError,
)
from aix.merge.forget import forget
from aix.merge.rewriting import tidy_groups
from aix.merge.selection import Selection
from aix.merge.tagging import Entity, add_tag, remove_tag
from aix.pipeline.run import Settings, import_histories
from aix.query.packs import find_query
from aix.reading.export import export_parquet
from aix.schema import TABLES
from aix.store.manifest import read_latest
from tests.importers.session_log.logs import entry, write_log
from tests.merge.test_groups import conversation
from tests.support.changes import overtake
from tests.support.command_line import run_here
from tests.support.row_batches import deliver, dump, rows_of
from tests.support.sample_conversation import FIRST, MAIN, Row
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger

pytestmark = pytest.mark.long

A, B = Entity("sessions", "a"), Entity("sessions", "b")
TURN = Entity("turns", "a-0")


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    deliver(tmp_path / "ledger", conversation("a", 2), conversation("b"))
    return tmp_path / "ledger"


@pytest.fixture(scope="module")
def untagged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ledger = tmp_path_factory.mktemp("untagged")
    deliver(ledger, conversation("a"))
    return ledger


def tags(ledger: Path) -> list[tuple[str, str, str, int]]:
    return [(row["tag"], row["entity_type"], row["entity_id"], row["added_at"]) for row in rows_of(ledger, "tags")]


def test_a_tag_is_given_in_one_commit_and_nothing_else_changes(ledger: Path) -> None:
    before = dump(ledger)
    assert add_tag(ledger, "billing", [A, TURN], 5) == [A, TURN]
    assert read_latest(ledger).version == 2
    assert tags(ledger) == [("billing", "sessions", "a", 5), ("billing", "turns", "a-0", 5)]
    assert {name: rows for name, rows in dump(ledger).items() if name != "tags"} == before


def test_adding_twice_adds_nothing_and_keeps_the_first_time(ledger: Path) -> None:
    add_tag(ledger, "billing", [A], 5)
    assert add_tag(ledger, "billing", [A], 9) == []
    assert (read_latest(ledger).version, tags(ledger)) == (2, [("billing", "sessions", "a", 5)])
    assert add_tag(ledger, "billing", [A, B], 9) == [B]


def test_who_is_overtaken_says_what_was_done_in_the_end(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    overtake(monkeypatch, lambda: add_tag(ledger, "billing", [A], 5))
    assert add_tag(ledger, "billing", [A, B], 9) == [B]
    overtake(monkeypatch, lambda: remove_tag(ledger, "billing", [A]))
    assert remove_tag(ledger, "billing") == [B]
    assert read_latest(ledger).version == 5


def test_removing_takes_only_what_is_named(ledger: Path) -> None:
    add_tag(ledger, "billing", [A, B, TURN], 5)
    add_tag(ledger, "other", [A], 5)
    before = dump(ledger)
    assert remove_tag(ledger, "billing", [A]) == [A]
    assert tags(ledger) == [
        ("other", "sessions", "a", 5),
        ("billing", "sessions", "b", 5),
        ("billing", "turns", "a-0", 5),
    ]
    assert remove_tag(ledger, "billing", [A]) == []
    assert remove_tag(ledger, "billing") == [B, TURN]
    assert tags(ledger) == [("other", "sessions", "a", 5)]
    remove_tag(ledger, "other")
    assert dump(ledger) == {name: rows for name, rows in before.items() if name != "tags"}


def test_tags_can_be_taken_from_a_ledger_that_knows_no_groups(tmp_path: Path) -> None:
    write_ledger(tmp_path, SAMPLE_ROWS)
    assert remove_tag(tmp_path, "refactoring") == [Entity("sessions", MAIN)]
    assert rows_of(tmp_path, "tags") == []


def test_writers_at_the_same_time_lose_no_tag(ledger: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: add_tag(ledger, f"t{number}", [A, B], number), range(4)))
    assert len(tags(ledger)) == 8


def test_tags_go_with_what_is_forgotten_and_no_others(ledger: Path) -> None:
    add_tag(ledger, "billing", [A, B, TURN], 5)
    forget(ledger, Selection(labels=["a"]))
    assert tags(ledger) == [("billing", "sessions", "b", 5)]


ANYTHING: dict[str, list[Row]] = {
    "programs": [
        {"id": "ada", "program_type": "human", "config_json": '{"name":"Ada Byron"}'},
        {"id": "both", "program_type": "task"},
        {"id": "a", "program_type": "session"},
    ],
    "chat_users": [{"id": "both"}, {"id": "u"}],
    "chat_agents": [{"id": "bot"}],
    "chat_conversations": [{"id": "c"}],
    "dag_nodes": [
        {"kind": kind, "node_id": name, "valid_from": version, "payload_json": "{}"}
        for kind, name, version in (
            ("Run", "n", 0),
            ("Run", "n", 5),
            ("Message", "m" * 3, 0),
            ("Generation", "m" * 3, 0),
        )
    ],
    "dag_edges": [{"id": 77, "type": "t", "src": "n", "dst": "n", "payload_json": "{}"}],
    "chat_participants": [{"id": "seat", "conversation_id": "c", "kind": "user"}],
    "dag_events": [
        {
            "event_id": "f" * 64,
            "claimed_event_id": "e",
            "agent_id": "doer",
            "kind": "run_started",
            "payload_json": "{}",
        }
    ],
    "program_events": [{"event_id": "e" * 64, "claimed_event_id": "p", "kind": "TASK_CREATED", "payload_json": "{}"}],
}


def test_anything_that_has_an_id_can_have_a_tag(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deliver(ledger, ANYTHING)
    with aix.open(ledger) as opened:
        [(message,), *_] = opened.sql("select id from messages where role = 'user' order by 1").rows()
        assert opened.find_anything("a") == ("sessions", "a")
        assert opened.find_anything("program:a") == opened.find_anything("@(a)") == ("programs", "a")
        with pytest.raises(UnknownThingError) as near:
            opened.find_anything("adaa")
        with pytest.raises(AmbiguousIdError) as raised:
            opened.find_anything("both")
        assert opened.find_anything("node:Message/mmm") == ("dag_nodes", "Message/mmm")
        for name in ("mmm", "node:mmm"):
            with pytest.raises(AmbiguousIdError) as several:
                opened.find_anything(name)
            assert several.value.found == ("node:Generation/mmm", "node:Message/mmm")
        assert opened.find_anything("node:doer") == ("dag_nodes", "Agent/doer"), "which only an event implies"
        assert opened.find_anything("f" * 8) == opened.find_anything(f"event:{'f' * 12}…") == ("dag_events", "f" * 64)
        with pytest.raises(UnknownIdError) as unknown:
            opened.find_anything(f"event:{'f' * 7}")
        with pytest.raises(UnknownIdError) as unknown:
            opened.find_anything("node:nowhere")
    assert near.value.remedy.startswith("did you mean ada")
    assert "dag_nodes" in unknown.value.remedy
    assert raised.value.found == ("program:both", "user:both")
    names = ["ada", "user:both", "u", "bot", "c", "n", "e", "p", "seat", "edge:77", "node:doer", message]
    run_here("tag", "add", "x", *names, "--ledger", str(ledger))
    capsys.readouterr()
    expected = [
        ("programs", "ada"),
        ("chat_users", "both"),
        ("chat_users", "u"),
        ("chat_agents", "bot"),
        ("chat_conversations", "c"),
        ("dag_nodes", "Run/n"),
        ("dag_nodes", "Agent/doer"),
        ("chat_participants", "seat"),
        ("dag_edges", "77"),
        ("dag_events", "f" * 64),
        ("program_events", "e" * 64),
        ("messages", message),
    ]
    assert {(table, key) for _, table, key, _ in tags(ledger)} == set(expected)
    run_here("tag", "ls", "--ledger", str(ledger))
    assert "Ada Byron" in capsys.readouterr().out
    forget(ledger, Selection(labels=["a", "b"]))
    assert "messages" not in {table for _, table, _, _ in tags(ledger)}
    assert remove_tag(ledger, "x", [Entity("dag_nodes", "Run/n")]) == [Entity("dag_nodes", "Run/n")]


def tag_event(number: int, kind: str, node: str, *names: str, **more: object) -> Row:
    payload = json.dumps({"data": {"id": node, "tags": names}, **more})
    event = {"kind": kind, "program_id": node, "payload_json": payload, "occurred_at": number}
    return {"event_id": f"{number:064}", **event}


def test_tags_of_events_hold_in_any_order_of_import(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = [
        tag_event(1, "NodeTagged", "ada", "one", 'odd "],[ name'),
        tag_event(2, "NodeUntagged", "ada", "one"),
        tag_event(3, "NodeTagged", "ada", "one"),
        tag_event(4, "NodeTagged", "ada", "one", "gone"),
        tag_event(5, "NodeUntagged", "ada", "gone"),
        tag_event(6, "NodeTagged", "a", "work"),
        tag_event(7, "NodeTagged", "a-0", "work"),
        tag_event(8, "NodeTagged", "nowhere", tag="single"),
    ]
    listed = []
    for order, name in ((events, "one"), (events[::-1], "two")):
        ledger = tmp_path / name
        for event in order[::4]:
            deliver(ledger, conversation("a"), {"program_events": [event]})
        deliver(ledger, {"programs": ANYTHING["programs"][:1], "program_events": order})
        with aix.open(ledger) as opened:
            listed.append(opened.sql("select tag, entity_type, entity_id, added_at from v_tags order by all").rows())
            assert opened.sql("select count(*) from v_work_tags where tag = 'work'").rows() == [(2,)]
    assert listed[0] == listed[1]
    assert listed[0] == [
        ('odd "],[ name', "programs", "ada", 1),
        ("one", "programs", "ada", 3),
        ("single", "programs", "nowhere", 8),
        ("work", "sessions", "a", 6),
        ("work", "turns", "a-0", 7),
    ]
    capsys.readouterr()
    run_here("tag", "rm", "work", "a", "--ledger", str(tmp_path / "one"))
    assert "has it from an event" in capsys.readouterr().out


def test_what_another_writer_has_forgotten_gets_no_tag(ledger: Path) -> None:
    forget(ledger, Selection(labels=["a"]))
    with pytest.raises(UnknownNameError, match="'a'"):
        add_tag(ledger, "billing", [B, A], 5)
    assert tags(ledger) == []


def test_tags_survive_reading_anew_and_tidying_and_are_exported(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [entry("u-1"), entry("u-2", parent="u-1")])
    ledger = tmp_path / "ledger"
    import_histories(ledger, [log], Settings(jobs=0))
    [(label,)] = aix.open(ledger).sql("select label from sessions").rows()
    [(turn, *_), *_] = aix.open(ledger).turns(label).rows()
    add_tag(ledger, "billing", [Entity("sessions", label), Entity("turns", turn)], 5)
    expected = tags(ledger)
    import_histories(ledger, [log], Settings(jobs=0, reparse=True))
    assert tags(ledger) == expected
    tidy_groups(ledger)
    assert tags(ledger) == expected
    export_parquet(ledger, read_latest(ledger), tmp_path / "out", [TABLES["tags"]])
    with duckdb.connect() as connection:
        exported = connection.read_parquet(str(tmp_path / "out" / "tags.parquet")).fetchall()
    assert len(exported) == 2


@pytest.mark.parametrize("tag", ["", " ", "two\nlines", "\x1b[2J", "x" * 101, " edge", "\ud800"])
def test_what_cannot_be_a_tag_is_refused(tag: str, tmp_path: Path) -> None:
    with pytest.raises(TagError):
        add_tag(tmp_path / "untouched", tag, [A], 5)
    assert not list(tmp_path.iterdir())


def test_the_commands_name_sessions_and_turns_as_people_do(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*arguments: str) -> str:
        run_here("tag", *arguments, "--ledger", str(ledger))
        return capsys.readouterr().out

    assert json.loads(run("add", "für Ada", "b", "a-0", "b", "--json")) == [
        {"tag": "für Ada", "entity_type": "sessions", "entity_id": "b", "change": "added"},
        {"tag": "für Ada", "entity_type": "turns", "entity_id": "a-0", "change": "added"},
    ]
    assert "had it already" in run("add", "für Ada", "b")
    assert [line.split()[:3] for line in run("ls").splitlines()[::2]] == [["tag", "name", "title"], ["für", "Ada", "b"]]
    listed = json.loads(run("ls", "--tag", "für Ada", "--json"))
    assert [row["entity_id"] for row in listed] == ["b", "a-0"]
    assert list(listed[0]) == [column.name for column in find_query("overview/tags").columns]
    assert json.loads(run("ls", "--tag", "x", "--json")) == []
    removed = json.loads(run("rm", "für Ada", "b", "a", "--json"))
    assert [row["change"] for row in removed] == ["removed", "did not have it"]
    assert "a-0" in run("rm", "für Ada", "--everywhere")
    assert tags(ledger) == []


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["add", "x", "nobody"], UnknownSessionError, "there is no session, turn or other id named 'nobody'"),
        (["add", "", "a"], TagError, "'' cannot be a tag: it is empty"),
        (["add", "x"], click.UsageError, "Missing parameter: names"),
        (["rm", "x"], click.UsageError, "--everywhere"),
        (["rename"], click.UsageError, "There is no command 'rename'"),
    ],
)
def test_unclear_wishes_tag_nothing(untagged: Path, arguments: list[str], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        run_here("tag", *arguments, *(["--ledger", str(untagged)] if len(arguments) > 1 else []))
    assert message in str(raised.value)
    assert read_latest(untagged).version == 1


def test_tag_alone_shows_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    run_here("tag")
    assert "aix tag add billing" in capsys.readouterr().out


def test_the_tags_of_a_ledger_are_found_by_its_query(tmp_path: Path) -> None:
    write_ledger(tmp_path, SAMPLE_ROWS)
    add_tag(tmp_path, "early", [Entity("turns", FIRST)], 7)
    assert aix.open(tmp_path).query("overview/tags").rows() == [
        ("early", "turns", FIRST, None, 7),
        ("refactoring", "sessions", MAIN, "Rename a function", 5_000),
    ]
