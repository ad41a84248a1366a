"""One situation of a generated tree: what its manifest says, beside what a ledger holds."""

import json
from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

from aix.ids import ulid
from benchmarks.claude_truth.rows import Row, Rows

ORIGIN = "claude-code"
_LONGEST = 160


class Case:
    """A situation with the ledger's rows that belong to it.

    A manifest names turns by their keys. Where it leaves a key or a label open, the turn or session is the one that
    holds what the manifest does name.
    """

    def __init__(self, expected: Mapping[str, Any], found: Rows) -> None:
        self.expected = expected
        self.found = found
        self._open_turns = {turn["key"]: self._open_turn(turn) for turn in expected["turns"] if turn.get("key_open")}
        self._open_labels = {
            agent["session"]: self._open_label(agent) for agent in expected["subagents"] if agent.get("label_open")
        }

    def turn(self, key: str | None) -> str | None:
        """Return the id of the turn with this key."""
        if key is None:
            return None
        return self._open_turns.get(key) or ulid("turn", ORIGIN, key)

    def label(self, label: str | None) -> str | None:
        """Return the label under which a session is expected."""
        return None if label is None else self._open_labels.get(label, label)

    def _open_turn(self, turn: Row) -> str | None:
        """Return the turn that holds a request of this one; a compaction is the only one there is."""
        if turn["type"] == "compaction":
            return next(iter(self.found.compactions), None)
        requests = [row["id"] for row in self.expected["requests"] if row["turn"] == turn["key"]]
        turns = [self.found.requests[row]["turn_id"] for row in requests if row in self.found.requests]
        return next((turn_id for turn_id in turns if turn_id is not None), None)

    def _open_label(self, agent: Row) -> str:
        """Return the session that the same call started."""
        spawned = [
            label
            for label, row in self.found.sessions.items()
            if row["spawn_tool_call_id"] == agent["spawn_tool_call_id"]
        ]
        return spawned[0] if len(spawned) == 1 else agent["session"]


def message_id(key: str) -> str:
    """Return the id of the message with this key."""
    return ulid("msg", ORIGIN, key)


def json_of(text: str | None) -> Any:  # noqa: ANN401 - whatever the JSON holds
    """Return what a column of JSON holds; an object without keys for NULL."""
    return {} if text is None else json.loads(text)


def objects_in(value: object) -> list[dict[str, Any]]:
    """Return all objects in a piece of JSON, at any depth."""
    if isinstance(value, list):
        return [each for item in value for each in objects_in(item)]
    if isinstance(value, dict):
        return [value, *objects_in(list(value.values()))]
    return []


def values_of(name: str, value: object) -> list[Any]:
    """Return all values of this name in a piece of JSON, at any depth."""
    return [each[name] for each in objects_in(value) if name in each]


def compare(what: str, expected: object, found: object) -> list[str]:
    """Return the difference as a sentence, or nothing."""
    return [] if expected == found else [f"{what}: expected {show(expected)}, found {show(found)}"]


def compare_keyed(
    what: str, expected: Mapping[str, Mapping[str, object]], found: Mapping[str, Mapping[str, object]]
) -> list[str]:
    """Return what is missing, what is there besides, and which expected figures of the same thing differ."""
    differences = [f"{what} {key}: expected {show(expected[key])}, found none" for key in expected if key not in found]
    differences += [f"{what} {key}: expected none, found {show(found[key])}" for key in found if key not in expected]
    for key in expected.keys() & found.keys():
        for name, value in expected[key].items():
            differences += compare(f"{what} {key}, {name}", value, found[key].get(name))
    return sorted(differences)


def compare_bags(what: str, expected: Counter[Any], found: Counter[Any]) -> list[str]:
    """Return what is missing and what is there besides, of things that have no key."""
    differences = [
        f"{what}: expected {number} of {show(key)}, found {found[key]}" for key, number in _more(expected, found)
    ]
    return differences + [
        f"{what}: expected {expected[key]} of {show(key)}, found {number}" for key, number in _more(found, expected)
    ]


def _more(some: Counter[Any], other: Counter[Any]) -> list[tuple[Hashable, int]]:
    return [(key, number) for key, number in some.items() if number > other[key]]


def show(value: object) -> str:
    """Return a value as a short text."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"
