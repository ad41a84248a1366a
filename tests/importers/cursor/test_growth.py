"""The rows of a ledger do not depend on when, from where and in which order conversations were imported."""

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from tests.importers.cursor.databases import (
    GLOBAL,
    Bubble,
    Row,
    answer,
    as_json,
    build,
    call,
    composer,
    import_here,
    prompt,
    sources_in,
    write_database,
)
from tests.support.row_batches import facts, rows_of

pytestmark = pytest.mark.long

SUMMARY = {"summary": "So far.", "truncationLastBubbleIdInclusive": "a2"}
HISTORY = [
    prompt("p1", 0, "One"),
    answer("a1", 2, thinking={"text": "hm"}),
    call("t1", 4, "run_terminal_cmd", params=as_json({"command": "ls"})),
    answer("a2", 6, "Done"),
    prompt("p2", 60, "Two"),
    call("t2", 62, "run_terminal_cmd", params=as_json({"command": "make"})),
    answer("a3", 64, "Made", tokenCount={"inputTokens": 9, "outputTokens": 3}),
    answer("s1", 70, capabilityType=22, conversationSummary=as_json(SUMMARY)),
    answer("a4", 72, "Going on"),
    prompt("p3", 120, "Three"),
    answer("a5", 122, "The end"),
]
COPY = [*HISTORY[:4], prompt("p4", 200, "Instead"), answer("a6", 202, "Fine")]


def rows_of_both(length: int) -> list[Row]:
    """Return a conversation as far as it has come, and another that began as a copy of it."""
    return [
        *composer("c-1", HISTORY[:length], name="First", lastUpdatedAt=1772442000000 + length),
        *composer("c-2", COPY[: max(4, length - 5)], name="Copy", createdAt=1772442100000),
    ]


def whole(bubbles: list[Bubble]) -> list[Row]:
    return composer("c-1", bubbles, name="First", lastUpdatedAt=1772442000000 + len(bubbles))


def statuses(ledger: Path, *places: Path) -> Counter[str]:
    return Counter({str(status): number for status, number in import_here(ledger, *places).statuses.items()})


@pytest.fixture(scope="module")
def at_once(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    folder = tmp_path_factory.mktemp("whole")
    write_database(folder / "tree" / GLOBAL, rows_of_both(len(HISTORY)))
    import_here(folder / "ledger", folder / "tree")
    return anywhere(folder)


def anywhere(folder: Path) -> dict[str, list[str]]:
    return {
        table: sorted(row.replace(str(folder), "") for row in rows) for table, rows in facts(folder / "ledger").items()
    }


def test_conversations_imported_while_they_were_held_are_those_imported_when_they_were_over(
    at_once: dict[str, list[str]], tmp_path: Path
) -> None:
    for length in (5, 9, len(HISTORY)):
        write_database(tmp_path / "tree" / GLOBAL, rows_of_both(length))
        import_here(tmp_path / "ledger", tmp_path / "tree")
    assert anywhere(tmp_path) == at_once


def test_what_has_not_changed_is_skipped_and_what_has_is_read_alone(tmp_path: Path) -> None:
    tree, ledger = tmp_path / "tree", tmp_path / "ledger"
    path = write_database(tree / GLOBAL, [*whole(HISTORY[:4]), *composer("c-9", [prompt("x1", 0, "Other")])])
    assert statuses(ledger, tree) == {"imported": 2}
    assert statuses(ledger, tree) == {"skipped": 2}
    write_database(path, whole(HISTORY))
    assert statuses(ledger, tree) == {"upserted": 1, "skipped": 1}


def test_vacuum_and_deletion_in_the_source_lose_nothing(at_once: dict[str, list[str]], tmp_path: Path) -> None:
    path = write_database(tmp_path / "tree" / GLOBAL, rows_of_both(len(HISTORY)))
    import_here(tmp_path / "ledger", tmp_path / "tree")
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("DELETE FROM cursorDiskKV WHERE key LIKE 'bubbleId:c-1:a%'")
        database.execute("VACUUM")
    import_here(tmp_path / "ledger", tmp_path / "tree")
    now = anywhere(tmp_path)
    for table in ("turns", "messages", "tool_calls"):
        assert {row.split(",")[0] for row in now[table]} == {row.split(",")[0] for row in at_once[table]}


def test_one_session_in_many_places_is_one_in_whichever_order_they_are_imported(tmp_path: Path) -> None:
    orders = ((0, 1, 2), (2, 1, 0))
    found = []
    for number, order in enumerate(orders):
        folder = tmp_path / str(number)
        tree = build(folder / "tree", "one_session_in_many_places")
        places = (tree / ".cursor", tree / "Cursor/User/globalStorage", tree / "Cursor/User/workspaceStorage")
        for place in order:
            import_here(folder / "ledger", places[place])
        found.append(anywhere(folder))
    assert found[0] == found[1]
    assert [row["label"] for row in rows_of(tmp_path / "0" / "ledger", "sessions")] == ["cursor:dup-1"]


def test_a_database_is_found_alike_alone_and_among_others(tmp_path: Path) -> None:
    tree = build(tmp_path / "tree", "agent_session")
    together = {source for source in sources_in(tree) if source.path.endswith(GLOBAL)}
    assert together == set(sources_in(tree / "Cursor/User/globalStorage"))
    assert all(source.sidecars for source in together)
