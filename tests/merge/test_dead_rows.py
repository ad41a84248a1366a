"""Families that changed stay in their old files, marked as dead, until these are written again."""

import json
import re
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest

from aix.derived.derived_data import DerivedData
from aix.errors import LedgerDamagedError, LedgerTooNewError
from aix.health import Status, check
from aix.merge import groups
from aix.merge.forget import forget
from aix.merge.ledger_merge import join_ledger
from aix.merge.merge_rows import Addition, Part, gather
from aix.merge.replacement import without_sessions
from aix.merge.rewriting import tidy_groups, untidy_groups
from aix.merge.row_batches import Delivery
from aix.merge.selection import Selection
from aix.reading.export import export_parquet
from aix.reading.ledger import open_ledger
from aix.schema import SCHEMA_VERSION, TABLES
from aix.store import manifest
from aix.store.commit import Change, commit
from aix.store.locks import staging_folder
from aix.store.manifest import count_rows, files_of, manifest_path, read_latest, read_manifest
from tests import ROOT
from tests.merge.test_groups import conversation
from tests.support.changes import FunctionStep
from tests.support.row_batches import as_text, deliver, dump, rows_of
from tests.support.sample_ledger import batch_from_rows

pytestmark = pytest.mark.long

FIXTURES = ROOT / "fixtures"
ABOUT_A = "text of a-0"

STARTED = sha256(b'{"kind":"run_started"}').hexdigest()
_EVENT = as_text([(STARTED, "e" * 64, "run_started", None, None, None, None, None, None, '{"kind":"run_started"}')])
_EDGE = '{"edge":"EVENT_PRODUCES","src":"e","dst":"n-1"}'
SAMPLE_GRAPH_SINCE_6 = {
    "dag_events": _EVENT,
    "dag_nodes": as_text([("Message", "n-1", 0, None, '{"role":"user","node":"Message","id":"n-1"}')]),
    "dag_edges": as_text([(5680259581976390504, "EVENT_PRODUCES", None, "e", None, "n-1", None, None, _EDGE)]),
    "chat_agents": as_text([("agent-1", "Helper", *[None] * 3, "user-1", *[None] * 5, True, *[None] * 4)]),
    "chat_participants": as_text([("part-1", "conv-1", "agent", None, "agent-1", *[None] * 8)]),
    "chat_users": as_text([("user-1", "Ada", *[None] * 4)]),
    "programs": as_text([("model-x", "model", None, '{"modelId":"model-x"}', None)]),
}
"""Rows of the sample ledger as version 6 has them."""
GRAPH_SINCE_6 = {
    "dag_events": _EVENT,
    "dag_nodes": as_text(
        [
            ("Message", "n-1", 0, None, '{"content":[],"role":"user","node":"Message","id":"n-1"}'),
            ("Policy", "n-2", 5, None, '{"node":"Policy","id":"n-2","valid_from":"1970-01-01T00:00:00.005Z"}'),
        ]
    ),
    "dag_edges": as_text(
        [
            (
                *(7, "DERIVED_FROM", None, "n-1", None, "n-2", None, None),
                '{"why":"x","edge":"DERIVED_FROM","src":"n-1","dst":"n-2"}',
            )
        ]
    ),
}
CHATS_SINCE_6 = {
    "chat_agents": as_text([("agent-1", "Helper", *[None] * 14)]),
    "chat_participants": SAMPLE_GRAPH_SINCE_6["chat_participants"],
}


@pytest.fixture(autouse=True)
def no_merging(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small groups are otherwise put together with every change, and nothing stays dead for long."""
    monkeypatch.setattr(groups, "_TIMES_LARGER", 0)


@pytest.fixture
def thinned(tmp_path: Path) -> Path:
    """A ledger in which the first form of session `a` is dead, beside `b`, `c` and `d`, which never changed."""
    ledger = tmp_path / "ledger"
    deliver(ledger, *(conversation(name) for name in "abcd"))
    deliver(ledger, conversation("a", 2))
    [dead] = read_latest(ledger).dead.values()
    assert len(dead.components) == 1
    assert dead.rows == {"turns": 1, "threads": 1, "messages": 1, "requests": 1, "sessions": 1, "session_history": 1}
    return ledger


def plain(folder: Path, a_turns: int = 2) -> dict[str, list[str]]:
    """The rows of a ledger that got the same sessions at once."""
    deliver(folder, conversation("a", a_turns), *(conversation(name) for name in "bcd"))
    assert not read_latest(folder).dead
    return dump(folder)


def holds(ledger: Path, text: str) -> bool:
    """Whether any row of any file of the ledger has that text, dead or not, also in the cache."""
    return any(text in str(pq.read_table(path).to_pylist()) for path in ledger.rglob("*.parquet"))


def broken_checks(ledger: Path) -> set[str]:
    return {finding.name for finding in check(ledger) if finding.status is Status.ALARM}


def test_dead_rows_are_in_the_files_and_in_no_answer(thinned: Path, tmp_path: Path) -> None:
    version = read_latest(thinned)
    assert sum(segment.rows for segment in version.tables["sessions"]) == 5
    assert count_rows(version, "sessions") == 4
    assert dump(thinned) == plain(tmp_path / "plain")
    ledger = open_ledger(thinned)
    assert sorted(ledger.table("sessions").select("label").collect()["label"]) == ["a", "b", "c", "d"]
    assert ledger.table("sessions").collect().columns == list(TABLES["sessions"].column_names)


@pytest.mark.parametrize("engine", ["DuckDB", "polars", "pyarrow"])
def test_the_filter_that_the_page_shows_gives_the_live_rows(thinned: Path, engine: str) -> None:
    page = (FIXTURES.parent / "docs" / "ledger.md").read_text("utf-8")
    preparation, own = (re.search(rf"{words}:\n\n```py\n(.*?)```", page, re.DOTALL) for words in ("all files", engine))
    assert preparation
    assert own
    program = (preparation[1] + own[1]).replace("LEDGER", str(thinned))
    found: dict[str, Any] = {}
    exec(program, found)
    turns = found["turns"]
    rows = turns.fetchall() if engine == "DuckDB" else turns.collect().rows() if engine == "polars" else None
    listed = rows if rows is not None else [tuple(row.values()) for row in turns.to_pylist()]
    assert as_text(listed) == dump(thinned)["turns"]


def test_older_versions_still_show_what_is_dead_now(thinned: Path) -> None:
    before = open_ledger(thinned).at(1)
    turns = before.sql("select turn_id from v_turn_messages order by all").rows()
    assert turns == [("a-0",), ("b-0",), ("c-0",), ("d-0",)]
    assert before.sql("select count(*) from turns").rows() == [(4,)]
    assert open_ledger(thinned).sql("select count(*) from turns").rows() == [(5,)]


def test_cached_rows_of_dead_families_are_left_out(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    deliver(ledger, *(conversation(name) for name in "abcd"))
    query = "select request_id from v_requests order by all"
    assert open_ledger(ledger).sql(query).rows() == [("r-a-0",), ("r-b-0",), ("r-c-0",), ("r-d-0",)]
    deliver(ledger, conversation("a", 2))
    assert read_latest(ledger).dead
    files = {path: path.stat().st_mtime_ns for path in (ledger / "cache").glob("*/v_requests-*")}
    assert open_ledger(ledger).sql(query).rows() == [("r-a-0",), ("r-a-1",), ("r-b-0",), ("r-c-0",), ("r-d-0",)]
    assert {path: path.stat().st_mtime_ns for path in files} == files, "rows of the large group are not computed again"
    assert open_ledger(ledger).at(1).sql(query).rows() == [
        ("r-a-0",),
        ("r-b-0",),
        ("r-c-0",),
        ("r-d-0",),
    ]


def test_vacuum_gives_plain_files_again(thinned: Path, tmp_path: Path) -> None:
    assert len(untidy_groups(thinned)) == 2
    tidy_groups(thinned)
    version = read_latest(thinned)
    assert not version.dead
    assert not untidy_groups(thinned)
    for name, segments in version.tables.items():
        found = sum(pq.read_metadata(thinned / segment.path).num_rows for segment in segments)
        assert found == count_rows(version, name)
    assert dump(thinned) == plain(tmp_path / "plain")


def test_forgetting_one_session_leaves_no_byte_of_it_in_dead_rows(thinned: Path) -> None:
    open_ledger(thinned).sql("select count(*) from v_requests, v_turn_messages").rows()
    assert holds(thinned, ABOUT_A)
    forget(thinned, Selection(labels=["a"]))
    assert not holds(thinned, ABOUT_A)
    assert not holds(thinned, "a-0")
    assert not read_latest(thinned).dead


def test_what_stands_in_dead_rows_alone_is_forgotten_too(thinned: Path) -> None:
    forget(thinned, Selection(labels=["a"]))
    deliver(thinned, conversation("b", 2))
    [dead] = read_latest(thinned).dead.values()
    assert dead.rows["sessions"] == 1
    forget(thinned, Selection(labels=["nothing has this name"]))
    assert not read_latest(thinned).dead


def test_all_that_is_alive_in_a_group_grows_beside_what_is_dead(tmp_path: Path) -> None:
    large = conversation("x", 12)
    deliver(tmp_path / "grown", large, conversation("a"))
    deliver(tmp_path / "grown", conversation("a", 2))
    assert read_latest(tmp_path / "grown").dead
    deliver(tmp_path / "grown", conversation("x", 13), conversation("a", 3))
    deliver(tmp_path / "whole", conversation("x", 13), conversation("a", 3))
    assert dump(tmp_path / "grown") == dump(tmp_path / "whole")
    deliver(tmp_path / "other", large, conversation("a"))
    deliver(tmp_path / "other", conversation("a", 3))
    deliver(tmp_path / "other", conversation("x", 13))
    assert dump(tmp_path / "other") == dump(tmp_path / "whole")


def test_marks_of_dead_rows_do_not_come_back(tmp_path: Path) -> None:
    mark = {"table_name": "turns", "row_key": "a-0", "column_name": "started_at", "basis": "guess"}
    guessed = {**conversation("a"), "inferred_values": [mark]}
    deliver(tmp_path, guessed, *(conversation(name) for name in "bcd"))
    assert len(rows_of(tmp_path, "inferred_values")) == 1
    deliver(tmp_path, conversation("a"))
    assert read_latest(tmp_path).dead
    assert rows_of(tmp_path, "inferred_values") == []
    deliver(tmp_path, conversation("a", 2), conversation("b", 2))
    assert rows_of(tmp_path, "inferred_values") == []


def test_families_that_a_preparation_marks_as_dead_count(tmp_path: Path) -> None:
    names = [f"s{number}" for number in range(10)]
    deliver(tmp_path, *(conversation(name) for name in names))
    leaving = FunctionStep(lambda base, stage: without_sessions(base, stage, names[:9], []))
    with staging_folder(tmp_path) as folder:
        delivery = Delivery(folder)
        with delivery:
            rows = conversation("new")
            for name, listed in rows.items():
                delivery.add("source", TABLES[name], batch_from_rows(TABLES[name], listed))
        new = Addition(gather([Part(delivery.files())], folder / "gathered"))
        commit(tmp_path, Change(leaves=[leaving], adds=new, derived=DerivedData()))
    assert not read_latest(tmp_path).dead
    assert len(rows_of(tmp_path, "sessions")) == 2


def test_forgetting_a_session_removes_the_dead_rows_of_others_too(thinned: Path) -> None:
    forget(thinned, Selection(labels=["b"]))
    version = read_latest(thinned)
    assert not version.dead
    assert sum(segment.rows for segment in version.tables["sessions"]) == 3


def test_what_comes_back_as_it_was_is_alive_once(thinned: Path, tmp_path: Path) -> None:
    forget(thinned, Selection(labels=["a"]))
    deliver(thinned, conversation("a", 2))
    assert dump(thinned) == plain(tmp_path / "plain")


def test_an_export_has_live_rows_only(thinned: Path, tmp_path: Path) -> None:
    export_parquet(thinned, read_latest(thinned), tmp_path / "out", TABLES.values())
    exported = {
        name: as_text(rows) for name in TABLES if (rows := pl.read_parquet(tmp_path / "out" / f"{name}.parquet").rows())
    }
    assert exported == dump(thinned)


def test_a_ledger_with_dead_rows_is_joined_without_them(thinned: Path, tmp_path: Path) -> None:
    join_ledger(tmp_path / "joined", thinned)
    assert dump(tmp_path / "joined") == plain(tmp_path / "plain")


def test_the_check_finds_nothing_wrong_and_sees_what_is_lost(thinned: Path) -> None:
    assert broken_checks(thinned) == {"ulid_form"}, "ids are plain words here"
    version = read_latest(thinned)
    [group] = version.dead
    another = next(number for number in range(1, 5) if number not in version.dead[group].components)
    broken = json.loads(manifest_path(thinned, version.version).read_bytes())
    broken["version"] += 1
    broken["dead"][group]["components"].append(another)
    manifest_path(thinned, broken["version"]).write_text(json.dumps(broken))
    assert "append_only" in broken_checks(thinned)


def test_a_group_that_is_mostly_dead_is_written_again(tmp_path: Path) -> None:
    deliver(tmp_path, *(conversation(name) for name in "abcd"))
    for turns, name in enumerate("abc", 2):
        newest = deliver(tmp_path, conversation(name, turns))
    assert not newest.dead, "three of four families were dead"
    assert sum(segment.rows for segment in newest.tables["sessions"]) == 4


def test_the_list_of_dead_families_stays_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "_MOST_DEAD", 3)
    monkeypatch.setattr(groups, "_MOST_DEAD_IN_ALL", 4)
    names = [f"s{number:02}" for number in range(30)]
    deliver(tmp_path, *(conversation(name) for name in names[:15]))
    deliver(tmp_path, *(conversation(name) for name in names[15:]))
    longest = 0
    for name in [*names[:6], *names[15:20]]:
        newest = deliver(tmp_path, conversation(name, 2))
        sizes = [len(dead.components) for dead in newest.dead.values()]
        assert max(sizes, default=0) <= 3
        assert sum(sizes) <= 4
        longest = max(longest, sum(sizes))
    assert longest == 4
    assert len(dump(tmp_path)["sessions"]) == 30


def test_many_small_commits_leave_few_files_and_few_dead_families(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    deliver(tmp_path, *(conversation(f"old{number}", 3) for number in range(40)))
    for number in range(60):
        deliver(tmp_path, conversation(f"old{number % 40}", 4 + number), conversation(f"new{number}"))
    before = read_latest(tmp_path)
    tidy_groups(tmp_path)
    assert len(files_of(before)) <= 2 * len(files_of(read_latest(tmp_path)))
    assert len(manifest_path(tmp_path, before.version).read_bytes()) < 64 * 2**10


def test_a_number_is_never_given_twice(tmp_path: Path) -> None:
    highest = []
    for turns in range(1, 5):
        deliver(tmp_path, conversation("a", turns), conversation("b"))
        highest.append(read_latest(tmp_path).components)
    forget(tmp_path, Selection(labels=["a"]))
    deliver(tmp_path, conversation("a"))
    highest.append(read_latest(tmp_path).components)
    assert highest == sorted(set(highest))


def test_a_grouped_ledger_of_schema_4_is_numbered_by_the_first_commit(tmp_path: Path) -> None:
    ledger = Path(shutil.copytree(FIXTURES / "grouped_ledgers" / "schema_4", tmp_path / "ledger"))
    expected = json.loads((ledger / "expected.json").read_text("utf-8")) | SAMPLE_GRAPH_SINCE_6
    assert expected.pop("chat_mentions"), "version 6 stores them no longer"
    assert dump(ledger) == expected, "it is read as it is"
    deliver(ledger, conversation("later"))
    version = read_latest(ledger)
    assert version.schema_version == SCHEMA_VERSION
    for segments in version.tables.values():
        for segment in segments:
            names = pq.read_schema(ledger / segment.path).names
            assert (names[-1] == "component") == (segment.group is not None)
    later = {name: [row for row in rows if "later" not in row] for name, rows in dump(ledger).items()}
    assert {name: rows for name, rows in later.items() if rows} == expected
    deliver(ledger, conversation("a", 2))
    assert read_latest(ledger).dead, "a is dead beside b"
    assert len(dump(ledger)["sessions"]) == len(expected["sessions"]) + 1


def test_nodes_of_a_graph_of_schema_5_meet_later_ones_of_the_same_key(tmp_path: Path) -> None:
    """Their key changed with version 6, so the first commit has to put them into the indexes under the new one."""
    ledger = Path(shutil.copytree(FIXTURES / "grouped_ledgers" / "schema_5", tmp_path / "ledger"))
    expected = json.loads((ledger / "expected.json").read_text("utf-8")) | GRAPH_SINCE_6 | CHATS_SINCE_6
    assert read_latest(ledger).dead
    assert dump(ledger) == expected, "without the rows that are dead"
    deliver(ledger, conversation("later"))
    later = {name: [row for row in rows if "later" not in row] for name, rows in dump(ledger).items()}
    assert later == expected
    event = {"event_id": STARTED, "kind": "run_started", "payload_json": '{"kind":"run_started"}', "agent_id": "a-1"}
    known = {"kind": "Policy", "node_id": "n-2", "valid_from": 5, "payload_json": "{}", "valid_to": 6}
    new = known | {"valid_from": 7, "valid_to": None}
    deliver(ledger, {"dag_events": [event], "dag_nodes": [known, new]})
    assert [row["agent_id"] for row in rows_of(ledger, "dag_events")] == ["a-1"]
    nodes = rows_of(ledger, "dag_nodes")
    assert [(row["node_id"], row["valid_from"], row["valid_to"]) for row in nodes] == [
        ("n-1", 0, None),
        ("n-2", 5, 6),
        ("n-2", 7, None),
    ]


def test_a_ledger_of_schema_5_with_dead_rows_is_joined_without_them(tmp_path: Path) -> None:
    old = Path(shutil.copytree(FIXTURES / "grouped_ledgers" / "schema_5", tmp_path / "old"))
    deliver(tmp_path / "ledger", conversation("later"))
    join_ledger(tmp_path / "ledger", old)
    assert len(rows_of(tmp_path / "ledger", "dag_nodes")) == len(GRAPH_SINCE_6["dag_nodes"])


def test_rows_cached_before_the_ledger_was_numbered_are_not_used_after(tmp_path: Path) -> None:
    ledger = Path(shutil.copytree(FIXTURES / "grouped_ledgers" / "schema_4", tmp_path / "ledger"))
    query = "select request_id from v_requests where request_id like 'r-%' order by all"
    assert open_ledger(ledger).sql(query).rows() == [("r-a-0",), ("r-b-0",)]
    deliver(ledger, conversation("a", 2))
    assert read_latest(ledger).dead
    assert open_ledger(ledger).sql(query).rows() == [("r-a-0",), ("r-a-1",), ("r-b-0",)]


def test_vacuum_of_a_ledger_of_schema_4_shows_what_it_would_do(tmp_path: Path) -> None:
    ledger = Path(shutil.copytree(FIXTURES / "grouped_ledgers" / "schema_4", tmp_path / "ledger"))
    path = manifest_path(ledger, 2)
    content = json.loads(path.read_bytes())
    for index in content["indexes"].values():
        del index["sha256"]  # as the first releases with groups wrote it
    path.write_text(json.dumps(content))
    assert len(untidy_groups(ledger)) == 3


def test_a_release_that_knows_no_dead_rows_refuses_the_ledger(thinned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "SCHEMA_VERSION", 4)
    with pytest.raises(LedgerTooNewError):
        read_latest(thinned)


@pytest.mark.parametrize(
    ("dead", "problem"),
    [
        ({"nowhere": {"components": [1]}}, "has no files"),
        ({"GROUP": {"components": [10**9]}}, "never given"),
        ({"GROUP": {"components": [0]}}, "never given"),
        ({"GROUP": {"components": [1], "rows": {"turns": 1000}}}, "more rows"),
        ({"GROUP": {"components": [1], "rows": {"no_table": 1}}}, "more rows"),
        ({"GROUP": {"components": [-1]}}, "int"),
        ({"GROUP": {"components": ["1) or true --"]}}, "int"),
    ],
)
def test_a_list_of_dead_families_that_cannot_be_is_refused(
    thinned: Path, dead: dict[str, object], problem: str
) -> None:
    path = manifest_path(thinned, read_latest(thinned).version)
    content = json.loads(path.read_bytes())
    [group] = content["dead"]
    content["dead"] = {group if name == "GROUP" else name: value for name, value in dead.items()}
    path.write_text(json.dumps(content))
    with pytest.raises(LedgerDamagedError, match=problem):
        read_manifest(path)


def test_a_file_of_a_group_without_numbers_is_damage(thinned: Path) -> None:
    version = read_latest(thinned)
    for segment in version.tables["turns"]:
        rows = pq.read_table(thinned / segment.path).drop_columns("component")
        pq.write_table(rows, thinned / segment.path)
    content = json.loads(manifest_path(thinned, version.version).read_bytes())
    for each in content["tables"]["turns"]:
        each.pop("size_bytes")
    manifest_path(thinned, version.version).write_text(json.dumps(content))
    with pytest.raises(LedgerDamagedError, match="component"):
        deliver(thinned, conversation("a", 3))


def test_numbers_of_nodes_are_those_of_the_engine() -> None:
    from aix.store.nodes import node_number, node_of

    values = ["", "a", "näve", "x" * 1000, "'"]
    with duckdb.connect() as connection:
        for value in values:
            select = f"select {node_of(TABLES['turns'], 'value')} from (select $1 as value)"
            assert connection.execute(select, [value]).fetchall() == [(node_number("turns.id", value),)]
