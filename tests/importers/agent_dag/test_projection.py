"""The rows inside the records of an export: what is written comes back, and nothing else can be written."""

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aix.canonical_json import canonical_form
from aix.schema import TABLES
from aix.schema.extensions import IMPORT_TABLES
from aix.store.manifest import PRICE_TABLES
from aix.store.nodes import is_derived
from aix_importers.agent_dag.projection import CARRIED_TABLES, UnusableRow, carry, rows_of_record, structured
from tests.importers.agent_dag.exports import GRAPH_TABLES, carried_rows, export, records, stated_rows
from tests.support.random_rows import Source, sources
from tests.support.row_batches import deliver
from tests.support.sample_conversation import MAIN
from tests.support.sample_ledger import SAMPLE_ROWS

NOT_EXPORTED = {*GRAPH_TABLES, *PRICE_TABLES, "embeddings", *(table.name for table in IMPORT_TABLES)}


def carried(folder: Path) -> dict[str, list[Mapping[str, object]]]:
    found: dict[str, list[Mapping[str, object]]] = defaultdict(list)
    for record in records(folder):
        if "aix" not in record:
            continue
        for each in rows_of_record(record):
            assert not isinstance(each, UnusableRow), each
            found[each[0]].append(each[1])
    return found


def assert_nothing_is_lost(ledger: Path, folder: Path) -> None:
    found = carried(export(ledger, folder))
    stated = stated_rows(ledger)
    for name in CARRIED_TABLES:
        assert carried_rows(name, found[name]) == stated[name], name


def test_every_table_of_histories_is_carried() -> None:
    histories = {name for name, table in TABLES.items() if not is_derived(table)}
    assert histories - NOT_EXPORTED == CARRIED_TABLES


def test_every_row_is_in_one_record(tmp_path: Path) -> None:
    deliver(tmp_path / "ledger", SAMPLE_ROWS)
    assert_nothing_is_lost(tmp_path / "ledger", tmp_path / "out")
    # One session alone has its own rows, whatever else is in the ledger.
    one = list(records(export(tmp_path / "ledger", tmp_path / "one", MAIN)))
    assert [record["id"] for record in one if record.get("node") == "Run"] == [MAIN]


@pytest.mark.long
@given(given=sources())
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_rows_without_a_session_are_not_lost(tmp_path_factory: pytest.TempPathFactory, given: Source) -> None:
    folder = tmp_path_factory.mktemp("rows")
    deliver(folder / "ledger", {**given, "chat_users": [{"id": "u"}]})
    assert_nothing_is_lost(folder / "ledger", folder / "out")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


@given(value=JSON, separators=st.sampled_from([(",", ":"), (", ", ": ")]))
@settings(max_examples=60)
def test_a_json_text_comes_back_with_the_order_of_its_members(value: object, separators: tuple[str, str]) -> None:
    text = json.dumps(value, ensure_ascii=False, separators=separators)
    row = {"id": "c", "turn_id": "t", "tool_name": "x", "params_json": text, "started_at": 1, "sequence": 0}
    args, order = structured(text)
    record: dict[str, object] = {"kind": "tool_call", "call_id": "c", "correlation_id": "t", "tool": "x", "args": args}
    carry(record, {"tool_calls": [row]}, order)
    read = json.loads(canonical_form(record)[0])
    [(_, found)] = rows_of_record(read)  # type: ignore[misc]
    assert found == row
    if order is not None:
        assert "params_json" not in read["aix"]["tool_calls"][0]


HOSTILE: dict[str, dict[str, object]] = {
    "reads only the form 1": {"format": 2},
    "is not the order": {"member_order": [[0, [1, 1]]], "tool_calls": [{"id": "c"}]},
    "is not a table": {"import_sources": [{"source_key": "x"}]},
    "is not a table that": {"prices": [{"id": 1}]},
    "not a table": {"dag_events": [{"event_id": "x"}]},
    "'nothing'": {"nothing": []},
    "is not a list": {"tags": {"tag": "x"}},
    "row in `aix.tags` is not an object": {"tags": ["x"]},
    "has no entity_id, added_at": {"tags": [{"entity_type": "turns", "tag": "x"}]},
    "column 'colour'": {"tags": [{"entity_type": "turns", "colour": "red"}]},
    "column 'ancestry'": {"threads": [{"turn_id": "t", "ancestry": "[]"}]},
    "True is not BIGINT": {"tags": [{"entity_type": "t", "entity_id": "i", "tag": "x", "added_at": True}]},
    "is not BIGINT": {"tags": [{"entity_type": "t", "entity_id": "i", "tag": "x", "added_at": "9" * 19}]},
    "1 is not VARCHAR": {"tags": [{"entity_type": 1, "entity_id": "i", "tag": "x", "added_at": 1}]},
    "1 is not BOOLEAN": {"turn_context": [{"turn_id": "t", "origin": "o", "turn_key": "k", "is_interrupted": 1}]},
    "'emperor' is not one of user": {"messages": [{"id": "m", "role": "emperor"}]},
    "'NaN' is not an amount": {"requests": [{"id": "r", "requested_at": 1, "reported_cost_usd": "NaN"}]},
    "turns.id, which cannot be inferred": {
        "inferred_values": [{"table_name": "turns", "row_key": "t", "column_name": "id"}]
    },
    "prices.model, which cannot be inferred": {
        "inferred_values": [{"table_name": "prices", "row_key": "1", "column_name": "model"}]
    },
}


@pytest.mark.parametrize("reason", HOSTILE)
def test_a_record_can_state_only_sound_rows_of_histories(reason: str) -> None:
    [problem] = rows_of_record({"node": "Resource", "id": "x", "aix": {"format": 1, **HOSTILE[reason]}})
    assert isinstance(problem, UnusableRow)
    assert reason in problem.reason


def test_sound_rows_beside_unsound_ones_are_taken() -> None:
    tag = {"entity_type": "t", "entity_id": "i", "tag": "x", "added_at": "1"}
    stated = {"format": 1, "tags": [{}, tag], "member_order": [["x"], 5, {}], "prices": []}
    found = list(rows_of_record({"kind": "tool_call", "ts": "soon", "args": {"b": 1, "a": 2}, "aix": stated}))
    assert [each for each in found if not isinstance(each, UnusableRow)] == [("tags", {**tag, "added_at": 1})]
    assert len(found) == 3
