"""Words of an agent graph: kinds of events, types of nodes, and types of edges with the ends that each allows.

The check `queries/health/dag_edge_types.sql` has the same table in SQL.
"""

from typing import NamedTuple

EVENT = "Event"
"""The kind of an end of an edge that is an event."""

EVENT_KINDS = frozenset(
    {
        "model_request",
        "model_response",
        "history_append",
        "tool_call",
        "tool_result",
        "mcp.resource_updated",
        "mcp.resource_list_changed",
        "policy_activated",
        "interruption",
        "substitution",
        "agent_forked",
        "run_started",
        "run_finished",
        "snapshot_materialized",
        "snapshot_created",
        "resource_attached",
        "resource_detached",
        "resource_liveness_probe",
        "restore_attempted",
    }
)

NODE_TYPES = frozenset(
    {
        "Agent",
        "Run",
        "Message",
        "Generation",
        "ToolCall",
        "ToolResult",
        "Policy",
        "Resource",
        "Container",
        "Snapshot",
        "Handle",
        "Subagent",
        "Branch",
        "Summary",
    }
)


class Ends(NamedTuple):
    """Kinds that the two ends of an edge may have; an empty set allows every kind."""

    src: frozenset[str]
    dst: frozenset[str]


def _ends(src: str, dst: str) -> Ends:
    return Ends(frozenset(src.split()), frozenset(dst.split()))


EDGE_TYPES = {
    "AGENT_HAS_RUN": _ends("Agent", "Run"),
    "RUN_HAS_EVENT": _ends("Run", "Event"),
    "EVENT_PRODUCES": _ends("Event", "Message Generation ToolResult Summary Snapshot"),
    "EVENT_CONSUMES": _ends("Event", "Message Generation ToolCall Resource"),
    "APPENDED_TO_HISTORY": _ends("Run Agent", "Message"),
    "CALLS_TOOL": _ends("Event Generation", "ToolCall"),
    "RETURNS_RESULT": _ends("ToolCall", "ToolResult"),
    "MCP_RESOURCE_UPDATED": _ends("Event", "Resource"),
    "INTERRUPTS": _ends("Event", "Event"),
    "SUBSTITUTES": _ends("Event", "Event"),
    "SUMMARIZES": _ends("Summary", "Message Event Run"),
    "DERIVED_FROM": _ends("", ""),
    "OWNS_RESOURCE": _ends("Agent Run", "Resource"),
    "MOUNTS_RESOURCE": _ends("Run Container", "Resource"),
    "HAS_SUBRESOURCE": _ends("Resource", "Resource"),
    "SNAPSHOT_OF": _ends("Snapshot", "Resource"),
    "RESTORES_TO": _ends("Snapshot", "Resource"),
    "ATTACHED_TO": _ends("Resource", "Run Agent"),
    "FORKED_FROM": _ends("Branch Subagent", "Agent Run Event"),
    "SPAWNED_FROM": _ends("Subagent", "Agent"),
    "ACTIVATES_POLICY": _ends("Event", "Policy"),
    "PROPOSES_POLICY": _ends("Event", "Policy"),
}

EVENTS_BEHIND_NODES = {
    "Generation": "model_response",
    "ToolCall": "tool_call",
    "ToolResult": "tool_result",
    "Snapshot": "snapshot_materialized",
}
"""Types of nodes that an event of a kind stands for, under its event id; calls and results under their call id too."""

NODES_LIKE = {"Agent": ("Subagent",), "Resource": ("Container",), "Container": ("Resource",)}
"""Types of nodes that count as another type too: a subagent is an agent, a container is a resource."""
