"""The rows of an export depend on its records alone: on no order, no split into files, and no number of imports."""

import json
import os
import random
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aix.importing import Ties
from aix.pipeline.report import Status
from aix.pipeline.run import Settings, import_histories
from aix_importers.chat import ChatImporter
from tests.importers.chat.exports import (
    FIXTURES,
    START,
    all_records,
    chat,
    extract,
    sources_in,
    write_document,
    write_lines,
    written_at,
)
from tests.importers.session_log.joining import said_together
from tests.support.row_batches import facts, rows_of

EXAMPLES = settings(
    max_examples=int(os.environ.get("AIX_PROPERTY_EXAMPLES", "8")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
WHOLE = json.loads((FIXTURES / "triage_routes_to_two_agents" / "input" / "export.json").read_text("utf-8"))
OWNED = json.loads((FIXTURES / "owners_and_changes" / "input" / "export.json").read_text("utf-8"))
EXPORT = {name: [*WHOLE.get(name, ()), *OWNED.get(name, ())] for name in WHOLE.keys() | OWNED.keys()}


def said(*paths: Path) -> dict[tuple[str, object], object]:
    """Return what exports that are read together say about every row, but for where they lie."""
    rows = said_together(extract(*paths)[0])
    return {where: row for where, row in rows.items() if where[0] != "session_context"}


@given(seed=st.integers(0, 2**32), count=st.integers(1, 5))
@EXAMPLES
def test_any_order_and_any_split_give_the_same_rows(tmp_path: Path, seed: int, count: int) -> None:
    choice = random.Random(seed)
    records = [*all_records(EXPORT), *choice.sample(all_records(EXPORT), 5)]
    choice.shuffle(records)
    files: list[list[tuple[str, Mapping[str, object]]]] = [[] for _ in range(count)]
    for record in records:
        choice.choice(files).append(record)
    folder = tmp_path / f"{seed}-{count}"
    for number, listed in enumerate(files):
        if choice.random() < 0.5:
            write_lines(folder / f"{number}.jsonl", [record for _, record in listed])
        else:
            collections = {name: [record for of, record in listed if of == name] for name, _ in listed}
            write_document(folder / f"{number}.json", collections)
    assert said(folder) == said(write_document(tmp_path / "whole.json", EXPORT))


def import_here(ledger: Path, *places: Path) -> dict[Status, int]:
    report = import_histories(ledger, places, Settings(jobs=0))
    assert report.failures == []
    return dict(report.statuses)


def test_files_of_one_export_are_tied_and_those_of_others_are_not(tmp_path: Path) -> None:
    paths = [write_lines(tmp_path / f"{name}.jsonl", records) for name, records in chat("c").items()]
    other = {name: [{**each, "_id": f"{each['_id']}2"} for each in records] for name, records in chat("d").items()}
    for record in other["participants"]:
        record.update(dict.fromkeys({"userId", "agentId"} & record.keys(), "someone"))
    paths.append(write_document(tmp_path / "other.json", other))
    ties = {
        each.source.name: set(each.numbers)
        for each in ChatImporter().extract(sources_in(*paths))
        if isinstance(each, Ties)
    }
    *own, foreign = (ties[str(path)] for path in paths)
    reached = own.pop()
    while near := next((each for each in own if each & reached), None):
        own.remove(near)
        reached |= near
    assert own == []
    assert not foreign & reached


@pytest.mark.long
def test_files_that_come_one_by_one_give_the_same_ledger(tmp_path: Path) -> None:
    export = chat("grown", 3)
    names = list(export)
    for name, records in export.items():
        write_lines(tmp_path / "export" / f"{name}.jsonl", records)
    at_once, one_by_one = tmp_path / "at-once", tmp_path / "one-by-one"
    assert import_here(at_once, tmp_path / "export") == {Status.IMPORTED: len(names)}
    assert import_here(at_once, tmp_path / "export") == {Status.SKIPPED: len(names)}
    for name in ("messages", "users", "participants"):
        import_here(one_by_one, tmp_path / "export" / f"{name}.jsonl")
    import_here(one_by_one, tmp_path / "export")
    assert facts(one_by_one) == facts(at_once)


@pytest.mark.long
def test_an_export_that_grows_gives_the_ledger_of_the_whole(tmp_path: Path) -> None:
    grown, once = tmp_path / "grown", tmp_path / "once"
    lines = "".join(f"{json.dumps(record)}\n" for _, record in reversed(all_records(EXPORT)))
    path = tmp_path / "logs" / "chat.jsonl"
    path.parent.mkdir()
    for end in (len(lines) // 3, len(lines) // 2 + 7, len(lines)):
        path.write_text(lines[:end], "utf-8")
        import_here(grown, path.parent)
    import_here(once, path.parent)
    assert facts(grown) == facts(once)


@pytest.mark.long
def test_a_document_that_is_written_again_adds_to_what_it_said(tmp_path: Path) -> None:
    grown, once = tmp_path / "grown", tmp_path / "once"
    path = write_document(tmp_path / "logs" / "chat.json", chat("c", 2))
    import_here(grown, path.parent)
    write_document(path, chat("c", 4))
    import_here(grown, path.parent)
    import_here(once, path.parent)
    assert facts(grown) == facts(once)


@pytest.mark.long
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_newest_record_of_a_thing_counts_in_any_order(tmp_path: Path, order: tuple[int, int]) -> None:
    old, new = chat("c"), chat("c")
    old["users"][0].update(name="Ann of long ago", image="https://example.com/ann.png")
    old["conversations"][0]["title"] = "A long early title"
    old["agents"][0].update(public=True, private=False, personality="You are one of many.", invitedUsers=["bo"])
    old["participants"][1].update(isRemoved=True, removedAt=START + 1, removedBy="bo")
    new["conversations"][0]["title"] = "New"
    new["agents"][0].update(public=False, private=True)
    new["participants"][1]["isRemoved"] = False
    files = [written_at(START, write_document(tmp_path / "old.json", old))]
    files.append(written_at(START + 1000, write_document(tmp_path / "new.json", new)))
    for place in order:
        import_here(tmp_path / "ledger", files[place])

    def found(table: str) -> dict[str, object]:
        return next(row for row in rows_of(tmp_path / "ledger", table) if row["id"] in ("ann", "one", "c", "c-one"))

    agent, membership = found("chat_agents"), found("chat_participants")
    assert found("chat_users")["name"] == "Ann"
    assert found("chat_users")["image"] is None
    assert found("chat_conversations")["title"] == "New"
    assert (agent["is_public"], agent["is_private"]) == (False, True)
    assert (agent["personality"], agent["invited_users"]) == ("You are one.", None)
    assert (membership["is_removed"], membership["removed_at"], membership["removed_by"]) == (False, None, None)


@given(seed=st.integers(0, 2**32))
@EXAMPLES
def test_random_bytes_stop_nothing(tmp_path: Path, seed: int) -> None:
    choice = random.Random(seed)
    data = bytearray(choice.choice([json.dumps(EXPORT).encode(), _as_lines()]))
    for _ in range(choice.randrange(1, 12)):
        data[choice.randrange(len(data))] = choice.choice(b'{}[]",:\\\x00\xff\xc3\n7a')
    path = tmp_path / "export.jsonl"
    path.write_bytes(data)
    extract(path)  # which raises nothing


def _as_lines() -> bytes:
    return "".join(chain.from_iterable((json.dumps(record), "\n") for _, record in all_records(EXPORT))).encode()
