"""Agent graphs written by hand: events with right ids, nodes and edges, one object a line."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from aix.ids import h63
from tests.support.sample_conversation import Row

NOON = 1_793_534_400_000
"""2026-11-01 12:00 in UTC, in Unix ms: second 0 of every graph."""


class AgentGraph:
    """The lines of one log, in the order in which they were added."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def event(self, kind: str, second: int, /, **fields: object) -> str:
        """Add an event, and return its computed id. `event_id` is what it claims, the right one unless given."""
        claimed = fields.pop("event_id", True)
        content = {"kind": kind, "ts": moment(second), **fields}
        computed = sha256(canonical(content).encode()).hexdigest()
        self.lines.append(
            {**content, **({} if claimed is None else {"event_id": computed if claimed is True else claimed})}
        )
        return computed

    def node(self, kind: str, node_id: str, /, **fields: object) -> str:
        """Add a version of a node; `since` and `until` are seconds."""
        self.lines.append({"node": kind, "id": node_id, **_valid(fields)})
        return node_id

    def edge(self, edge_type: str, src: str, dst: str, /, **fields: object) -> None:
        """Add an edge; `since` and `until` are seconds."""
        self.lines.append({"edge": edge_type, "src": src, "dst": dst, **_valid(fields)})

    def write(self, path: Path) -> Path:
        """Write the log, and return its path."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{json.dumps(line)}\n" for line in self.lines), "utf-8")
        return path

    def rows(self) -> dict[str, list[Row]]:
        """Return the rows that an import makes of the lines."""
        rows: dict[str, list[Row]] = {"dag_events": [], "dag_nodes": [], "dag_edges": []}
        for line in self.lines:
            times: Row = {name: _milliseconds(line[name]) for name in ("valid_from", "valid_to") if name in line}
            payload = canonical(line)
            if "node" in line:
                key = {"kind": line["node"], "node_id": line["id"], "valid_from": 0}
                rows["dag_nodes"].append({**key, **times, "payload_json": payload})
            elif "edge" in line:
                names: Row = {name: line[name] for name in ("src", "dst", "src_kind", "dst_kind") if name in line}
                key = {"id": h63("dag_edges", canonical(_without(line, "valid_to"))), "type": line["edge"]}
                rows["dag_edges"].append({**key, **names, **times, "payload_json": payload})
            else:
                rows["dag_events"].append(_event_row(line, len(rows["dag_events"])))
        return rows


def canonical(value: object) -> str:
    """Write JSON as RFC 8785 has it, where keys are ASCII and numbers whole."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def moment(second: int) -> str:
    """Return the time of a second of the graph, as logs write it."""
    return datetime.fromtimestamp(NOON // 1000 + second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _event_row(line: Mapping[str, Any], position: int) -> Row:
    payload = canonical(_without(line, "event_id"))
    return {
        "event_id": sha256(payload.encode()).hexdigest(),
        "claimed_event_id": line.get("event_id"),
        "kind": line["kind"],
        "occurred_at": _milliseconds(line["ts"]) if line["ts"] else None,
        "agent_id": line.get("agent_id"),
        "run_id": line.get("run_id"),
        "seq": line.get("seq"),
        "position": position,
        "correlation_id": line.get("correlation_id"),
        "payload_json": payload,
    }


def _valid(fields: dict[str, object]) -> dict[str, object]:
    names = {"since": "valid_from", "until": "valid_to"}
    return {
        names.get(name, name): moment(value) if name in names and isinstance(value, int) else value
        for name, value in fields.items()
    }


def _milliseconds(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


def _without(line: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in line.items() if key != name}
