"""Records of graphs: every kind has its row, ids are hashes, and neither spelling nor splits change a row."""

import json
import random
from array import array
from copy import deepcopy
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from aix_importers.agent_dag.cycles import find_cycles
from aix_importers.common.agent_dag_words import EDGE_TYPES, EVENT_KINDS, NODE_TYPES
from tests.importers.agent_dag.histories import FIXTURES, Row, Tables, extract, lines_of
from tests.test_canonical_json import independent_json

EVERYTHING = ("every_event_kind", "every_node_type", "every_edge_type")


def expected(case: str) -> Tables:
    tables: Tables = json.loads((FIXTURES / case / "expected.json").read_text("utf-8"))
    return tables


def graph_rows(tables: Tables) -> dict[str, list[str]]:
    """Return the rows of the graph itself, without the place in a log."""
    return {
        name: sorted({json.dumps({**row, "position": None}, sort_keys=True) for row in tables.get(name, [])})
        for name in ("dag_events", "dag_nodes", "dag_edges")
    }


def test_the_fixtures_have_every_kind_of_event_node_and_edge() -> None:
    assert {row["kind"] for row in expected("every_event_kind")["dag_events"]} == EVENT_KINDS
    assert {row["kind"] for row in expected("every_node_type")["dag_nodes"]} == NODE_TYPES
    assert {row["type"] for row in expected("every_edge_type")["dag_edges"]} == EDGE_TYPES.keys()
    assert all(expected(case)["problems"] == [] for case in EVERYTHING)


@pytest.mark.parametrize("case", ["every_event_kind", "every_edge_type"])
def test_event_ids_are_those_of_an_implementation_of_its_own(case: str) -> None:
    for line in lines_of(case):
        if "kind" in line and "node" not in line:
            claimed = line.pop("event_id")
            assert claimed == sha256(independent_json(line).encode()).hexdigest()


def test_rows_hold_the_records_whole() -> None:
    for case in EVERYTHING:
        rows = expected(case)
        stored = [json.loads(str(row["payload_json"])) for name in graph_rows(rows) for row in rows.get(name, [])]
        lines = [{name: value for name, value in line.items() if name != "event_id"} for line in lines_of(case)]
        assert sorted(map(independent_json, stored)) == sorted(map(independent_json, lines))


@settings(max_examples=5)
@given(st.randoms(use_true_random=False))
def test_neither_order_of_keys_nor_repetition_nor_files_change_a_row(
    tmp_path_factory: pytest.TempPathFactory, chance: random.Random
) -> None:
    case = chance.choice([*EVERYTHING, "wrong_event_ids", "conflicting_nodes"])
    lines = lines_of(case)
    whole, _ = extract(tmp_path_factory.mktemp("whole"), lines)
    again = [dict(chance.sample(list(line.items()), len(line))) for line in lines]
    files: list[list[Row]] = [[], [], []]
    for line in chance.sample([*lines, *again], 2 * len(lines)):
        chance.choice(files).append(line)
    split, _ = extract(tmp_path_factory.mktemp("split"), *files)
    assert graph_rows(split) == graph_rows(whole)


def test_a_graph_that_grows_gives_the_rows_of_the_whole(tmp_path: Path) -> None:
    lines = lines_of("every_edge_type")
    whole = graph_rows(extract(tmp_path, lines)[0])
    for end in range(0, len(lines), 9):
        begun = graph_rows(extract(tmp_path, lines[:end])[0])
        assert all(set(rows) <= set(whole[name]) for name, rows in begun.items())


def test_more_than_16_versions_of_a_node_for_one_time_are_not_all_kept(tmp_path: Path) -> None:
    lines: list[Row] = [{"node": "Agent", "id": "a", "name": str(number)} for number in range(30)]
    tables, problems = extract(tmp_path, lines)
    assert len(tables["dag_nodes"]) == 17
    assert [problem.kind for problem in problems] == ["conflicting_node"] * 29


def test_records_that_are_nested_too_deeply_are_skipped_with_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "deep.jsonl"
    deep = "[" * 980 + "]" * 980
    path.write_text(f'{{"node": "Agent", "id": "a"}}\n{{"node": "Agent", "id": "b", "x": {deep}}}\n', "utf-8")
    from aix.importing import Problem, Source
    from aix_importers.agent_dag.records import read_records

    with path.open("rb") as file:
        agent, problem = read_records(Source(str(path)), file)
    assert not isinstance(agent, Problem)
    assert isinstance(problem, Problem)
    assert (problem.kind, problem.line) == ("too_deep", 2)


CALL: Row = {"kind": "tool_call", "ts": "2026-01-01T00:00:00Z", "run_id": "r", "agent_id": "a", "call_id": "c"}


def test_attributes_called_node_or_edge_do_not_change_what_an_event_is(tmp_path: Path) -> None:
    ends = {"src": "x", "dst": "y"}
    extra: list[Row] = [{"node": "w-3"}, {"edge": "eu"}, {"node": "w-3", "id": "7"}, {"edge": "eu", **ends}]
    policy: Row = {"node": "Policy", "id": "p", "kind": "active", "ts": "2026-01-01T00:00:00Z"}
    tables, _ = extract(tmp_path, [*({**CALL, **each} for each in extra), policy])
    counts = [len(tables[name]) for name in ("dag_events", "dag_nodes", "dag_edges")]
    assert counts == [4, 1, 0]


def test_an_id_that_another_line_of_the_event_claims_is_a_problem(tmp_path: Path) -> None:
    answer: Row = {**CALL, "kind": "model_response"}
    _, problems = extract(tmp_path, [{**answer, "event_id": "A1"}, {**answer, "event_id": "B1"}])
    [problem] = [each for each in problems if each.kind == "several_event_ids"]
    assert "A1" in problem.reason
    assert problem.line == 2


def test_an_object_aix_of_another_program_is_an_attribute(tmp_path: Path) -> None:
    aix: list[object] = [{"host": "n1"}, {}, {"format": "x"}]
    append: Row = {**CALL, "kind": "history_append", "message_ref": "m"}
    messages = [{**append, "call_id": str(each), "aix": each} for each in aix]
    tables, problems = extract(tmp_path, [*messages, {"node": "Message", "id": "m", "role": "user", "aix": {}}])
    assert (len(tables["turns"]), len(tables["messages"]), problems) == (1, 1, [])


def test_versions_of_a_node_within_a_millisecond_are_told_apart_from_ones_without_a_time(tmp_path: Path) -> None:
    times = ("2026-01-01T00:00:00.0001Z", "2026-01-01T00:00:00.0009Z")
    _, [problem] = extract(tmp_path, [{"node": "Policy", "id": "p", "valid_from": time} for time in times])
    assert "millisecond" in problem.reason


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12))
def test_cycles_are_found_where_there_are_some(edges: list[tuple[int, int]]) -> None:
    found = list(find_cycles(7, array("q", [one for one, _ in edges]), array("q", [other for _, other in edges])))
    for cycle in found:
        ends = [edges[number] for number in cycle]
        assert all(one[1] == other[0] for one, other in zip(ends, [*ends[1:], ends[0]], strict=True))
    reached = {point: {other for one, other in edges if one == point} for point in range(7)}
    for _ in range(7):
        reached = {point: near.union(*(reached[each] for each in near)) for point, near in reached.items()}
    assert bool(found) == any(point in near for point, near in reached.items())


def test_an_edge_may_say_that_its_end_is_a_kind_that_counts_as_the_allowed_one(tmp_path: Path) -> None:
    nodes: list[Row] = [{"node": kind, "id": kind} for kind in ("Run", "Subagent", "Container", "Summary")]
    edges: list[Row] = [
        {"edge": "AGENT_HAS_RUN", "src": "Subagent", "src_kind": "Subagent", "dst": "Run"},
        {"edge": "MOUNTS_RESOURCE", "src": "Run", "dst": "Container", "dst_kind": "Container"},
        {"edge": "AGENT_HAS_RUN", "src": "Summary", "src_kind": "Summary", "dst": "Run"},
    ]
    _, problems = extract(tmp_path, [*nodes, *edges])
    assert [problem.line for problem in problems if problem.kind == "wrong_edge_end"] == [7]


def test_the_page_has_an_example_of_every_record_with_fields_of_the_fixtures() -> None:
    known: dict[str, set[str]] = {}
    for case in ("every_event_kind", "every_node_type"):
        for line in (FIXTURES / case / "input/graph.jsonl").read_text("utf-8").splitlines():
            record = json.loads(line)
            known.setdefault(record.get("node") or record.get("kind") or "edge", set()).update(record)
    page = (Path(__file__).parents[3] / "docs/agent-graph.md").read_text("utf-8")
    examples = [json.loads(line) for line in page.partition("```jsonl\n")[2].partition("```")[0].splitlines()]
    names = [each.get("node") or each["kind"] for each in examples]
    assert sorted(names) == sorted({*EVENT_KINDS, *NODE_TYPES})
    assert [name for name, each in zip(names, examples, strict=True) if not each.keys() <= known[name]] == []


ODD: tuple[object, ...] = (None, 7, -0.5, True, "", "odd", [], ["odd", None, {"id": 7}], {}, {"id": "odd"}, {"a": [1]})
AGENT: Row = {"ts": "2026-01-01T00:00:00Z", "run_id": "r", "agent_id": "a"}
FURTHER: list[Row] = [
    {
        "node": "Message",
        "id": "m",
        "role": "user",
        "created_at": "2026-01-01T00:00:00Z",
        "content": [{"type": "text", "text": "Hi"}, {"type": "reasoning", "text": "Greet."}],
        "aix": {"format": 1, "messages": [{"turn_id": "t"}], "message_facts": [{"position": 0}]},
    },
    {
        **AGENT,
        "kind": "tool_result",
        "correlation_id": "t",
        "call_id": "c",
        "status": "ok",
        "result": {"b": 1, "a": 2},
        "aix": {
            "format": 1,
            "member_order": [[0, [1, 0]]],
            "tool_calls": [{"tool_name": "x", "sequence": 0, "params_json": "{}", "started_at": 0}],
        },
    },
    {**AGENT, "kind": "history_append", "list": "side", "message_ref": "m-side"},
    {"node": "Message", "id": "m-side", "role": "user", "content": [{"type": "text", "text": "Hi"}]},
    {**AGENT, "kind": "agent_forked", "from_branch": "main", "to_branch": "r"},
    {**AGENT, "kind": "model_response", "finish_reason": "stop"},
    {
        "node": "Run",
        "id": "r",
        "aix": {"format": 1, "inferred_values": [{"table_name": "turns", "row_key": "t", "column_name": "role"}]},
    },
]


def fields_of(value: object) -> list[tuple[dict[str, object], str]]:
    """Return the fields of a record and of the objects in it, each as an object and a name."""
    if isinstance(value, list):
        return [field for each in value for field in fields_of(each)]
    if not isinstance(value, dict):
        return []
    return [*((value, name) for name in value), *(field for each in value.values() for field in fields_of(each))]


@settings(max_examples=30, deadline=None, phases=[Phase.generate])
@given(st.integers(0, 10**9))
def test_no_value_of_a_field_stops_an_import(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    chance = random.Random(seed)
    cases = (*EVERYTHING, "message_parts")
    graph: list[Row] = []
    for record in (*(line for case in cases for line in lines_of(case)), *FURTHER):
        own = deepcopy({name: value for name, value in record.items() if name != "event_id"})
        if chance.random() < 0.5:
            fields, name = chance.choice(fields_of(own))
            fields[name] = deepcopy(chance.choice(ODD))
        graph.append(own)
    tables, _ = extract(tmp_path_factory.mktemp("graph"), graph)
    assert len(tables["dag_nodes"]) > 0


@pytest.mark.parametrize("odd", [{"id": "r"}, ["r"]])
def test_a_reason_a_list_a_branch_and_a_part_may_be_objects_or_lists(odd: object, tmp_path: Path) -> None:
    graph = [
        {**each, **{name: odd for name in ("finish_reason", "list", "to_branch") if name in each}} for each in FURTHER
    ]
    content = [{"type": odd, "text": "Hi"}]
    tables, _ = extract(tmp_path, [*graph, {**FURTHER[0], "id": "m-odd", "content": content}])
    assert [row["role"] for row in tables["messages"] if row["id"] == "m-odd"] == ["user"]
    assert [row["alias"] for row in tables["session_aliases"]] == (["agent-dag:a#r"] if odd == {"id": "r"} else [])
