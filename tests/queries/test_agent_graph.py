"""Views of agent graphs: stated and implied records, names of events, the order of runs, and a graph at a time."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import aix
from aix.query.views import library_views
from aix.reading.ledger import Ledger
from aix_importers.common.agent_dag_words import EDGE_TYPES
from tests.support.agent_graph import NOON, AgentGraph
from tests.support.row_batches import deliver


@pytest.fixture(scope="module")
def graph(graph_ledger: Path) -> Iterator[Ledger]:
    with aix.open(graph_ledger) as ledger:
        yield ledger


def test_importers_and_sql_know_the_same_types_of_edges(graph: Ledger) -> None:
    stated = {
        edge_type: tuple(frozenset(kinds.replace("*", "").split()) for kinds in ends)
        for edge_type, *ends in graph.sql(library_views()["v_dag_edge_types"].sql)
    }
    assert stated == EDGE_TYPES


def test_nothing_is_both_stated_and_implied(graph: Ledger) -> None:
    twice = "select {0}, count(*) from {1} group by all having bool_or(is_stated) and not bool_and(is_stated)"
    assert graph.sql(twice.format("type, src, dst", "v_dag_edges")).rows() == []
    assert graph.sql(twice.format("kind, node_id", "v_dag_nodes")).rows() == []
    both = "select count(*) filter (is_stated), count(*) filter (not is_stated) from {0}"
    for view in ("v_dag_edges", "v_dag_nodes"):
        [(stated, implied)] = graph.sql(both.format(view)).rows()
        assert stated
        assert implied


def test_every_edge_type_that_events_can_imply_is_implied(graph: Ledger) -> None:
    implied = {edge_type for (edge_type,) in graph.sql("select distinct type from v_dag_edges where not is_stated")}
    only_stated = {
        "SUMMARIZES",
        "DERIVED_FROM",
        "OWNS_RESOURCE",
        "MOUNTS_RESOURCE",
        "HAS_SUBRESOURCE",
        "PROPOSES_POLICY",
    }
    assert implied == EDGE_TYPES.keys() - only_stated


def test_an_event_is_found_by_its_hash_and_by_the_id_that_it_claims(tmp_path: Path) -> None:
    graph = AgentGraph()
    first = graph.event("run_started", 0, agent_id="ada", run_id="run-1", event_id="start")
    graph.event("run_finished", 1, agent_id="ada", run_id="run-1", event_id=first)
    graph.event("interruption", 2, agent_id="ada", run_id="run-1", affects=["start", {"event_id": first}])
    deliver(tmp_path, graph.rows())
    with aix.open(tmp_path) as ledger:
        assert ledger.sql("select distinct dst from v_dag_edges where type = 'INTERRUPTS'").rows() == [(first,)]


def test_time_decides_in_a_run_of_which_not_all_events_have_a_number(tmp_path: Path) -> None:
    graph = AgentGraph()
    kinds = [("run_finished", 3, {"seq": 1}), ("tool_call", 2, {}), ("run_started", 1, {"seq": 2})]
    for kind, second, number in kinds:
        graph.event(kind, second, agent_id="ada", run_id="run-1", **number)
    deliver(tmp_path, graph.rows())
    with aix.open(tmp_path) as ledger:
        history = ledger.query("run_history").rows()
    assert [row[5] for row in history] == ["run_started", "tool_call", "run_finished"]


@pytest.mark.parametrize(
    ("second", "holders", "alive"),
    [
        (-101, {"box-container"}, []),
        (50, {"ada", "run-1", "box-container"}, [("shell", "attached", "run-1", "alive")]),
        (80, {"ada", "run-1", "box-container"}, [("shell", "attached", "run-1", "dead")]),
        (300, {"scout", "box-container"}, [("box", "attached", "ada", None)]),
    ],
)
def test_owners_mounts_and_attachments_are_those_of_the_moment(
    graph: Ledger, second: int, holders: set[str], alive: list[tuple[str, str, str, str | None]]
) -> None:
    at = NOON + second * 1000
    assert {row[5] for row in graph.query("resources_at", at=at, resource="work")} == holders
    found = [(row[0], row[3], row[5], row[10]) for row in graph.query("attachments_at", at=at) if row[3] == "attached"]
    assert found == alive


def test_a_stated_edge_leaves_out_no_implied_one_of_another_time_or_list(tmp_path: Path) -> None:
    graph = AgentGraph()
    run = {"agent_id": "ada", "run_id": "run-1"}
    graph.node("Message", "m-1", role="user", content=[])
    graph.edge("APPENDED_TO_HISTORY", "run-1", "m-1", list="main")
    for name in ("main", "other"):
        graph.event("history_append", 1, **run, list=name, message_ref="m-1")
    for resource in ("timeless", "open", "later", "again"):
        graph.node("Resource", resource)
        graph.event("resource_attached", 10, **run, resource_ref=resource, mode="rw")
        graph.event("resource_detached", 20, **run, resource_ref=resource)
    graph.event("resource_attached", 20, **run, resource_ref="again", mode="ro")
    graph.edge("ATTACHED_TO", "timeless", "run-1", mode="rw")
    graph.edge("ATTACHED_TO", "open", "run-1", mode="rw", since=5)
    graph.edge("ATTACHED_TO", "later", "run-1", mode="rw", since=30)
    deliver(tmp_path, graph.rows())
    with aix.open(tmp_path) as ledger:
        lists = ledger.sql("select list_name, is_stated from v_dag_edges where dst = 'm-1' order by all").rows()
        attached = ledger.sql(
            f"select src, (valid_from - {NOON}) // 1000, (valid_to - {NOON}) // 1000, mode, is_stated from v_dag_edges"
            " where type = 'ATTACHED_TO' order by all"
        ).rows()
    assert lists == [("main", True), ("other", False)]
    assert attached == [
        ("again", 10, 20, "rw", False),
        ("again", 20, None, "ro", False),
        ("later", 10, 20, "rw", False),
        ("later", 30, None, "rw", True),
        ("open", 5, 20, "rw", True),
        ("timeless", 10, 20, "rw", True),
    ]


def test_references_are_read_however_they_are_written(tmp_path: Path) -> None:
    graph = AgentGraph()
    deep = {"id": "{m}", "a": {"b": {"c": {"d": "no reference"}}}}
    graph.event("model_request", 1, agent_id="ada", run_id="run-1", input_refs=["[m]", deep, {"a": 1}, None, ["m"]])
    deliver(tmp_path, graph.rows())
    with aix.open(tmp_path) as ledger:
        assert ledger.sql("select name from v_dag_references order by name").rows() == [("[m]",), ("{m}",)]


def test_calls_and_results_are_found_in_nodes_and_edges_too(tmp_path: Path) -> None:
    graph = AgentGraph()
    for run in ("run-1", "run-2"):
        graph.event("tool_call", 1, agent_id="ada", run_id=run, call_id="c-1")
        graph.event("tool_result", 2, agent_id="ada", run_id=run, call_id="c-1", status="ok")
    graph.node("ToolCall", "c-1", tool="exec")
    graph.node("ToolCall", "c-2", tool="read")
    graph.event("tool_result", 4, agent_id="ada", run_id="run-2", call_id="c-2", status="error")
    graph.node("ToolCall", "c-3", tool="write")
    graph.node("ToolResult", "r-3", status="timeout")
    graph.edge("RETURNS_RESULT", "c-3", "r-3")
    graph.node("ToolCall", "c-4", tool="fetch")
    deliver(tmp_path, graph.rows())
    with aix.open(tmp_path) as ledger:
        found = [(row[1], row[2], row[4], row[8], row[9]) for row in ledger.query("call_results")]
    assert found == [
        ("run-1", "c-1", "exec", "ok", 1),
        ("run-2", "c-1", "exec", "ok", 1),
        ("run-2", "c-2", "read", "error", 1),
        (None, "c-3", "write", "timeout", 1),
        (None, "c-4", "fetch", None, 0),
    ]


def test_a_substitution_says_why_where_an_edge_states_it_too(tmp_path: Path) -> None:
    graph = AgentGraph()
    first, second = (graph.event("tool_call", at, agent_id="ada", run_id="run-1", call_id=f"c-{at}") for at in (1, 2))
    graph.event("substitution", 3, agent_id="ada", original_event=first, replacement_event=second, reason="made again")
    graph.edge("SUBSTITUTES", second, first)
    deliver(tmp_path, graph.rows())
    with aix.open(tmp_path) as ledger:
        assert [row[10] for row in ledger.query("interruptions")] == ["made again"]


def test_a_plan_decides_for_parts_and_for_all_that_an_agent_holds(tmp_path: Path) -> None:
    graph = AgentGraph()
    for resource in ("box", "disk", "shell", "pipe"):
        scope = {"scope": {"agent_id": "ada"}} if resource == "pipe" else {}
        graph.node("Resource", resource, capabilities=["snapshot"], **scope)
    graph.edge("HAS_SUBRESOURCE", "box", "disk")
    graph.edge("OWNS_RESOURCE", "ada", "box", src_kind="Agent")
    graph.edge("AGENT_HAS_RUN", "ada", "run-1")
    graph.edge("MOUNTS_RESOURCE", "run-1", "shell")
    plan = [{"resource": "disk", "mode": "snapshot"}]
    graph.event("agent_forked", 1, agent_id="ada", from_branch="main", to_branch="try-1", volume_plan=plan)
    deliver(tmp_path, graph.rows())
    with aix.open(tmp_path) as ledger:
        found = [(row[7], row[1]) for row in ledger.query("fork_plans")]
    assert found == [("pipe", "alarm"), ("shell", "alarm"), ("disk", "ok")]


def test_descent_goes_on_by_way_of_the_branch_of_a_run(tmp_path: Path) -> None:
    graph = AgentGraph()
    ends = []
    for number in range(4):
        own = {"agent_id": "ada", "run_id": f"run-{number}"}
        stated = {"branch": "try-3"} if number == 3 else {}
        graph.event("run_started", number * 10, **own, **stated)
        ends.append(graph.event("run_finished", number * 10 + 1, **own))
    graph.node("Branch", "try-1", agent_id="ada", run_id="run-1")
    graph.node("Run", "run-2", agent_id="ada", branch="try-2")
    for number in (1, 2, 3):
        graph.node("Branch", f"try-{number}", agent_id="ada", **({"run_id": "run-1"} if number == 1 else {}))
        graph.edge("FORKED_FROM", f"try-{number}", ends[number - 1])
    # This branch names the run that it left, and so does not descend from itself.
    graph.node("Branch", "back", agent_id="ada", run_id="run-0")
    graph.edge("FORKED_FROM", "back", ends[0])
    deliver(tmp_path, graph.rows())
    with aix.open(tmp_path) as ledger:
        descent = ledger.query("fork_ancestry").rows()
    assert [row[3] for row in descent if row[1] == "try-3" and row[2] == "Branch"] == ["try-2", "try-1"]
    assert [row[3] for row in descent if row[1] == "try-3" and row[2] == "Run"] == ["run-2", "run-1", "run-0"]
    assert not any(row[6] for row in descent)


def test_many_ways_between_two_nodes_and_circles_come_to_an_end(tmp_path: Path) -> None:
    """A ladder of 20 rungs has 2^20 ways from one end to the other."""
    graph = AgentGraph()
    for rung in range(21):
        for side in "ab":
            graph.node("Summary", f"{side}-{rung}")
            for other in "ab" if rung else "":
                graph.edge("DERIVED_FROM", f"{side}-{rung}", f"{other}-{rung - 1}")
    graph.edge("DERIVED_FROM", "a-0", "a-20")
    deliver(tmp_path, graph.rows())
    with aix.open(tmp_path) as ledger:
        lineage = ledger.query("lineage", node="b-20").rows()
    assert len(lineage) == 41
    assert {row[4] for row in lineage if row[3] in ("a-0", "b-0")} == {20}


def test_containers_and_handles_are_judged_like_resources(tmp_path: Path) -> None:
    graph = AgentGraph()
    graph.node("Container", "box", capabilities=["snapshot"])
    graph.node("Handle", "shell", restorable=False)
    graph.node("Resource", "work", capabilities=["restore"])
    graph.node("Container", "work", capabilities=[])
    for resource in ("box", "shell", "work"):
        graph.node("Snapshot", f"of-{resource}", resource_ref=resource)
        graph.event("restore_attempted", 1, agent_id="ada", snapshot_ref=f"of-{resource}", outcome="ok")
    plan = [{"resource": each, "mode": "keep"} for each in ("box", "shell", "work")]
    at = graph.event("run_started", 2, agent_id="ada", run_id="run-1")
    for branch in ("try-1", "try-2"):
        fork = {"from_branch": "main", "to_branch": branch, "at_event": at, "volume_plan": plan}
        graph.event("agent_forked", 3, agent_id="ada", **fork)
    deliver(tmp_path, graph.rows())
    with aix.open(tmp_path) as ledger:
        restores = ledger.sql("select snapshot_id, resource_id, is_imperative from v_dag_restores order by all").rows()
        kept = ledger.sql("select resource_id, is_imperative, branches from v_dag_fork_plans group by all order by all")
        assert restores == [("of-box", "box", True), ("of-shell", "shell", True), ("of-work", "work", False)]
        assert kept.rows() == [("box", True, 2), ("shell", True, 2), ("work", False, 2)]
        assert {(row[0], row[1]) for row in ledger.query("restores")} == {
            ("box", "alarm"),
            ("shell", "alarm"),
            ("work", "ok"),
        }
        assert len(ledger.query("dag_imperative").rows()) == 4


def test_a_policy_may_say_itself_that_it_was_proposed(tmp_path: Path) -> None:
    graph = AgentGraph()
    graph.node("Policy", "early", kind="proposal", since=10)
    graph.node("Policy", "early", kind="proposal", docstring="Again.", since=20)
    graph.node("Policy", "early", kind="active", since=30)
    graph.event("policy_activated", 30, agent_id="ada", policy_ref="early")
    graph.node("Policy", "alone", kind="proposal", since=40)
    graph.node("Policy", "timeless", kind="proposal")
    graph.node("Policy", "asked", kind="proposal", since=50)
    graph.edge("PROPOSES_POLICY", graph.event("history_append", 60, agent_id="ada", run_id="run-1"), "asked")
    deliver(tmp_path, graph.rows())
    with aix.open(tmp_path) as ledger:
        found = ledger.query("policy_history").rows()
    seconds = [tuple(None if time is None else (time - NOON) // 1000 for time in (row[1], *row[5:7])) for row in found]
    assert [(row[0], row[2], row[3], times) for row, times in zip(found, seconds, strict=True)] == [
        ("ada", "proposed", "early", (10, 10, 30)),
        ("ada", "activated", "early", (30, 10, 30)),
        ("ada", "proposed", "asked", (60, 60, None)),
        (None, "proposed", "alone", (40, 40, None)),
    ]
    assert [row[13] is None for row in found] == [True, False, False, True]
