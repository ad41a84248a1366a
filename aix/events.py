"""Records of agent graphs, as far as the ids of events need them: events, nodes and edges.

The id of an event is the SHA-256 of its canonical JSON without the `event_id` that it claims.
"""

from collections.abc import Mapping
from typing import Literal

EVENT_ID = "event_id"
_FIELDS = {"node": ("id",), "edge": ("src", "dst")}


def record_form(record: Mapping[str, object]) -> Literal["event", "node", "edge"] | None:
    """Return what a record is, by its fields; None for any other object.

    Fields `node`, `edge`, `id` and others may be attributes of an event, and a node may have a `kind` and a time. A
    record that has the fields of both is a node or an edge if it names a type, which begins with a capital letter.

    >>> tool_call = {"kind": "tool_call", "ts": 0}
    >>> record_form({"node": "Policy", "id": "p", "kind": "active", "ts": 0}), record_form({"node": "teapot", "id": 1})
    ('node', 'node')
    >>> record_form({**tool_call, "node": "w-3"}), record_form({**tool_call, "edge": "eu", "src": "a", "dst": "b"})
    ('event', 'event')
    >>> record_form({"node": "Agent"}), record_form({"kind": "tool_call"})
    ('node', None)
    """
    is_event = "kind" in record and (EVENT_ID in record or "ts" in record)
    for form in ("node", "edge"):
        is_whole = form in record and all(field in record for field in _FIELDS[form])
        if is_whole and (not is_event or _is_type(record[form])):
            return form
    if is_event:
        return "event"
    return "node" if "node" in record else "edge" if "edge" in record else None


def payload_of_event(event: Mapping[str, object]) -> tuple[dict[str, object], str | None]:
    """Return what the id of an event is made of, and the id that the event claims.

    An `event_id` that is not a text is no claim, and stays in the payload.

    >>> payload_of_event({"kind": "tool_call", "event_id": "e"}), payload_of_event({"event_id": 7})
    (({'kind': 'tool_call'}, 'e'), ({'event_id': 7}, None))
    """
    claimed = event.get(EVENT_ID)
    is_claim = isinstance(claimed, str) and bool(claimed)
    payload = {name: value for name, value in event.items() if name != EVENT_ID or not (is_claim or value is None)}
    return payload, str(claimed) if is_claim else None


def _is_type(name: object) -> bool:
    return isinstance(name, str) and name[:1].isupper()
