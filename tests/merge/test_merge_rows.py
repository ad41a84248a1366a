"""Rows joined into a ledger: the ledger is a function of the set of what was joined into it."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from aix.errors import RowError
from aix.merge import groups
from aix.merge import merge_rows as addition
from aix.schema import TABLES
from aix.store.manifest import is_ledger, read_latest
from tests.merge.test_groups import conversation
from tests.support.conversations import message, request, session, turn
from tests.support.random_rows import Source, sources
from tests.support.row_batches import as_text, deliver, dump
from tests.support.sample_ledger import SAMPLE_ROWS, batch_from_rows

pytestmark = pytest.mark.long

EXAMPLES = int(os.environ.get("AIX_PROPERTY_EXAMPLES", "3"))


def test_the_sample_holds_what_follows_from_it(tmp_path: Path) -> None:
    deliver(tmp_path, SAMPLE_ROWS)
    expected = {
        name: as_text(tuple(row.values()) for row in batch_from_rows(TABLES[name], rows).to_pylist())
        for name, rows in SAMPLE_ROWS.items()
    }
    found = dump(tmp_path)
    for name, rows in expected.items():
        assert found[name] == rows, name
    assert found.keys() == expected.keys()


def test_joining_twice_adds_nothing(tmp_path: Path) -> None:
    first = deliver(tmp_path, SAMPLE_ROWS)
    assert deliver(tmp_path, SAMPLE_ROWS) == first


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data(), st.lists(sources(), min_size=2, max_size=4))
def test_order_split_and_repetition_do_not_show(data: st.DataObject, said: list[Source]) -> None:
    """Each source is told by its name, so that its marks stay with its rows however the sources are batched."""
    named = [(str(number), source) for number, source in enumerate(said)]
    order = data.draw(st.permutations(named))
    cut = data.draw(st.integers(0, len(named)))
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "_TIMES_LARGER", data.draw(st.sampled_from([0, 8])))  # with 0, dead rows stay
        together, one_by_one, split = (Path(folder) / name for name in ("together", "one_by_one", "split"))
        deliver(together, *named)
        for source in order:
            deliver(one_by_one, source)
        for part in (order[:cut], order[cut:], order[:1]):
            deliver(split, *part)
        if any(is_ledger(ledger) and read_latest(ledger).dead for ledger in (one_by_one, split)):
            event("there are dead rows")
        expected = dump(together)
        assert dump(one_by_one) == expected
        assert dump(split) == expected


def test_a_lesser_statement_changes_nothing_however_often_it_comes(tmp_path: Path) -> None:
    """Also when it says something of derived columns."""
    deliver(tmp_path, {"turns": [turn("T")], "messages": [message("m", "T", "user", content="long")]})
    lesser = {"messages": [message("m", "T", "user", content="lo", sequence=5)], "turns": [turn("T", status="failed")]}
    assert [deliver(tmp_path, lesser).version for _ in range(2)] == [1, 1]


@pytest.mark.parametrize("column", ["nobody", "status", "id"])
def test_what_cannot_be_inferred_is_refused(tmp_path: Path, column: str) -> None:
    mark = {"table_name": "turns", "row_key": "T", "column_name": column}
    with pytest.raises(RowError, match=f"turns.{column} cannot be inferred"):
        deliver(tmp_path, {"turns": [turn("T")], "inferred_values": [mark]})


def test_a_source_that_repeats_itself_gives_one_row_per_key(tmp_path: Path) -> None:
    block = {"id": 7, "message_id": "m", "idx": 0, "content": "a"}
    mark = {"table_name": "turns", "row_key": "T", "column_name": "started_at", "basis": "a"}
    rows = {
        "turns": [turn("T")],
        "messages": [message("m", "T", "user")],
        "message_codeblocks": [block, {**block, "content": "b"}],
        "inferred_values": [mark, {**mark, "basis": "b"}],
    }
    deliver(tmp_path, rows)
    found = dump(tmp_path)
    assert (len(found["message_codeblocks"]), len(found["inferred_values"])) == (1, 1)
    assert deliver(tmp_path, rows).version == 1


def test_a_large_delivery_is_divided_into_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addition, "LARGEST_BYTES", 5_000)
    monkeypatch.setattr(groups, "_TIMES_LARGER", 0)
    version = deliver(tmp_path / "divided", *(conversation(f"s{number}") for number in range(12)))
    assert len(version.indexes) > 3
    monkeypatch.undo()
    deliver(tmp_path / "whole", *(conversation(f"s{number}") for number in range(12)))
    assert dump(tmp_path / "divided") == dump(tmp_path / "whole")


def test_numbers_at_the_edge_of_their_column_stop_nothing(tmp_path: Path) -> None:
    rows = {
        "turns": [turn("A", None, 2**63 - 1), turn("B", "A", 5), turn("C", "B", -(2**63))],
        "requests": [request(f"r{turn_id}", turn_id, input_tokens=-(2**62)) for turn_id in "ABC"],
        "sessions": [session("s", "C", 1)],
    }
    deliver(tmp_path, rows)
    assert len(dump(tmp_path)["threads"]) == 3
