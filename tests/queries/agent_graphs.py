"""The graph on which the pack `agent_dag` is tried: two agents that prepare a release, and what went wrong."""

from pathlib import Path

from aix.pipeline.run import Settings, import_histories
from tests.support.agent_graph import AgentGraph

ADA = {"agent_id": "ada", "run_id": "run-1"}


def build_graph_ledger(folder: Path) -> Path:
    """Import the graph into a ledger."""
    import_histories(folder, [release().write(folder.parent / "release.jsonl")], Settings(jobs=0))
    return folder


def release() -> AgentGraph:
    """Return the whole graph."""
    graph = AgentGraph()
    answer = _conversation(graph)
    _interruption(graph, answer)
    _policies(graph)
    _resources(graph)
    _forks(graph, answer)
    _nightly_run(graph)
    _lineage(graph)
    return graph


def _message(graph: AgentGraph, message_id: str, role: str, text: str, second: int) -> str:
    return graph.node(
        "Message", message_id, role=role, content=[{"type": "text", "text": text}], created_at=f"second {second}"
    )


def _conversation(graph: AgentGraph) -> str:
    """A question, a request, an answer with two calls, their results, and a second answer."""
    graph.event("run_started", 0, **ADA, reason="user")
    _message(graph, "m-1", "user", "Prepare release 2.4.", 1)
    asked = graph.event("history_append", 1, **ADA, list="main", message_ref="m-1")
    request = graph.event(
        "model_request",
        2,
        **ADA,
        model="o4-mini",
        params={"temperature": 0},
        input_refs=[{"event_id": asked}],
        correlation_id="c-1",
    )
    _message(graph, "m-2", "assistant", "I run the tests first.", 5)
    answer = graph.event(
        "model_response",
        5,
        **ADA,
        request_id=request,
        output_ref="m-2",
        finish_reason="tool_use",
        correlation_id="c-1",
        usage={"prompt_tokens": 900, "completion_tokens": 40, "total_tokens": 940},
    )
    call = {"server": "runtime", "tool": "exec", "requested_by": {"event_id": answer}, "correlation_id": "c-1"}
    graph.event("tool_call", 6, **ADA, **call, call_id="exec-1", args={"cmd": "make test"})
    graph.event("tool_call", 6, **ADA, **call, call_id="exec-2", args={"cmd": "git status"})
    graph.event("tool_result", 8, **ADA, call_id="exec-2", status="ok", result={"rc": 0}, correlation_id="c-1")
    graph.event(
        "tool_result",
        66,
        **ADA,
        call_id="exec-1",
        status="error",
        result={"rc": 2, "stderr": "1 failed"},
        correlation_id="c-1",
    )
    _message(graph, "m-3", "assistant", "One test fails.", 70)
    second = graph.event(
        "model_request", 67, **ADA, model="o4-mini", input_refs=["m-1", {"id": "m-2"}], correlation_id="c-2"
    )
    graph.event("model_response", 70, **ADA, request_id=second, output_ref="m-3", correlation_id="c-2")
    return answer


def _interruption(graph: AgentGraph, answer: str) -> None:
    """A call that timed out and was made again, and a denied one that nothing replaced."""
    call = {"server": "runtime", "tool": "exec", "requested_by": answer}
    slow = graph.event("tool_call", 80, **ADA, **call, call_id="exec-3", args={"cmd": "make build"}, event_id="call-3")
    late = graph.event("tool_result", 140, **ADA, call_id="exec-3", status="timeout", result={})
    graph.event("interruption", 141, **ADA, reason="timeout", affects=[{"event_id": "call-3"}, late])
    quick = graph.event("tool_call", 150, **ADA, **call, call_id="exec-4", args={"cmd": "make -j2 build"})
    graph.event("tool_result", 170, **ADA, call_id="exec-4", status="ok", result={"rc": 0})
    graph.event(
        "substitution", 171, **ADA, original_event={"event_id": slow}, replacement_event=quick, reason="made again"
    )
    denied = graph.event("tool_call", 180, **ADA, **call, call_id="exec-5", args={"cmd": "git push --force"})
    graph.event("interruption", 181, **ADA, reason="approval_denied", affects=[{"event_id": denied}])
    graph.event("run_finished", 200, **ADA, exit="success")


def _policies(graph: AgentGraph) -> None:
    """A policy in force, a proposal that was activated, and one that was not."""
    graph.node("Policy", "policy-1", kind="active", path_or_uri={"path": "policy/current.py"}, since=-100, until=100)
    graph.node("Policy", "policy-2", kind="proposal", path_or_uri={"path": "policy/no_push.py"}, since=50)
    graph.node(
        "Policy",
        "policy-2",
        kind="active",
        path_or_uri={"path": "policy/no_push.py"},
        since=100,
        tests_summary={"total": 12, "passed": 12, "failed": 0},
        source_digest="d-2",
    )
    graph.node(
        "Policy",
        "policy-3",
        kind="proposal",
        path_or_uri={"uri": "resource://approval-policy/policy.py"},
        tests_summary={"total": 12, "passed": 9, "failed": 3},
    )
    graph.event("policy_activated", -100, agent_id="ada", policy_ref="policy-1", notes="as delivered")
    asked = graph.event("history_append", 50, **ADA, list="policy", message_ref="m-1")
    graph.edge("PROPOSES_POLICY", asked, "policy-2")
    graph.event("policy_activated", 100, **ADA, policy_ref={"id": "policy-2"})
    graph.edge("PROPOSES_POLICY", asked, "policy-3", since=120)


def _resources(graph: AgentGraph) -> None:
    """A volume, a container with a shell in it, owners, mounts, probes, snapshots and restores."""
    graph.node("Resource", "work", kind="docker_volume", name="work", capabilities=["snapshot", "restore", "fork"])
    graph.node("Resource", "box", kind="docker_container", name="box", capabilities=["snapshot", "share"])
    graph.node(
        "Resource",
        "shell",
        kind="docker_container",
        name="shell",
        capabilities=["restore"],
        imperative=True,
        liveness={"status": "alive"},
        scope={"agent_id": "ada"},
    )
    graph.node("Container", "box-container", name="box")
    graph.edge("OWNS_RESOURCE", "ada", "work", src_kind="Agent", since=-100, until=300)
    graph.edge("OWNS_RESOURCE", "scout", "work", src_kind="Agent", since=300)
    graph.edge("MOUNTS_RESOURCE", "run-1", "work", mount="/work", mode="rw", since=0, until=200)
    graph.edge("MOUNTS_RESOURCE", "box-container", "work", attrs={"mount": "/data", "mode": "ro"})
    graph.edge("HAS_SUBRESOURCE", "box", "shell")
    graph.event("resource_attached", 3, **ADA, resource_ref="shell", mode="rw")
    graph.event("resource_liveness_probe", 10, resource_ref="shell", status="alive")
    graph.event("resource_liveness_probe", 60, resource_ref="shell", status="dead")
    graph.event("resource_detached", 90, agent_id="ada", resource_ref="shell")
    graph.event("resource_attached", 95, agent_id="ada", resource_ref={"id": "box"}, mode="ro")
    for name, second, outcome in (("work", 40, "ok"), ("box", 41, "ok"), ("shell", 42, "error")):
        graph.node("Snapshot", f"snap-{name}", resource_ref=name, method="fs_copy")
        graph.event(
            "snapshot_created", second, agent_id="ada", resource_ref=name, snapshot_ref=f"snap-{name}", outcome=outcome
        )
    graph.node("Resource", "work-2", kind="docker_volume", name="work-2", capabilities=["snapshot", "restore"])
    restore = "restore_attempted"
    graph.event(restore, 210, agent_id="ada", snapshot_ref="snap-work", outcome="ok", new_resource_ref="work-2")
    graph.event(restore, 211, agent_id="ada", snapshot_ref="snap-box", outcome="unsupported")
    graph.event(restore, 212, agent_id="ada", snapshot_ref="snap-shell", outcome="ok")
    graph.event(restore, 213, agent_id="ada", snapshot_ref="snap-work", outcome="unsupported")
    graph.event(restore, 214, agent_id="ada", snapshot_ref="snap-lost", outcome="unsupported")
    graph.event(restore, 215, agent_id="ada", snapshot_ref="snap-work", outcome="error")


def _forks(graph: AgentGraph, answer: str) -> None:
    """Two branches, one of them with a plan that breaks the rules, and a subagent of a subagent."""
    graph.event(
        "agent_forked",
        96,
        agent_id="ada",
        from_branch="main",
        to_branch="try-1",
        at_event={"event_id": answer},
        volume_plan=[
            {"resource": "work", "mode": "snapshot", "snapshot_ref": {"kind": "tar", "id": "sha256:0a"}},
            {"resource": "box", "mode": "keep", "kept_by": "main"},
            {"resource": "shell", "mode": "discard"},
        ],
    )
    graph.event(
        "agent_forked",
        97,
        agent_id="ada",
        from_branch="try-1",
        to_branch="try-2",
        at_event=answer,
        volume_plan=[
            {"resource": "work", "mode": "keep"},
            {"resource": "box", "mode": "keep", "kept_by": "try-2"},
            {"resource": "shell", "mode": "snapshot"},
            {"resource": "gone", "mode": "discard"},
        ],
    )
    graph.event("agent_forked", 98, agent_id="ada", from_branch="main", to_branch="try-3")
    graph.node("Subagent", "scout", parent_agent_id="ada", constraints={"tools": ["read"]})
    graph.node("Subagent", "lookout", parent_agent_id="scout")
    graph.edge("FORKED_FROM", "scout", "run-1", dst_kind="Run")
    graph.event("run_started", 20, agent_id="scout", run_id="run-2", reason="subagent")


def _nightly_run(graph: AgentGraph) -> None:
    """Events that leave run and order to edges; the log has them in another order than the run."""
    last = graph.event("run_finished", 302, exit="success")
    first = graph.event("run_started", 302, reason="schedule")
    between = graph.event(
        "mcp.resource_updated",
        301,
        agent_id="nightly",
        server="policy",
        uri="resource://approval-policy/policy.py",
        event_id="update-1",
    )
    graph.node(
        "Resource", "policy-file", kind="uri", name="resource://approval-policy/policy.py", capabilities=["restore"]
    )
    graph.node("Run", "run-3")
    graph.edge("AGENT_HAS_RUN", "nightly", "run-3")
    for seq, event in enumerate((first, "update-1", last), start=1):
        graph.edge("RUN_HAS_EVENT", "run-3", event, seq=seq)
    assert between


def _lineage(graph: AgentGraph) -> None:
    """A summary of two messages, a report of the summary, and two notes that were each made of the other."""
    graph.node("Summary", "s-1", text="Tests were run; one fails.")
    graph.edge("SUMMARIZES", "s-1", "m-2", dst_kind="Message")
    for source in ("m-2", "m-3"):
        graph.edge("DERIVED_FROM", "s-1", source)
    graph.node("Summary", "s-2", text="One test fails.")
    graph.edge("DERIVED_FROM", "s-2", "s-1", src_kind="Summary")
    graph.edge("DERIVED_FROM", "m-3", "m-1")
    graph.node("Summary", "note-1")
    graph.node("Summary", "note-2")
    graph.edge("DERIVED_FROM", "note-1", "note-2")
    graph.edge("DERIVED_FROM", "note-2", "note-1")
    graph.edge("DERIVED_FROM", "s-2", "lost-1")
