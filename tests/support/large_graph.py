"""An agent graph of many events, written line by line: `python -m tests.support.large_graph FILE EVENTS`."""

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from aix.canonical_json import canonical_json, content_hash

_EVENTS_OF_A_RUN = 6_000
_EVENTS_OF_A_TURN = 6
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def large_graph(events: int) -> Iterator[dict[str, object]]:
    """Go through the records of turns of six events each: a message, two answers, a request, a call and its result."""
    for number in range(events):
        turn, step = divmod(number, _EVENTS_OF_A_TURN)
        moment = (_BEGIN + timedelta(milliseconds=250 * number)).isoformat(timespec="milliseconds")
        common = {
            "ts": moment.replace("+00:00", "Z"),
            "run_id": f"run-{number // _EVENTS_OF_A_RUN}",
            "agent_id": "agent",
        }
        common["correlation_id"] = f"turn-{turn}"
        match step:
            case 0:
                text = {"type": "text", "text": f"Do step {turn} of the work. " * 3}
                yield {"node": "Message", "id": f"asked-{turn}", "role": "user", "content": [text]}
                yield {**common, "kind": "history_append", "list": "main", "message_ref": f"asked-{turn}"}
            case 1:
                yield {**common, "kind": "model_request", "model": "o4-mini", "input_refs": [f"asked-{turn}"]}
            case 2:
                usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
                yield {**common, "kind": "model_response", "finish_reason": "tool_calls", "usage": usage}
            case 3:
                call = {
                    "server": "runtime",
                    "tool": "exec",
                    "call_id": f"call-{turn}",
                    "args": {"cmd": ["ls", str(turn)]},
                }
                yield {**common, "kind": "tool_call", **call}
            case 4:
                result = {"rc": 0, "stdout": "a line of output\n" * 5, "stderr": "", "duration_ms": 12}
                yield {**common, "kind": "tool_result", "call_id": f"call-{turn}", "status": "ok", "result": result}
            case _:
                text = {"type": "text", "text": "Done."}
                yield {"node": "Message", "id": f"said-{turn}", "role": "assistant", "content": [text]}
                yield {**common, "kind": "model_response", "output_ref": f"said-{turn}", "finish_reason": "stop"}


def with_edges(records: Iterator[dict[str, object]]) -> Iterator[dict[str, object]]:
    """Give events their ids, and add the edges and nodes that an export has of them."""
    call_id = ""
    for number, record in enumerate(records):
        if "kind" not in record:
            yield record
            continue
        event_id = content_hash(canonical_json(record))
        yield {**record, "event_id": event_id}
        yield {"edge": "RUN_HAS_EVENT", "src": record["run_id"], "dst": event_id, "seq": number}
        if record["kind"] == "tool_call":
            call_id = event_id
            yield {"node": "ToolCall", "id": event_id}
        elif record["kind"] == "tool_result":
            yield {"node": "ToolResult", "id": event_id}
            yield {"edge": "RETURNS_RESULT", "src": call_id, "dst": event_id}


def main(path: str, events: str) -> None:
    """Write the graph."""
    with Path(path).open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(record)}\n" for record in large_graph(int(events)))


if __name__ == "__main__":
    main(*sys.argv[1:])
