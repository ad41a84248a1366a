"""Histories of every origin as a graph and back, and graphs through the ledger and back."""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from aix.canonical_json import canonical_json
from aix.errors import NotCanonicalError
from aix.health import Status, check
from aix.merge.tagging import remove_tag
from aix.reading.ledger import open_ledger
from aix_importers.agent_dag.export import AgentDagExporter
from aix_importers.common.agent_dag_words import EDGE_TYPES, EVENT_KINDS, NODE_TYPES
from benchmarks.graph_counts import differences
from tests.importers.agent_dag.exports import (
    GRAPH_TABLES,
    copy_situations,
    export,
    files,
    history,
    import_folder,
    lines,
    records,
)
from tests.importers.agent_dag.histories import extract, write_graph
from tests.support.row_batches import facts
from tests.test_canonical_json import independent_json

Record = dict[str, object]
LONG = pytest.mark.long
CONFLICTING = {"conflicting_nodes"}
"""Situations in which two records say different things about one node: the ledger keeps one of them."""


@LONG
@pytest.mark.parametrize("origin", ["chat", "claude_code", "cursor", "session_log"])
def test_histories_come_back_from_a_graph(tmp_path: Path, origin: str) -> None:
    assert_comes_back(tmp_path, copy_situations(origin, tmp_path / "logs"))


@pytest.mark.long
def test_histories_of_several_origins_come_back_from_a_graph(tmp_path: Path) -> None:
    copy_situations("claude_code", tmp_path / "logs" / "claude", "compaction_then_rewind")
    copy_situations("claude_code", tmp_path / "logs" / "denials", "denials")
    copy_situations("claude_code", tmp_path / "logs" / "agents", "agents_of_agents")
    copy_situations("session_log", tmp_path / "logs" / "session", "references_resolved_by_programs")
    assert_comes_back(tmp_path, tmp_path / "logs")


def assert_comes_back(folder: Path, logs: Path) -> None:
    one = import_folder(folder / "one", logs)
    graph = export(one, folder / "graph")
    two = import_folder(folder / "two", graph)
    assert history(two) == history(one)
    assert problems(two) == []
    assert files(export(two, folder / "again")) == files(graph)
    events = [record for record in records(graph) if "event_id" in record]
    assert len({event["event_id"] for event in events}) == len(events) > 0
    assert list(differences(one, graph)) == []
    assert [event["event_id"] for event in events] == list(map(independent_id, events))


@LONG
@pytest.mark.parametrize("origin", ["claude_code", "cursor"])
def test_a_graph_of_histories_breaks_no_check_that_they_keep(tmp_path: Path, origin: str) -> None:
    one = import_folder(tmp_path / "one", copy_situations(origin, tmp_path / "logs"))
    two = import_folder(tmp_path / "two", export(one, tmp_path / "graph"))
    assert alarms(two) - {"dag_run_linear"} <= alarms(one)  # times of logs run back


@LONG
def test_graphs_come_back_from_a_ledger_as_they_were(tmp_path: Path) -> None:
    logs = copy_situations("agent_dag", tmp_path / "logs")
    ledger = import_folder(tmp_path / "one", logs)
    again = import_folder(tmp_path / "two", export(ledger, tmp_path / "graph"))
    assert without_paths(again) == without_paths(ledger)
    assert files(export(again, tmp_path / "again")) == files(tmp_path / "graph")
    expected = {
        canonical(record)
        for situation in sorted(logs.iterdir())
        if situation.name not in CONFLICTING
        for record in sound_records(situation)
    }
    assert expected - lines(tmp_path / "graph") == set()


ALONE = ("unknown_kinds", "two_turns_with_tools")


@pytest.mark.parametrize("situation", ALONE)
def test_a_graph_alone_comes_back(tmp_path: Path, situation: str) -> None:
    ledger = import_folder(tmp_path / "one", copy_situations("agent_dag", tmp_path / "logs", situation))
    graph = export(ledger, tmp_path / "graph")
    assert [path.name for path in graph.iterdir()] == ["graph.jsonl"]
    again = import_folder(tmp_path / "two", graph)
    assert graph_rows(again) == graph_rows(ledger)
    assert without_paths(again) == without_paths(ledger)


@pytest.mark.long
def test_a_session_of_a_graph_comes_back_from_an_export_of_its_own(tmp_path: Path) -> None:
    ledger = import_folder(tmp_path / "one", copy_situations("agent_dag", tmp_path / "logs", "two_turns_with_tools"))
    with open_ledger(ledger) as opened:
        [(label,)] = opened.sql("select label from sessions").rows()
    two = import_folder(tmp_path / "two", export(ledger, tmp_path / "graph", str(label)))
    graph = export(two, tmp_path / "again")
    assert list(differences(two, graph)) == []
    assert history(import_folder(tmp_path / "three", graph)) == history(two)
    assert history(two)["messages"] == history(ledger)["messages"] != []


@pytest.mark.long
def test_sessions_of_subagents_are_sound_alone_and_whole_once_all_are_there(tmp_path: Path) -> None:
    whole = import_folder(tmp_path / "one", copy_situations("claude_code", tmp_path / "logs", "agents_of_agents"))
    with open_ledger(whole) as opened:
        labels = [str(label) for (label,) in opened.sql("select label from sessions order by label")]
    graphs = [export(whole, tmp_path / f"graph-{number}", label) for number, label in enumerate(labels)]
    for number, graph in enumerate(graphs):
        alone = import_folder(tmp_path / f"alone-{number}", graph)
        assert [each.name for each in check(alone) if each.status == Status.ALARM] == []
    together = import_folder(tmp_path / "together", *graphs, export(whole, tmp_path / "graph"))
    assert history(together) == history(whole)


@pytest.mark.long
def test_exports_of_a_growing_ledger_do_not_conflict(tmp_path: Path) -> None:
    log = copy_situations("claude_code", tmp_path / "logs", "compaction_then_rewind")
    [path] = log.rglob("*.jsonl")
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(whole[: len(whole) // 2]))
    early = export(import_folder(tmp_path / "early", log), tmp_path / "first")
    path.write_bytes(b"".join(whole))
    late = export(import_folder(tmp_path / "late", log), tmp_path / "second")
    both = import_folder(tmp_path / "both", early, late)
    assert [problem for problem in problems(both) if problem[0] == "conflicting_node"] == []


def test_records_whose_rows_were_refused_are_kept_as_they_came(tmp_path: Path) -> None:
    refused: list[Record] = [
        {"aix": {"format": 99, "tags": []}, "id": "a", "node": "Resource"},
        {"aix": {"format": 1, "tags": [{}]}, "id": "b", "node": "Resource"},
    ]
    ledger = import_folder(tmp_path / "one", write_graph(tmp_path / "graph.jsonl", refused))
    assert [kind for kind, _ in problems(ledger)] == ["unusable_row", "unusable_row"]
    assert lines(export(ledger, tmp_path / "out")) == set(map(canonical, refused))


STATED: Record = {"aix": {"format": 1}}
SHARED: list[Record] = [
    {"node": "Agent", "id": "a", **STATED},
    {"node": "Branch", "id": "b", "agent_id": "a", **STATED},
    {"node": "Resource", "id": "/srv/a.py", "kind": "file", "name": "/srv/a.py", "capabilities": [], **STATED},
    {"kind": "agent_forked", "ts": "2026-01-01T00:00:00.000Z", "agent_id": "a", "to_branch": "b", **STATED},
    {"edge": "FORKED_FROM", "src": "b", "src_kind": "Branch", "dst": "r", "dst_kind": "Run", **STATED},
]


def test_records_of_an_export_that_state_no_rows_come_back(tmp_path: Path) -> None:
    ledger = import_folder(tmp_path / "one", write_graph(tmp_path / "shared.jsonl", SHARED))
    first = export(ledger, tmp_path / "first")
    assert lines(first) == set(map(canonical, SHARED))
    again = import_folder(tmp_path / "two", first)
    assert graph_rows(again) == graph_rows(ledger)
    assert files(export(again, tmp_path / "second")) == files(first)


@pytest.mark.long
def test_fields_that_are_added_to_an_export_come_back(tmp_path: Path) -> None:
    logs = copy_situations("chat", tmp_path / "logs", "codeblocks")
    graph = export(import_folder(tmp_path / "original", logs), tmp_path / "original graph")
    changed = [{**record, "note": "seen"} if place % 2 else record for place, record in enumerate(records(graph))]
    for path in graph.iterdir():
        path.unlink()
    one = import_folder(tmp_path / "one", write_graph(graph / "graph.jsonl", changed))
    first = export(one, tmp_path / "first")
    assert set(map(canonical, changed)) <= lines(first)
    two = import_folder(tmp_path / "two", first)
    assert history(two) == history(one)
    assert files(export(two, tmp_path / "second")) == files(first)


def test_a_tag_that_was_taken_away_does_not_come_back(tmp_path: Path) -> None:
    stated = {"format": 1, "tags": [{"entity_type": "sessions", "entity_id": "s", "tag": "old", "added_at": 1}]}
    node: Record = {"node": "Resource", "id": "aix:tags/1", "aix": stated}
    agent: Record = {"node": "Agent", "id": "a", "aix": {"format": 1}}
    ledger = import_folder(tmp_path / "one", write_graph(tmp_path / "graph.jsonl", [node, agent]))
    remove_tag(ledger, "old")
    assert lines(export(ledger, tmp_path / "out")) == {canonical(agent)}


def test_credentials_of_programs_are_never_stored(tmp_path: Path) -> None:
    config = json.dumps({"apiKey": "k-secret", "model": "m"})
    stated = {"format": 1, "programs": [{"id": "p", "program_type": "agent", "config_json": config}]}
    tables, found = extract(tmp_path, [{"node": "Resource", "id": "x", "aix": stated}])
    assert "credentials" in [problem.kind for problem in found]
    assert "k-secret" not in f"{tables}{found}"


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
NAME = st.sampled_from(["a", "b", "Ünï", "r-1", "\U0001f600"])
TIME = st.sampled_from(["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678901+02:00", "1970-01-01T00:00:00Z"])
RESERVED = {"node", "edge", "kind", "id", "event_id", "src", "dst", "valid_from", "valid_to"}
FIELDS = st.dictionaries(
    st.sampled_from(["run_id", "agent_id", "call_id", "seq", "parent", "attrs", "args", "content", "aix"]) | TEXT,
    VALUE | NAME,
    max_size=4,
).map(lambda fields: {name: value for name, value in fields.items() if name not in RESERVED})


def named(
    fields: Mapping[str, st.SearchStrategy[object]], **optional: st.SearchStrategy[object]
) -> st.SearchStrategy[Record]:
    known = st.fixed_dictionaries(dict(fields), optional=optional)
    return st.tuples(FIELDS, known).map(lambda both: {**both[0], **both[1]})


EVENTS = named({"kind": st.sampled_from(sorted(EVENT_KINDS)), "ts": TIME}, event_id=NAME)
NODES = named({"node": st.sampled_from(sorted(NODE_TYPES)), "id": NAME}, kind=TEXT, valid_from=TIME, valid_to=TIME)
EDGES = named(
    {"edge": st.sampled_from(sorted(EDGE_TYPES)), "src": NAME, "dst": NAME},
    src_kind=NAME,
    valid_from=TIME,
    valid_to=TIME,
)
GRAPHS = st.lists(EVENTS | NODES | EDGES, min_size=1, max_size=30, unique_by=lambda record: key_of(record))


def key_of(record: Record) -> str:
    """Return the key of a record in the ledger, which no other record of a valid graph has."""
    if "node" in record:
        # The ledger has 0 where a node does not say since when it holds, and that is the beginning of 1970.
        return json.dumps([record["node"], record["id"], record.get("valid_from", "1970-01-01T00:00:00Z")])
    return independent_json({name: value for name, value in record.items() if name not in ("event_id", "valid_to")})


@given(graph=GRAPHS)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_valid_graph_comes_back(tmp_path_factory: pytest.TempPathFactory, graph: list[Record]) -> None:
    tables, _ = extract(tmp_path_factory.mktemp("graph"), graph)
    file = BytesIO()
    for table in GRAPH_TABLES:
        AgentDagExporter().write_table(table, tables[table], file)
    assert set(file.getvalue().splitlines()) == set(map(canonical, graph))
    for row in tables["dag_events"]:
        assert row["event_id"] == sha256(str(row["payload_json"]).encode()).hexdigest()


@LONG
@given(graph=GRAPHS)
@settings(max_examples=8, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow])
def test_any_valid_graph_comes_back_from_a_ledger(
    tmp_path_factory: pytest.TempPathFactory, graph: list[Record]
) -> None:
    folder = tmp_path_factory.mktemp("graph")
    ledger = import_folder(folder / "ledger", write_graph(folder / "graph.jsonl", graph))
    assert lines(export(ledger, folder / "out")) == set(map(canonical, graph))


def canonical(record: Record) -> bytes:
    return independent_json(record).encode()


def independent_id(event: Record) -> str:
    return sha256(canonical({name: value for name, value in event.items() if name != "event_id"})).hexdigest()


def sound_records(folder: Path) -> Iterable[Record]:
    """Go through the lines that are records which canonical JSON can hold."""
    for path in sorted(folder.rglob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            try:
                record = json.loads(line)
                canonical_json(record)
            except (ValueError, NotCanonicalError):
                continue
            if isinstance(record, dict) and is_sound(record):
                yield record


def is_sound(record: Record) -> bool:
    if "node" in record:
        return isinstance(record.get("id"), str)
    if "edge" in record:
        return isinstance(record.get("src"), str) and isinstance(record.get("dst"), str)
    return isinstance(record.get("kind"), str) and ("event_id" in record or "ts" in record)


def without_paths(ledger: Path) -> dict[str, list[str]]:
    """Return the rows of histories without the files in which they were found."""
    return {name: rows for name, rows in history(ledger).items() if name != "session_context"}


def graph_rows(ledger: Path) -> dict[str, list[str]]:
    return {name: rows for name, rows in facts(ledger).items() if name in GRAPH_TABLES}


def problems(ledger: Path) -> list[tuple[object, ...]]:
    with open_ledger(ledger) as opened:
        return opened.sql("select kind, reason from import_problems").rows()


def alarms(ledger: Path) -> set[str]:
    return {each.name for each in check(ledger) if each.status is Status.ALARM}
