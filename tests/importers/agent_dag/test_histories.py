"""Histories do not depend on how a graph came: in which order, split into which files, in one import or in two."""

import random
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aix.pipeline.run import Settings, import_histories
from aix.schema import TABLES
from aix.store.manifest import read_latest
from aix.store.views import create_views
from aix.testing import golden_cases
from tests.importers.agent_dag.histories import (
    FIXTURES,
    Row,
    Tables,
    extract,
    histories,
    lines_of,
    ties,
    write_graph,
)

TIMED = [str(case) for case in golden_cases(FIXTURES) if str(case) != "missing_things"]


@pytest.mark.parametrize("case", TIMED)
def test_neither_the_order_of_lines_nor_their_files_matter(case: str, tmp_path: Path) -> None:
    records = lines_of(case)
    whole, _ = extract(tmp_path, records)
    shuffled = random.Random(case).sample(records, len(records))
    split = [[each for number, each in enumerate(shuffled) if number % 3 == part] for part in range(3)]
    parts, _ = extract(tmp_path, *split)
    assert histories(parts) == histories(whole)


@pytest.mark.parametrize(
    ("tool", "args", "result"),
    [
        ("spawn_agent", {}, {"started": "sub-1"}),
        ("spawn_agent", {"who": ["sub-1"]}, None),
        ("start", {}, {"out": [{"run_id": "sub-1"}]}),
    ],
)
def test_a_subagent_is_tied_to_the_call_that_names_it(tool: str, args: Row, result: object, tmp_path: Path) -> None:
    caller = {"ts": "2026-01-01T00:00:00Z", "agent_id": "caller", "run_id": "main", "call_id": "c-1"}
    call: Row = {**caller, "kind": "tool_call", "tool": tool, "args": args}
    parent: list[Row] = [call, {**caller, "kind": "tool_result", "result": result}]
    child: list[Row] = [{"kind": "run_started", "ts": "2026-01-01T00:00:00Z", "agent_id": "sub", "run_id": "sub-1"}]
    other: list[Row] = [{**call, "tool": "echo", "args": {"text": "sub-1"}}, {**parent[1], "result": "sub-1"}]
    files = [write_graph(tmp_path / f"{number}.jsonl", each) for number, each in enumerate((parent, child, other))]
    [named, _], [begun, _], [said, _] = map(ties, files)
    assert named & begun
    assert not said & begun


def test_records_that_hold_rows_are_not_tied_by_their_agent(tmp_path: Path) -> None:
    files = []
    for run in ("one", "two"):
        common: Row = {"agent_id": "agent", "aix": {"format": 1}}
        edge: Row = {"edge": "AGENT_HAS_RUN", "src": "agent", "dst": run, "aix": {"format": 1}}
        started = {"kind": "run_started", "ts": "2026-01-01T00:00:00Z", "run_id": run, **common}
        files.append(write_graph(tmp_path / run, [{"node": "Run", "id": run, **common}, edge, started]))
        forked = {"kind": "agent_forked", "ts": "2026-01-01T00:00:00Z", "to_branch": run, **common}
        files.append(write_graph(tmp_path / f"{run}-forked", [forked]))
    one, one_forked, two, two_forked = map(ties, files)
    assert all(not found & others for found, others in zip(one, two, strict=True))
    assert one_forked[0] & two_forked[0]


def test_a_foreign_field_aix_takes_no_part_of_a_graph(tmp_path: Path) -> None:
    """Only an object with a `format` holds rows; another writer may use the name for anything."""
    foreign: Row = {"aix": {"host": "n1"}}
    common: Row = {"agent_id": "a", "run_id": "r", "ts": "2026-01-01T00:00:00Z", **foreign}
    records: list[Row] = [
        {**common, "kind": "model_request", "model": "m"},
        {**common, "kind": "model_response", "event_id": "answer"},
        {"node": "ToolCall", "id": "call", "tool": "exec", "args": {"cmd": "ls"}, **foreign},
        {"edge": "CALLS_TOOL", "src": "answer", "dst": "call", **foreign},
    ]
    made, _ = extract(tmp_path, records)
    assert [row["tool_name"] for row in made["tool_calls"]] == ["exec"]
    one, two = (ties(write_graph(tmp_path / name, [{**common, "kind": name}])) for name in ("x", "y"))
    assert one[0] & two[0]


def test_an_event_without_time_comes_after_those_of_an_earlier_file(tmp_path: Path) -> None:
    common = {"agent_id": "a", "run_id": "r"}
    first: list[Row] = [{**common, "kind": "model_request", "ts": "2026-01-01T00:00:00Z"}]
    second: list[Row] = [{**common, "kind": "model_response", "event_id": "late", "output_ref": "m"}]
    assert histories(extract(tmp_path, first, second)[0]) == histories(extract(tmp_path, [*first, *second])[0])


def test_repeated_records_change_nothing(tmp_path: Path) -> None:
    records = [record for case in TIMED for record in lines_of(case)]
    once, _ = extract(tmp_path, records)
    twice, _ = extract(tmp_path, [*records, *reversed(records)], records)
    assert histories(twice) == histories(once)


@pytest.mark.long
def test_a_graph_that_grows_gives_what_the_whole_graph_gives(tmp_path: Path) -> None:
    records = [record for case in TIMED for record in lines_of(case)]
    log, grown, whole = tmp_path / "graph.jsonl", tmp_path / "grown", tmp_path / "whole"
    for length in (len(records) // 3, len(records)):
        import_histories(grown, [write_graph(log, records[:length])], Settings(jobs=0))
    again = import_histories(grown, [log], Settings(jobs=0))
    assert again.before == again.after
    import_histories(whole, [log], Settings(jobs=0))
    assert ledger_rows(grown) == ledger_rows(whole)


def ledger_rows(ledger: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return all rows but those about imports."""
    with duckdb.connect(config={"threads": 1}) as connection:
        create_views(connection, ledger, read_latest(ledger))
        names = [name for name in TABLES if not name.startswith("import_")]
        return {name: sorted(connection.execute(f'from "{name}"').fetchall(), key=repr) for name in names}


KINDS = (
    *("history_append", "model_request", "model_response", "tool_call", "tool_result", "interruption"),
    *("substitution", "run_started", "run_finished", "agent_forked", "mcp.resource_updated"),
)
PARTS = st.sampled_from(
    [
        {"type": "text", "text": "Hello."},
        {"type": "reasoning", "text": "Hm."},
        {"type": "tool_use", "id": "c-1", "name": "exec", "input": {"cmd": "ls"}},
        {"type": "tool_use", "id": "toolu_0123456789abcdefgh", "name": "fs.read_file", "input": None},
        {"type": "tool_result", "tool_call_id": "c-1", "output": "a", "is_error": True},
        {"type": "image_url", "url": "data:,"},
        {"type": "unknown"},
        "plain",
        7,
    ]
)
"""Few ids, so that records meet in every way, right and wrong."""


@st.composite
def graphs(draw: st.DrawFn) -> list[Row]:
    """Return a graph of a few runs, messages and summaries whose records name each other at random."""
    names = st.sampled_from([*(f"e-{number}" for number in range(12)), "nowhere"])
    messages = st.sampled_from([f"m-{number}" for number in range(6)])
    correlations = st.sampled_from([None, None, "x", "y"])
    calls = st.sampled_from(["c-1", "c-2", "toolu_0123456789abcdefgh"])
    records: list[Row] = []
    for number in range(draw(st.integers(1, 12))):
        run = draw(st.sampled_from(["r-1", "r-1", "r-2", "r-3"]))
        records.append(
            {
                "kind": draw(st.sampled_from(KINDS)),
                "event_id": f"e-{number}",
                "ts": draw(st.sampled_from([None, f"2026-01-01T00:00:{number:02d}Z", "2026-01-01T00:00:05Z"])),
                "agent_id": "a-2" if run == "r-3" else "a-1",
                "run_id": run,
                "correlation_id": draw(correlations),
                "message_ref": draw(messages),
                "output_ref": draw(messages),
                "input_refs": draw(st.lists(st.one_of(names, messages), max_size=3)),
                "request_id": draw(names),
                "requested_by": {"event_id": draw(names)},
                "call_id": draw(calls),
                "model": "o4-mini",
                "reason": draw(st.sampled_from(["context_reset", "crash", "approval_denied", "subagent"])),
                "affects": draw(st.lists(names, max_size=2)),
                "original_event": draw(names),
                "replacement_event": draw(names),
                "at_event": draw(names),
                "to_branch": draw(st.sampled_from(["r-1", "r-2"])),
                "parent": draw(st.one_of(st.none(), names)),
                "status": draw(st.sampled_from(["ok", "error", None])),
                "result": draw(st.sampled_from([None, {"agent_id": "a-2"}, {"run_id": "r-1"}])),
                "uri": "file:///a",
            }
        )
    for number in range(draw(st.integers(0, 6))):
        role = draw(st.sampled_from(["user", "system", "assistant", "tool", "nobody"]))
        content = draw(st.lists(PARTS, max_size=3))
        records.append({"node": "Message", "id": f"m-{number}", "role": role, "content": content})
    for number in range(draw(st.integers(0, 2))):
        records.append({"node": "Summary", "id": f"s-{number}", "text": "Short."})
        records.append({"edge": "SUMMARIZES", "src": f"s-{number}", "dst": draw(st.one_of(names, messages))})
        records.append({"edge": "EVENT_PRODUCES", "src": draw(names), "dst": f"s-{number}"})
    for number in range(draw(st.integers(0, 2))):
        records.append({"node": "ToolCall", "id": f"n-{number}", "call_id": draw(calls), "tool": "exec"})
        records.append({"edge": "CALLS_TOOL", "src": draw(names), "dst": f"n-{number}"})
        records.append({"node": "ToolResult", "id": f"o-{number}", "status": "ok", "result": {}})
        records.append({"edge": "RETURNS_RESULT", "src": f"n-{number}", "dst": f"o-{number}"})
        records.append({"edge": "SUBSTITUTES", "src": draw(names), "dst": draw(names)})
    return records


@settings(max_examples=25, deadline=None)
@given(records=graphs())
def test_rows_of_any_graph_are_consistent(records: list[Row], tmp_path_factory: pytest.TempPathFactory) -> None:
    tables, _ = extract(tmp_path_factory.mktemp("graph"), records)
    assert_consistent(tables)


def assert_consistent(tables: Tables) -> None:
    """Check that no key comes twice, and that what rows name is there, and in the same turn."""
    keys = {"turns": "id", "messages": "id", "tool_calls": "id", "requests": "id", "sessions": "label"}
    keys |= {"compactions": "turn_id", "message_facts": "message_id", "tool_call_facts": "call_id"}
    found = {table: {row[key]: row for row in tables[table]} for table, key in keys.items()}
    assert {table: len(tables[table]) for table in keys} == {table: len(rows) for table, rows in found.items()}
    turns, messages, sessions = found["turns"], found["messages"], found["sessions"]
    for table in ("messages", "tool_calls", "requests", "session_turns", "threads", "turn_context"):
        assert {row["turn_id"] for row in tables[table]} <= turns.keys(), table
    for call in tables["tool_calls"]:
        message = messages.get(call["message_id"])
        assert message is None or message["turn_id"] == call["turn_id"]
        assert call["spawned_session_label"] is None or call["spawned_session_label"] in sessions
        is_ended = call["status"] in {"completed", "failed"}
        assert not is_ended or call["result_json"] is not None or call["error"] is not None
    for request in tables["requests"]:
        assert request.get("message_id") is None or request["message_id"] in messages
    assert found["compactions"].keys() == {key for key, turn in turns.items() if turn["turn_type"] == "compaction"}
    for turn_id, turn in turns.items():
        ancestors, parent = {turn_id}, turn["parent_turn_id"]
        while parent is not None:
            assert parent in turns
            assert parent not in ancestors
            ancestors.add(parent)
            parent = turns[parent]["parent_turn_id"]
        if turn_id in found["compactions"]:
            assert found["compactions"][turn_id]["summarized_through_turn_id"] in ancestors
    followed = {turn["parent_turn_id"] for turn in turns.values()}
    assert turns.keys() - followed <= {session["thread_id"] for session in sessions.values()}
    for session in sessions.values():
        if session["spawn_tool_call_id"] is not None:
            spawn = found["tool_calls"][session["spawn_tool_call_id"]]
            named_back = (spawn["spawned_session_label"], spawn["turn_id"])
            assert named_back == (session["label"], session["parent_turn_id"])
        assert session["parent_session_label"] is None or session["parent_session_label"] in sessions
    for message in messages.values():
        assert (message["role"] == "assistant") == (message["source"] is None)
