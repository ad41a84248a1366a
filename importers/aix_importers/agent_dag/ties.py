"""Names by which the files of one graph are connected: those of agents, runs, events and nodes.

A file gives every name that it defines or refers to, so that any split of a graph into files is read together. Records
that hold rows of a ledger need not meet others of their agent, which in an export of other histories is the same
everywhere: they name it only where they fork it, or speak of the agent itself.
"""

import os
import re
from array import array
from collections.abc import Iterator
from pathlib import Path

from aix.ids import h63
from aix.importing import Source
from aix_importers.agent_dag.calls import access_of
from aix_importers.agent_dag.messages import texts_in
from aix_importers.agent_dag.records import Edge, Event, Node, ref_id, ref_ids, rows_format

_MOST_NUMBERS = 200_000
_HEAD_BYTES = _TAIL_BYTES = 2**15
_NAMED = re.compile(
    rb'"(agent_id|run_id|event_id|id|src|dst|parent_agent_id)"\s*:\s*"([^"\\]{1,200})"',
)
_OF_AGENTS = {"agent_forked", "policy_proposed", "policy_activated", "Branch"}
"""Records that concern their agent, and not only a run of it."""
_SPAWNED = {"agent", "agent_id", "run", "run_id", "subagent", "subagent_id"}
"""Fields by which parameters and results of calls name a subagent."""
_SAID = {"tool_call": "args", "tool_result": "result"}
_DEPTH = 4
_LONGEST_NAME = 200
_SPACE = re.compile(r"\s")
_REFERENCES = frozenset(
    {
        "agent_id",
        "run_id",
        "parent",
        "input_refs",
        "output_ref",
        "reasoning_ref",
        "message_ref",
        "requested_by",
        "resource_ref",
        "snapshot_ref",
        "new_resource_ref",
        "policy_ref",
        "at_event",
        "affects",
        "original_event",
        "replacement_event",
        "parent_agent_id",
        "request_id",
    }
)
"""Fields of events and nodes that refer to others."""


class TieNumbers:
    """Takes the records of a source, and gives the numbers of the names in them."""

    def __init__(self) -> None:
        self._numbers = array("Q")
        self._latest: dict[str, None] = {}
        """Names of late records: most come again and again."""
        self._spawning: set[int] = set()
        """Hashes of the ids of calls that start subagents."""

    def add(self, record: Event | Node | Edge) -> None:
        """Take the names of a record."""
        for name in (*_names(record), *self._names_of_subagents(record)):
            if name not in self._latest:
                self._numbers.append(h63(name))
                self._latest[name] = None
                if len(self._latest) > 64:
                    del self._latest[next(iter(self._latest))]

    def _names_of_subagents(self, record: Event | Node | Edge) -> Iterator[str]:
        """Go through what a call may have started: any name in it if its tool does that, else those in such fields."""
        if not isinstance(record, Event) or record.kind not in _SAID or rows_format(record.payload) is not None:
            return
        payload = record.payload
        said = payload.get(_SAID[record.kind])
        call = hash((record.run_id, ref_id(payload.get("call_id"))))
        if record.kind == "tool_call" and access_of(None, str(payload.get("tool")), None)[0] == "spawn":
            self._spawning.add(call)
        texts = texts_in(said) if call in self._spawning else _in_fields(said)
        yield from (text for text in texts if len(text) <= _LONGEST_NAME and not _SPACE.search(text))

    def take(self, *, everything: bool = False) -> Iterator["array[int]"]:
        """Give the numbers out when they are many, or when there are no more to come."""
        if everything or len(self._numbers) >= _MOST_NUMBERS:
            yield self._numbers
            self._numbers = array("Q")


def likely_numbers(source: Source) -> "array[int]":
    """Return the numbers of the names at the beginning and at the end of a file."""
    with Path(source.path).open("rb") as file:
        head = file.read(_HEAD_BYTES)
        file.seek(max(len(head), os.fstat(file.fileno()).st_size - _TAIL_BYTES))
        lines = (head + b"\n" + file.read(_TAIL_BYTES)).splitlines()
    found = {
        name
        for line in lines
        for field, name in _NAMED.findall(line)
        if b'"aix"' not in line or not (field == b"agent_id" or b'"AGENT_HAS_RUN"' in line)
    }
    return array("Q", (h63(name.decode("utf-8", "replace")) for name in found))


def _names(record: Event | Node | Edge) -> Iterator[str]:
    is_stated = rows_format(record.payload) is not None
    if isinstance(record, Edge):
        if not is_stated or record.type != "AGENT_HAS_RUN":
            yield record.src
        yield record.dst
        return
    yield record.id
    if isinstance(record, Event) and record.claimed_id not in (None, record.id):
        yield str(record.claimed_id)
    for field, value in record.payload.items():
        if is_stated and field == "agent_id" and record.kind not in _OF_AGENTS:
            continue
        if value.__class__ is str and field in _REFERENCES:
            yield str(value)
        elif field in _REFERENCES:
            yield from ref_ids(value)
        elif field == "volume_plan" and isinstance(value, list):
            yield from ref_ids([step.get("resource") for step in value if isinstance(step, dict)])


def _in_fields(value: object, depth: int = _DEPTH) -> Iterator[str]:
    """Go through the texts of fields that name subagents, to a bounded depth."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if isinstance(value, dict):
        yield from (text for field in _SPAWNED & value.keys() if isinstance(text := value[field], str))
    if depth:
        for each in inner:
            yield from _in_fields(each, depth - 1)
