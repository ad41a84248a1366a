"""A change touches the files that hold what it changes, and a version's list of files is exactly its rows."""

import os
import random
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aix.errors import LedgerDamagedError
from aix.merge import groups
from aix.schema import TABLES
from aix.store.index import Index, StoredIndex
from aix.store.manifest import (
    EntryFile,
    Manifest,
    count_rows,
    dead_in,
    groups_of,
    has_groups,
    manifest_path,
    read_latest,
    read_manifest,
)
from aix.store.segments import read_live_rows
from aix.store.views import create_views
from tests import ROOT
from tests.support.conversations import message, request, session, turn
from tests.support.row_batches import Rows, as_text, deliver, dump
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger

pytestmark = pytest.mark.long


def conversation(name: str, turns: int = 1) -> Rows:
    """A session with so many turns, of which each has a message and a request."""
    ids = [f"{name}-{number}" for number in range(turns)]
    return {
        "turns": [
            turn(turn_id, above, place) for place, (turn_id, above) in enumerate(zip(ids, [None, *ids], strict=False))
        ],
        "messages": [message(f"m-{turn_id}", turn_id, "user", content=f"text of {turn_id}") for turn_id in ids],
        "requests": [request(f"r-{turn_id}", turn_id, input_tokens=1) for turn_id in ids],
        "sessions": [session(name, ids[-1], turns)],
    }


def labels_by_group(ledger: Path, version: Manifest) -> list[set[str]]:
    """The sessions that lie together, group by group."""
    return [
        {
            label
            for segment in files.get("sessions", [])
            for rows in read_live_rows(ledger / segment.path, dead_in(version, segment), ["label"])
            for label in rows.column(0).to_pylist()
        }
        for files in groups_of(version.tables).values()
    ]


@pytest.fixture
def no_merging(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "_TIMES_LARGER", 0)


@pytest.mark.usefixtures("no_merging")
def test_a_grown_session_moves_to_a_group_of_its_own_and_then_only_that_is_rewritten(tmp_path: Path) -> None:
    first = deliver(tmp_path, conversation("a"), conversation("b"))
    other = deliver(tmp_path, conversation("c"))
    assert {segment for segments in first.tables.values() for segment in segments} <= {
        segment for segments in other.tables.values() for segment in segments
    }, "a new session leaves all files as they are"
    grown = deliver(tmp_path, conversation("a", 2))
    assert sorted(labels_by_group(tmp_path, grown), key=sorted) == [{"a"}, {"b"}, {"c"}]
    again = deliver(tmp_path, conversation("a", 3))
    kept = set(groups_of(grown.tables)) & set(groups_of(again.tables))
    assert len(kept) == 2, "the groups of b and c are as they were"
    assert [len(dead.components) for dead in again.dead.values()] == [1], "a is dead where it was with b"


@pytest.mark.usefixtures("no_merging")
def test_rows_that_tie_two_families_bring_them_together(tmp_path: Path) -> None:
    deliver(tmp_path, conversation("a"))
    deliver(tmp_path, conversation("b"))
    tied = deliver(tmp_path, {"turns": [turn("b-0", "a-0", 0)]})
    assert labels_by_group(tmp_path, tied) == [{"a", "b"}]


@pytest.mark.usefixtures("no_merging")
def test_what_is_not_changed_stays_where_it_is_although_it_came_again(tmp_path: Path) -> None:
    deliver(tmp_path, conversation("a"), conversation("b"))
    newest = deliver(tmp_path, conversation("a"), conversation("b", 2))
    assert sorted(labels_by_group(tmp_path, newest), key=sorted) == [{"a"}, {"b"}]
    deliver(tmp_path, conversation("c"))
    assert deliver(tmp_path, conversation("a"), conversation("c", 2)).version == 4
    assert {"a"} in labels_by_group(tmp_path, read_latest(tmp_path))


def test_small_groups_are_put_together(tmp_path: Path) -> None:
    for number in range(9):
        newest = deliver(tmp_path, conversation(f"s{number}"))
    assert len(newest.indexes) < 4
    assert sorted(label for labels in labels_by_group(tmp_path, newest) for label in labels) == [
        f"s{number}" for number in range(9)
    ]


def test_groups_beyond_the_largest_size_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "LARGEST_BYTES", 1)
    for number in range(6):
        newest = deliver(tmp_path, conversation(f"s{number}"))
    assert len(newest.indexes) == 6


def test_every_node_is_in_one_index(tmp_path: Path) -> None:
    for number in range(3):
        newest = deliver(tmp_path, conversation(f"s{number}", 3), conversation("shared", number + 1))
    nodes = [node for index in newest.indexes.values() for node in StoredIndex(tmp_path, index).whole.nodes.to_pylist()]
    assert len(nodes) == len(set(nodes)) == sum(index.entries for index in newest.indexes.values())


@pytest.mark.usefixtures("no_merging")
def test_every_node_that_is_alive_is_in_one_index(tmp_path: Path) -> None:
    for number in range(3):
        newest = deliver(tmp_path, conversation(f"s{number}", 3), conversation("shared", number + 1))
    assert newest.dead
    nodes = [
        node
        for name, index in newest.indexes.items()
        for node in StoredIndex(
            tmp_path, index, newest.dead[name].components if name in newest.dead else ()
        ).whole.nodes.to_pylist()
    ]
    assert len(nodes) == len(set(nodes))


@pytest.mark.usefixtures("no_merging")
def test_plain_readers_that_leave_out_dead_rows_see_what_the_views_show(tmp_path: Path) -> None:
    deliver(tmp_path, SAMPLE_ROWS)
    for turns in (1, 3, 2, 4):
        deliver(tmp_path, conversation("a", turns), conversation(f"other-{turns}"))
    paths = sorted((tmp_path / "versions").glob("*.json"))
    assert [bool(read_manifest(path).dead) for path in paths] == [False, False, True, True, True]
    for path in paths:
        version = read_manifest(path)
        dead = [number for each in version.dead.values() for number in each.components]
        with duckdb.connect() as connection:
            create_views(connection, tmp_path, version)
            for name in TABLES:
                viewed = as_text(connection.table(name).fetchall())
                files = [str(tmp_path / segment.path) for segment in version.tables.get(name, ())]
                if not files:
                    assert not viewed
                    continue
                assert count_rows(version, name) == len(viewed)
                frame = pl.scan_parquet(files, hive_partitioning=False)
                rows = frame.filter(~pl.col("component").is_in(dead)).drop("component").collect().rows()
                assert as_text(rows) == viewed
                dataset = ds.dataset(files, format="parquet")
                table = dataset.to_table(filter=~ds.field("component").isin(dead)).drop_columns("component")
                assert as_text(tuple(row.values()) for row in table.to_pylist()) == viewed
                listed = ", ".join(f"'{file}'" for file in files)
                live = f"select * exclude (component) from read_parquet([{listed}]) where component not in"
                numbers = ", ".join(map(str, [0, *dead]))
                assert as_text(connection.execute(f"{live} ({numbers})").fetchall()) == viewed


@pytest.mark.parametrize("schema", [1, 2, 3])
def test_a_ledger_without_groups_is_taken_up_whole(tmp_path: Path, schema: int) -> None:
    fixture = ROOT / "fixtures" / "ledgers" / f"schema_{schema}"
    for file in fixture.rglob("*.parquet"):
        target = tmp_path / file.relative_to(fixture)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.read_bytes())
    manifest_path(tmp_path, 1).parent.mkdir()
    manifest_path(tmp_path, 1).write_bytes(manifest_path(fixture, 1).read_bytes())
    before = dump(tmp_path)
    newest = deliver(tmp_path, conversation("later"))
    assert has_groups(newest)
    after = {name: [row for row in rows if "later" not in row] for name, rows in dump(tmp_path).items()}
    assert {name: len(rows) for name, rows in after.items() if rows and name != "session_history"} == {
        name: len(rows) for name, rows in before.items() if name != "session_history"
    }


def test_an_old_form_of_a_written_ledger_is_the_same_as_its_rows_delivered(tmp_path: Path) -> None:
    write_ledger(tmp_path / "old", SAMPLE_ROWS)
    deliver(tmp_path / "old", conversation("new"))
    deliver(tmp_path / "new", SAMPLE_ROWS, conversation("new"))
    assert dump(tmp_path / "old") == dump(tmp_path / "new")


def stored(path: Path, index: Index) -> StoredIndex:
    path.write_bytes(index.to_bytes())
    return StoredIndex(path.parent, EntryFile(path.name, len(index)))


def test_an_index_is_what_was_written(tmp_path: Path) -> None:
    index = Index.of({5: 1, 2**64 - 1: 9, 1: 1})
    read = stored(tmp_path / "i", index).whole
    assert read.nodes.to_pylist() == [1, 5, 2**64 - 1]
    assert read.components(read.nodes).to_pylist() == [1, 1, 9]
    assert len(stored(tmp_path / "empty", Index.of({})).whole) == 0


@given(
    st.sets(st.integers(0, 2**64 - 1) | st.integers(0, 200)), st.sets(st.integers(0, 2**64 - 1) | st.integers(0, 200))
)
def test_looking_up_finds_what_comparing_finds(nodes: set[int], wanted: set[int]) -> None:
    index = Index.of({node: node // 3 for node in nodes})
    with TemporaryDirectory() as folder:
        file = stored(Path(folder) / "index", index)
        for node in wanted | set(list(nodes)[:5]):
            place = file._place_of(node)
            assert (place is not None) == (node in nodes)
            if place is not None:
                assert file._numbers(place, 1)[0] == node
        values = pa.array(wanted, pa.uint64())
        assert set(file.families_of(values).to_pylist()) == {node // 3 for node in wanted & nodes}


def test_a_few_nodes_are_looked_up_without_reading_the_index(tmp_path: Path) -> None:
    dice = random.Random(1)
    nodes = sorted({dice.getrandbits(64) for _ in range(50_000)})
    file = stored(tmp_path / "index", Index.of({node: node for node in nodes}))
    wanted = [*nodes[::1_000], 7, 2**63]
    assert set(file.families_of(pa.array(wanted, pa.uint64())).to_pylist()) == set(nodes[::1_000])
    assert "whole" not in file.__dict__


def test_an_index_that_is_cut_short_is_named(tmp_path: Path) -> None:
    file = stored(tmp_path / "index", Index.of({node: node for node in range(10)}))
    os.truncate(tmp_path / "index", 90)
    with pytest.raises(LedgerDamagedError, match="index"):
        file.families_of(pa.array([3], pa.uint64()))
    with pytest.raises(LedgerDamagedError, match="nowhere"):
        StoredIndex(tmp_path, EntryFile("nowhere", 3)).families_of(pa.array([3], pa.uint64()))
