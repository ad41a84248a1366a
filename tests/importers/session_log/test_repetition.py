"""Entries that stand in a log more than once."""

from pathlib import Path

from aix.ids import ulid
from tests.importers.session_log.joining import said_together
from tests.importers.session_log.logs import entry, extract, extract_source, kinds, write_log
from tests.support.sample_conversation import Row

HISTORY = [entry("u1"), entry("a1", "assistant", "u1", 1), entry("u2", second=2), entry("a2", "assistant", "u2", 3)]
RESUMED = [
    *({**each, "sessionId": "resumed"} for each in HISTORY),
    entry("u3", second=4, session="resumed"),
    entry("a3", "assistant", "u3", 5, session="resumed"),
]


def turn_id(uuid: str) -> str:
    return ulid("turn", "session-log", uuid)


def read(tmp_path: Path, entries: list[dict[str, object]]) -> dict[str, list[Row]]:
    statements, _ = extract_source(write_log(tmp_path / "log.jsonl", entries))
    [tables] = statements.values()
    return tables


def turns_by_session(tables: dict[str, list[Row]]) -> set[tuple[object, object]]:
    return {(row["session_label"], row["turn_id"]) for row in tables["session_turns"]}


def test_a_session_that_repeats_the_entries_of_another_has_them_as_its_history(tmp_path: Path) -> None:
    tables = read(tmp_path, [*HISTORY, *RESUMED])
    parents = {row["id"]: row.get("parent_turn_id") for row in tables["turns"]}
    assert parents == {turn_id("u1"): None, turn_id("u2"): turn_id("u1"), turn_id("u3"): turn_id("u2")}
    assert turns_by_session(tables) == {
        *(("session-log:s", turn_id(uuid)) for uuid in ("u1", "u2")),
        *(("session-log:resumed", turn_id(uuid)) for uuid in ("u1", "u2", "u3")),
    }
    assert len(tables["messages"]) == 6
    assert {row["label"]: row["thread_id"] for row in tables["sessions"]} == {
        "session-log:s": turn_id("u2"),
        "session-log:resumed": turn_id("u3"),
    }


def test_a_history_is_the_same_in_one_file_and_in_two(tmp_path: Path) -> None:
    one, _ = extract(write_log(tmp_path / "one" / "log.jsonl", [*HISTORY, *RESUMED]))
    first = write_log(tmp_path / "two" / "a.jsonl", HISTORY)
    two, _ = extract(first, write_log(tmp_path / "two" / "b.jsonl", RESUMED))
    told_once, told_twice = said_together(one), said_together(two)
    for name in ("turns", "messages", "message_facts", "session_turns", "sessions"):
        assert {key: said for (table, key), said in told_once.items() if table == name} == {
            key: said for (table, key), said in told_twice.items() if table == name
        }, name


def test_a_line_that_a_session_leaves_for_another_ones_history_is_kept(tmp_path: Path) -> None:
    own = [entry("x", session="resumed"), entry("y", parent="x", session="resumed")]
    tables = read(tmp_path, [*own, *HISTORY, *RESUMED, *own, entry("z", parent="x", session="resumed")])
    parents = {row.get("parent_turn_id") for row in tables["turns"]}
    leaves = {row["id"] for row in tables["turns"]} - parents
    assert leaves <= {row["thread_id"] for row in tables["sessions"]}


def test_many_entries_of_one_uuid_become_few_copies_and_a_problem_each(tmp_path: Path) -> None:
    entries = [entry("u", message={"content": f"version {number}"}) for number in range(3_000)]
    statements, problems = extract_source(write_log(tmp_path / "log.jsonl", entries))
    assert len(statements) == 17
    assert kinds(problems) == ["duplicate_uuid"] * 2_999
    assert problems[-1].reason.endswith("it was skipped.")
