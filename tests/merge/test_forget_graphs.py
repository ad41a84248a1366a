"""Forgetting a session that is a run of a graph, a chat or a program takes what only it leads to."""

import json
from pathlib import Path

import pytest

from aix.merge.forget import forget
from aix.merge.gone_graph import TABLES_OF_GRAPHS
from aix.merge.selection import Selection
from aix.pipeline.run import Settings, import_histories
from tests import ROOT
from tests.merge.test_forget import bytes_of, connect, forget_session
from tests.support.agent_graph import AgentGraph
from tests.support.conversations import session, turn
from tests.support.row_batches import deliver, dump, rows_of
from tests.support.sample_conversation import Row

pytestmark = pytest.mark.long

KEPT_NODES = ("a", "named by both", "shared")


@pytest.fixture
def marker() -> str:
    """A text that compression cannot hide in so small a file."""
    return "Zq9" * 4


def test_events_of_another_agent_with_the_same_run_stay(tmp_path: Path) -> None:
    for agent in ("a", "b"):
        events = [{"event_id": agent, "kind": "k", "agent_id": agent, "run_id": "run-1", "payload_json": "{}"}]
        sessions = [session(f"dag:{agent}/run-1", f"T-{agent}", origin_session_id="run-1")]
        deliver(tmp_path, {"turns": [turn(f"T-{agent}")], "sessions": sessions, "dag_events": events})
    forget_session(tmp_path, "dag:a/run-1")
    assert [row["event_id"] for row in rows_of(tmp_path, "dag_events")] == ["b"]


def test_the_graph_of_a_forgotten_run_goes_with_it(tmp_path: Path, marker: str) -> None:
    def event(name: str, run: str, payload: dict[str, str]) -> Row:
        return {"event_id": name, "kind": "k", "agent_id": "a", "run_id": run, "payload_json": json.dumps(payload)}

    def edge(number: int, src: str, dst: str, text: str = "{}") -> Row:
        return {"id": number, "type": "t", "src": src, "dst": dst, "payload_json": text}

    rows = {
        "turns": [turn("T"), turn("U")],
        "sessions": [
            session("agent-dag:a/run-1", "T", origin_session_id="run-1"),
            session("agent-dag:a/run-2", "U", origin_session_id="run-2"),
        ],
        "dag_events": [
            event("e", "run-1", {"output_ref": "named by the event", "x": marker}) | {"claimed_event_id": "claimed"},
            event("f", "run-2", {"message_ref": "named by both"}),
            event("g", "run-1", {"message_ref": "named by both"}),
        ],
        "dag_nodes": [
            {
                "node_id": node,
                "kind": {"a": "Agent", "run-1": "Run"}.get(node, "Message"),
                "valid_from": 0,
                "payload_json": "{}" if node in KEPT_NODES else marker,
            }
            for node in (*KEPT_NODES, "n", "of claimed", "named by the event", "run-1")
        ],
        "dag_edges": [
            edge(1, "e", "n", marker),
            edge(2, "e", "shared"),
            edge(3, "other", "shared"),
            edge(4, "claimed", "of claimed"),
            edge(5, "a", "run-1"),
            edge(6, "a", "run-2"),
        ],
    }
    deliver(tmp_path, rows)
    forget_session(tmp_path, "agent-dag:a/run-1")
    assert [row["node_id"] for row in rows_of(tmp_path, "dag_nodes")] == sorted(KEPT_NODES)
    assert [row["id"] for row in rows_of(tmp_path, "dag_edges")] == [3, 6]
    assert [row["event_id"] for row in rows_of(tmp_path, "dag_events")] == ["f"]
    assert marker not in str(dump(tmp_path))


def test_a_session_that_was_written_as_a_graph_takes_the_graph_with_it(tmp_path: Path) -> None:
    events = [{"event_id": "e", "kind": "k", "agent_id": "a", "run_id": "x:s-1", "payload_json": "{}"}]
    deliver(tmp_path, {"turns": [turn("T")], "sessions": [session("x:s-1", "T")], "dag_events": events})
    forget_session(tmp_path, "x:s-1")
    assert "dag_events" not in dump(tmp_path)


def test_a_forgotten_chat_takes_its_row_and_its_events_with_it(tmp_path: Path, marker: str) -> None:
    rows = {
        "turns": [turn("T")],
        "sessions": [session("chat:c-1", "T", origin_session_id="c-1")],
        "chat_conversations": [{"id": "c-1", "title": marker}, {"id": "c-2"}],
        "program_events": [
            {"event_id": program, "kind": "SESSION_MESSAGE", "program_id": program, "payload_json": text}
            for program, text in (("c-1", marker), ("c-2", "{}"))
        ],
    }
    deliver(tmp_path, rows)
    forget_session(tmp_path, "chat:c-1")
    assert [row["id"] for row in rows_of(tmp_path, "chat_conversations")] == ["c-2"]
    assert [row["program_id"] for row in rows_of(tmp_path, "program_events")] == ["c-2"]


def import_graphs(ledger: Path, *paths: Path) -> list[str]:
    import_histories(ledger, list(paths), Settings(jobs=0))
    return sorted(str(row["label"]) for row in rows_of(ledger, "sessions"))


TEXTS = """
    select distinct unnest([m.content, m.thinking, c.params_json, c.result_json, c.error]) as text
    from (select content, thinking, row_number() over () as place from messages) m
    full join (select params_json, result_json, error, row_number() over () as place from tool_calls) c using (place)
"""


def test_after_all_runs_are_forgotten_no_graph_holds_their_texts(tmp_path: Path) -> None:
    labels = import_graphs(tmp_path, ROOT / "fixtures" / "agent_dag")
    with connect(tmp_path) as connection:
        texts = {text.strip('"') for (text,) in connection.execute(TEXTS).fetchall() if len(text or "") > 9}
    assert len(labels) > 20
    assert len(texts) > 50
    forget(tmp_path, Selection(labels=labels))
    payloads = [str(row["payload_json"]) for name in TABLES_OF_GRAPHS for row in rows_of(tmp_path, name)]
    left = {text for text in texts for payload in payloads if text in payload}
    assert left == {'{"cmd":"ls"}'}, "which a call has that no run led to"


def graph_of_two(marker: str) -> AgentGraph:
    """Two agents with runs of one name. What only the first has, in every way in which it can, holds the marker."""
    graph = AgentGraph()
    run = {"agent_id": "a", "run_id": "run-1"}

    def message(name: str, role: str, text: str) -> str:
        return graph.node("Message", name, role=role, content=[{"type": "text", "text": text}])

    graph.event("run_started", 0, agent_id="b", run_id="run-1", reason="user")
    graph.event(
        "model_request", 1, agent_id="b", run_id="run-1", model="x", input_refs=[message("both", "system", "Shared.")]
    )
    graph.event("history_append", 1, **run, list="main", message_ref=message("m", "user", marker))
    inputs = [message("only input", "system", marker), "both", "m"]
    graph.event("model_request", 2, **run, model="x", input_refs=inputs)
    answer = graph.event("model_response", 3, **run, output_ref=message("answer", "assistant", marker))
    graph.event("tool_call", 4, **run, call_id="c", requested_by=answer, server="s", tool="exec", args={"x": marker})
    graph.node("ToolCall", "both", call_id="c", args={"x": marker})  # of another kind than the message of that name
    graph.node("ToolResult", "result", output=marker)
    graph.edge("RETURNS_RESULT", "both", "result", src_kind="ToolCall")
    graph.node("Summary", "summary", text=marker)
    graph.edge("SUMMARIZES", "summary", "m")
    graph.node("Agent", "a", note=marker)
    graph.node("Agent", "b")
    graph.edge("AGENT_HAS_RUN", "a", "run-1", note=marker)
    return graph


def test_only_what_the_run_of_that_agent_reaches_goes(tmp_path: Path, marker: str) -> None:
    ledger = tmp_path / "ledger"
    [label] = [name for name in import_graphs(ledger, graph_of_two(marker).write(tmp_path / "g.jsonl")) if "a/" in name]
    forget_session(ledger, label)
    assert [(row["kind"], row["node_id"]) for row in rows_of(ledger, "dag_nodes")] == [
        ("Agent", "b"),
        ("Message", "both"),
    ]
    assert {row["agent_id"] for row in rows_of(ledger, "dag_events")} == {"b"}
    assert not any(marker.encode() in content for content in bytes_of(ledger))


def test_a_run_that_only_edges_name_goes_with_its_session(tmp_path: Path, marker: str) -> None:
    graph = AgentGraph()
    graph.node("Message", "m", role="user", content=[{"type": "text", "text": marker}])
    event = graph.event("history_append", 1, list="main", message_ref="m")
    graph.edge("RUN_HAS_EVENT", "r", event, seq=0)
    graph.edge("AGENT_HAS_RUN", "a", "r")
    ledger = tmp_path / "ledger"
    [label] = import_graphs(ledger, graph.write(tmp_path / "g.jsonl"))
    forget_session(ledger, label)
    assert not any(rows_of(ledger, name) for name in TABLES_OF_GRAPHS)


def test_chats_and_programs_with_the_id_of_a_forgotten_run_stay(tmp_path: Path) -> None:
    rows = {
        "turns": [turn("T")],
        "sessions": [session("g:a/x", "T", origin_session_id="x")],
        "chat_conversations": [{"id": "x"}],
        "chat_participants": [{"id": "p", "conversation_id": "x", "kind": "user"}],
        "program_events": [{"event_id": "e", "kind": "TASK_CREATED", "program_id": "x", "payload_json": "{}"}],
        "tags": [
            {"entity_type": table, "entity_id": key, "tag": "t", "added_at": 1}
            for table, key in (("chat_conversations", "x"), ("chat_participants", "p"), ("sessions", "g:a/x"))
        ],
    }
    deliver(tmp_path, rows)
    forget_session(tmp_path, "g:a/x")
    left = dump(tmp_path)
    assert {name: len(left[name]) for name in rows if name in left} == {
        "chat_conversations": 1,
        "chat_participants": 1,
        "program_events": 1,
        "tags": 2,
    }
