"""Agent graphs, chats and principals that break an invariant, and the rows that each check must name."""

import json

from tests.support.agent_graph import NOON, AgentGraph
from tests.support.broken_ledgers import ANSWER, QUESTION, Case, Change, Rows, add, put
from tests.support.sample_conversation import FIRST, MAIN, compact_json

RUN = {"agent_id": "ada", "run_id": "run-1"}
CHAT = "conversation:conv-1"


def with_graph(graph: AgentGraph) -> Change:
    """Put a graph in the place of the sample's."""
    return lambda rows: rows.update(graph.rows())


def whole_graph() -> AgentGraph:
    """Return a graph without faults, with everything that checks look at."""
    graph = AgentGraph()
    start = graph.event("run_started", 0, **RUN, seq=1)
    graph.node("Message", "m-1", role="user", content=[])
    asked = graph.event("history_append", 1, **RUN, message_ref="m-1", seq=2)
    request = graph.event("model_request", 2, **RUN, input_refs=[asked], correlation_id="c-1", seq=3)
    answer = graph.event("model_response", 3, **RUN, request_id="c-1", output_ref="m-1", correlation_id="c-1", seq=4)
    again = graph.event("model_response", 3, **RUN, request_id=request, seq=5)
    call = graph.event("tool_call", 4, **RUN, call_id="exec-1", requested_by=answer, seq=6)
    lost = graph.event("tool_result", 5, **RUN, call_id="exec-1", status="timeout", seq=7)
    found = graph.event("tool_result", 6, **RUN, call_id="exec-1", status="ok", seq=8)
    graph.event("interruption", 6, **RUN, reason="timeout", affects=[{"event_id": lost}], seq=9)
    graph.event("substitution", 7, **RUN, original_event={"event_id": lost}, replacement_event=found, seq=10)
    graph.event("tool_call", 4, agent_id="ada", run_id="run-2", call_id="exec-1")
    graph.event("tool_result", 5, agent_id="ada", run_id="run-2", call_id="exec-1", status="ok")
    for number, since, until in ((1, 0, 50), (2, 50, None)):
        times = {"since": since} if until is None else {"since": since, "until": until}
        graph.node("Policy", f"policy-{number}", kind="active", **times)
        graph.event("policy_activated", since, agent_id="ada", policy_ref=f"policy-{number}")
    graph.node("Resource", "work", capabilities=["snapshot", "restore"])
    graph.node("Resource", "shell", capabilities=["snapshot"], imperative=True)
    for name, outcome in (("work", "ok"), ("shell", "unsupported")):
        graph.node("Snapshot", f"snap-{name}", resource_ref=name)
        graph.event("restore_attempted", 60, agent_id="ada", snapshot_ref=f"snap-{name}", outcome=outcome)
    for branch, mode in (("try-1", "keep"), ("try-2", "discard")):
        plan = [
            {"resource": "work", "mode": "keep", "kept_by": branch},
            {"resource": "shell", "mode": mode, "kept_by": branch},
        ]
        graph.event("agent_forked", 70, agent_id="ada", to_branch=branch, at_event=answer, volume_plan=plan)
    graph.node("Subagent", "scout", parent_agent_id="ada")
    _rare_but_right(graph, found)
    graph.edge("CALLS_TOOL", answer, call)
    graph.edge("EVENT_PRODUCES", again, "m-1")
    graph.edge("DERIVED_FROM", "snap-work", start)
    return graph


def _rare_but_right(graph: AgentGraph, result: str) -> None:
    """Inputs that are events, ends that count as another kind, nodes with times, and a policy of two agents."""
    deep = {"event_id": result, "about": {"files": {"changed": "a.py"}}}
    graph.event("model_request", 8, agent_id="ada", run_id="run-3", input_refs=[result, deep])
    graph.node("Container", "box")
    graph.edge("AGENT_HAS_RUN", "scout", "run-3", src_kind="Subagent")
    graph.edge("OWNS_RESOURCE", "scout", "box", src_kind="Subagent", dst_kind="Container")
    graph.node("ToolCall", "exec-9", tool="exec", since=1)
    graph.event("tool_result", 9, agent_id="ada", run_id="run-3", call_id="exec-9", status="ok")
    graph.node("Resource", "disk", capabilities=["restore"], since=0, until=60)
    graph.node("Resource", "disk", capabilities=[], since=60)
    graph.node("Snapshot", "snap-disk", resource_ref="disk")
    graph.event("restore_attempted", 30, agent_id="ada", snapshot_ref="snap-disk", outcome="ok")
    graph.node("Policy", "shared", kind="active", since=1)
    graph.node("Policy", "own", kind="active", since=1, until=50)
    for agent, second, policy in (
        ("bo", 1, "shared"),
        ("cleo", 1, "own"),
        ("cleo", 50, "shared"),
        ("bo", 70, "policy-3"),
    ):
        graph.event("policy_activated", second, agent_id=agent, policy_ref=policy)
    graph.node("Policy", "policy-3", kind="active", since=70)


def _faulty_graph() -> tuple[AgentGraph, dict[str, set[str]]]:
    """Return a graph with every fault, each of an agent of its own, and the rows that checks must name."""
    graph = AgentGraph()
    broken: dict[str, set[str]] = {}
    for build in (
        _numbers,
        _times,
        _lone_answers,
        _two_results,
        _two_results_of_edges,
        _edges,
        _unknown_reference,
        _impossible_restores,
        _shared_shell,
        _two_policies,
        _policies_at_once,
    ):
        for check, rows in build(graph).items():
            broken.setdefault(check, set()).update(rows)
    broken["dag_event_claims"] = {graph.event("run_started", 0, agent_id="eve", event_id="e-1")}
    return graph, broken


def _numbers(graph: AgentGraph) -> dict[str, set[str]]:
    run = {"agent_id": "ada", "run_id": "numbers"}
    graph.event("run_started", 0, **run, seq=1)
    twice = {graph.event("history_append", second, **run, list="main", seq=2) for second in (1, 2)}
    after_gap = graph.event("run_finished", 3, **run, seq=4)
    return {"dag_run_linear": {*twice, after_gap}}


def _times(graph: AgentGraph) -> dict[str, set[str]]:
    run = {"agent_id": "ada", "run_id": "times"}
    late = graph.event("run_started", 9, **run)
    timeless = graph.event("history_append", 4, **run, ts=None, list="main")
    early = graph.event("run_finished", 3, **run)
    for seq, event in enumerate((late, timeless, early)):
        graph.edge("RUN_HAS_EVENT", "times", event, seq=seq)
    return {"dag_run_linear": {early}}


def _lone_answers(graph: AgentGraph) -> dict[str, set[str]]:
    run = {"agent_id": "ada", "run_id": "lone-answers"}
    graph.event("model_request", 0, **run, correlation_id="c-1")
    named = graph.event("model_response", 1, **run, request_id="c-2")
    unnamed = graph.event("model_response", 2, **run)
    result = graph.event("tool_result", 3, **run, call_id="exec-1", status="ok")
    other = {"agent_id": "ada", "run_id": "other-run"}
    graph.event("tool_call", 4, **other, call_id="exec-1")
    elsewhere = graph.event("model_response", 5, **other, correlation_id="c-1")
    return {"dag_correlation": {named, unnamed, result, elsewhere}}


def _two_results(graph: AgentGraph) -> dict[str, set[str]]:
    run = {"agent_id": "ada", "run_id": "two-results"}
    graph.event("tool_call", 0, **run, call_id="exec-1")
    graph.event("tool_result", 1, **run, call_id="exec-1", status="error")
    return {"dag_correlation": {graph.event("tool_result", 2, **run, call_id="exec-1", status="ok")}}


def _two_results_of_edges(graph: AgentGraph) -> dict[str, set[str]]:
    graph.node("ToolCall", "call-1")
    for result in ("result-1", "result-2"):
        graph.node("ToolResult", result)
        graph.edge("RETURNS_RESULT", "call-1", result)
    return {"dag_correlation": {str(graph.rows()["dag_edges"][-1]["id"])}}


def _edges(graph: AgentGraph) -> dict[str, set[str]]:
    """An unknown type, an end that is not there, and an end of a wrong kind."""
    start = graph.event("run_started", 0, agent_id="ada", run_id="edges")
    for edge in (("KNOWS", "ada", "edges"), ("OWNS_RESOURCE", "ada", "nowhere"), ("SPAWNED_FROM", "ada", start)):
        graph.edge(*edge)
    return {"dag_edge_types": {str(row["id"]) for row in graph.rows()["dag_edges"][-3:]}}


def _unknown_reference(graph: AgentGraph) -> dict[str, set[str]]:
    return {"dag_edge_types": {graph.event("policy_activated", 0, agent_id="bea", policy_ref="policy-9")}}


def _impossible_restores(graph: AgentGraph) -> dict[str, set[str]]:
    graph.node("Resource", "box", capabilities=["snapshot"])
    graph.node("Snapshot", "snap-1", resource_ref="box")
    return {
        "dag_imperative": {
            graph.event("restore_attempted", second, agent_id="ada", snapshot_ref="snap-1", outcome=outcome)
            for second, outcome in enumerate(("ok", "error"))
        }
    }


def _shared_shell(graph: AgentGraph) -> dict[str, set[str]]:
    graph.node("Resource", "shell", capabilities=["restore"], imperative=True)
    plan = [{"resource": "shell", "mode": "keep", "kept_by": branch} for branch in ("main", "try-1")]
    fork = graph.event("agent_forked", 0, agent_id="ada", from_branch="main", to_branch="try-1", volume_plan=plan)
    again = max(
        graph.event("agent_forked", 1, agent_id="bea", to_branch=branch, at_event=fork, volume_plan=[unnamed])
        for unnamed in [{"resource": "shell", "mode": "keep"}]
        for branch in ("try-2", "try-3")
    )
    return {"dag_imperative": {fork, again}}


def _two_policies(graph: AgentGraph) -> dict[str, set[str]]:
    graph.node("Policy", "policy-1", kind="active", since=0, until=60)
    graph.node("Policy", "policy-2", kind="active", since=50)
    for second, policy in ((0, "policy-1"), (50, "policy-2")):
        graph.event("policy_activated", second, agent_id="cy", policy_ref=policy)
    return {"dag_one_active_policy": {compact_json(["Policy", "policy-2", str(NOON + 50_000)])}}


def _policies_at_once(graph: AgentGraph) -> dict[str, set[str]]:
    for policy in ("policy-3", "policy-4"):
        graph.node("Policy", policy, kind="active")
        graph.event("policy_activated", 0, agent_id="dan", policy_ref=policy)
    return {"dag_one_active_policy": {compact_json(["Policy", "policy-4", "0"])}}


def _changed_payload(rows: Rows) -> None:
    rows["dag_events"][0]["payload_json"] = '{"kind":"run_finished"}'


def written_by(participant: str) -> Change:
    """Make the first question a message of a chat, written by a participant."""
    written = put("messages", QUESTION, metadata_json=json.dumps({"authorParticipantId": participant}))
    routed = put("sessions", MAIN, routing_key=CHAT)

    def change(rows: Rows) -> None:
        written(rows)
        routed(rows)

    return change


def act(principal_type: str | None, chain: list[str], payload: str = "{}") -> Change:
    """Let an agent do something, on behalf of others."""
    return add(
        "program_events",
        event_id="acted",
        kind="TASK_STARTED",
        principal="robot",
        principal_type=principal_type,
        on_behalf_of=json.dumps(chain),
        payload_json=payload,
    )


FAULTY_GRAPH, FAULTS = _faulty_graph()
PARTICIPANT = {"kind": "user", "user_id": "user-1"}
GRAPH_CASES = [
    Case(
        "an event that is not what its id says",
        (_changed_payload,),
        {"dag_event_hash": {"b7f5793c571b6a8a7c12015d1c24193e1b6e3bfae9412a46add295735f1abcaf"}},
    ),
    Case("a graph with every fault", (with_graph(FAULTY_GRAPH),), FAULTS),
    Case("an author who is in no chat", (written_by("part-9"),), {"chat_authors": {QUESTION}}),
    Case(
        "mentions of nobody, and of an agent as a user",
        (
            put("sessions", MAIN, routing_key=CHAT),
            put("messages", QUESTION, content="@[Bo](user:bo), ask @[Ada](user:user-1) and @[It](model:m)!"),
            put("messages", ANSWER, content="@[Helper](user:agent-1), or @[Helper](agent:agent-1)?"),
        ),
        {"chat_mention_targets": {QUESTION, ANSWER}},
    ),
    Case(
        "an author of another chat",
        (
            written_by("part-2"),
            add("chat_conversations", id="conv-2"),
            add("chat_participants", id="part-2", conversation_id="conv-2", **PARTICIPANT),
        ),
        {"chat_authors": {QUESTION}},
    ),
    Case(
        "an author who had been removed",
        (
            written_by("part-2"),
            add("chat_participants", id="part-2", conversation_id="conv-1", removed_at=1, **PARTICIPANT),
        ),
        {"chat_authors": {QUESTION}},
    ),
    Case(
        "a principal of an unknown type",
        (act(None, [], '{"principal":{"type":"robot"}}'),),
        {"principal_chains": {"acted"}},
    ),
    Case("a principal who acts for itself", (act("agent", ["user-1", "robot"]),), {"principal_chains": {"acted"}}),
    Case(
        "a principal who acts in the end for a model",
        (act("agent", ["user-1", "model-x"]),),
        {"principal_chains": {"acted"}},
    ),
    Case(
        "a turn whose principal acts for itself",
        (put("turn_context", FIRST, principal="ada", on_behalf_of="ada"),),
        {"principal_chains": {FIRST}},
    ),
]
"""Cases of the invariants of graphs (G), chats (C) and principals (S)."""

GRAPHS_WITHOUT_FAULTS: list[tuple[Change, ...]] = [
    (with_graph(whole_graph()),),
    (
        written_by("part-2"),
        add("chat_participants", id="part-2", conversation_id="conv-1", removed_at=NOON, **PARTICIPANT),
    ),
    (act("agent", ["session-7", "user-1"]),),
    (act("agent", ["nobody-knows"]),),
    (put("messages", ANSWER, metadata_json='{"authorParticipantId":"part-9"}'),),
]
