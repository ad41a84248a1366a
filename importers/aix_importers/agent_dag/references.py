"""The things that an event names: by its own fields, else by the edges that start at it."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from aix_importers.agent_dag.graph import Graph
from aix_importers.agent_dag.messages import Message
from aix_importers.agent_dag.records import Event, Node, ref_id, ref_ids, rows_format

_REMEMBERED = 256
_FATES = "create table fate (id text primary key, interruption text, reason text, replacement text) without rowid"
_INTERRUPTED = "insert into fate (id, interruption, reason) values (?, ?, ?) on conflict do nothing"
_REPLACED = """
insert into fate (id, replacement) values (?, ?)
on conflict do update set replacement = coalesce(replacement, excluded.replacement)
"""


class Fate(NamedTuple):
    """The fate of an event, as other events, of any run, say."""

    interruption: tuple[str, str] | None = None
    """The event that interrupted it, and the reason."""
    replacement: str | None = None
    """The event that counts in its place."""


_NO_FATE = Fate()


class References:
    """Looks up messages, summaries and events that events name."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.message = lru_cache(_REMEMBERED)(self._message)
        self._fate = lru_cache(_REMEMBERED)(self._find_fate)
        self._has_fates = self._note_fates()
        self.summary_nodes: dict[str, Node] = {node.id: node for node in graph.nodes("Summary")}
        self._has_call_nodes = next(graph.nodes("ToolCall"), None) is not None
        self._makers: dict[str, list[str]] = {}
        self._covered: dict[str, list[str]] = {}
        self._covered_by: dict[str, list[str]] = {}
        for summary_id in self.summary_nodes:
            for edge in graph.edges("EVENT_PRODUCES", dst=summary_id):
                self._makers.setdefault(edge.src, []).append(summary_id)
            for edge in graph.edges("SUMMARIZES", src=summary_id):
                self._covered.setdefault(edge.dst, []).append(summary_id)
                self._covered_by.setdefault(summary_id, []).append(edge.dst)

    def _message(self, node_id: str) -> Message | None:
        """Return a message; None where it is not in the graph."""
        node = self._graph.node("Message", node_id)
        return None if node is None else Message(node)

    def appended(self, event: Event) -> Message | None:
        """Return the message that an event puts into the history."""
        return self.of_message(ref_id(event.payload.get("message_ref")))

    def of_message(self, node_id: str | None) -> Message | None:
        """Return the message of that id, if there is one."""
        return None if node_id is None else self.message(node_id)

    def output_id(self, event: Event) -> str | None:
        """Return the id of the message that an answer gave."""
        named = ref_id(event.payload.get("output_ref"))
        if named is not None:
            return named
        made = (edge.dst for edge in self._graph.edges("EVENT_PRODUCES", src=event.id))
        return next((each for each in made if self.message(each) is not None), None)

    def output(self, event: Event) -> Message | None:
        """Return the message that an answer gave."""
        return self.of_message(self.output_id(event))

    def input_ids(self, event: Event) -> list[str]:
        """Return the ids of messages or events that a request was made of."""
        if event.payload.get("input_refs") is not None:
            return ref_ids(event.payload.get("input_refs"))
        return [edge.dst for edge in self._graph.edges("EVENT_CONSUMES", src=event.id)]

    def message_of_event(self, reference: str) -> str | None:
        """Return the id of the message that an event put into the history or gave as an answer."""
        event = self._graph.event(reference)
        if event is None:
            return None
        if event.kind == "model_response":
            return self.output_id(event)
        return ref_id(event.payload.get("message_ref")) if event.kind == "history_append" else None

    def fate(self, event: Event) -> Fate:
        """Return what became of an event."""
        return self._fate(event.id) if self._has_fates else _NO_FATE

    def fate_of(self, name: str | None, run_id: str | None) -> Fate:
        """Return what became of the event that an event of a run names."""
        event = self._graph.event(name, run_id) if name is not None and self._has_fates else None
        return _NO_FATE if event is None else self.fate(event)

    def _find_fate(self, event_id: str) -> Fate:
        found = "select interruption, reason, replacement from fate where id = ?"
        for interruption, reason, replacement in self._graph.rows(found, event_id):
            return Fate(interruption and (interruption, reason), replacement)
        return _NO_FATE

    def _note_fates(self) -> bool:
        """Note which events were interrupted or replaced, and say whether any was."""
        graph = self._graph
        graph.rows(_FATES)
        for event in graph.events("interruption"):
            reason = str(event.payload.get("reason"))
            for name in self.interrupted_by(event):
                if (interrupted := graph.event(name, event.run_id)) is not None:
                    graph.rows(_INTERRUPTED, interrupted.id, event.id, reason)
        for event in graph.events("substitution"):
            names = (ref_id(event.payload.get(field)) for field in ("original_event", "replacement_event"))
            original, replacement = (None if name is None else self._named(name, event) for name in names)
            if original is not None and replacement is not None:
                graph.rows(_REPLACED, original, replacement)
        for edge in graph.edges("SUBSTITUTES"):
            substitute = graph.event(edge.src)
            if substitute is not None and substitute.kind != "substitution":
                graph.rows(_REPLACED, edge.dst, edge.src)
        return graph.rows("select 1 from fate limit 1").fetchone() is not None

    def _named(self, name: str, event: Event) -> str:
        """Return the own id of the event that another names, or the name itself without such an event."""
        found = self._graph.event(name, event.run_id)
        return name if found is None else found.id

    def node_calls(self, event: Event) -> Iterator[tuple[str, Node, Node | None]]:
        """Go through the calls of an answer that are nodes without an event: the id of each, the call, its result."""
        if not self._has_call_nodes:
            return
        for edge in self._graph.edges("CALLS_TOOL", src=event.id):
            call = self._graph.node("ToolCall", edge.dst)
            if call is None or rows_format(call.payload) is not None:
                continue
            call_id = ref_id(call.payload.get("call_id")) or call.id
            if self._graph.event(call.id) is None and not self._graph.has_call(event.run_id, call_id):
                returned = self._graph.edges("RETURNS_RESULT", src=call.id)
                results = (self._graph.node("ToolResult", each.dst) for each in returned)
                yield call_id, call, next(filter(None, results), None)

    def interrupted_by(self, event: Event) -> list[str]:
        """Return the events that an interruption names."""
        named = ref_ids(event.payload.get("affects"))
        return named or [edge.dst for edge in self._graph.edges("INTERRUPTS", src=event.id)]

    def summaries_at(self, event: Event) -> Iterator[tuple[str, bool]]:
        """Go through the summaries that an event made (true), or that cover it or a message that it names (false)."""
        if not self.summary_nodes:
            return
        names = {event.id, event.claimed_id}
        yield from ((each, True) for name in names for each in self._makers.get(name or "", ()))
        names |= {ref_id(event.payload.get(field)) for field in ("message_ref", "output_ref")}
        yield from ((each, False) for name in names for each in self._covered.get(name or "", ()))

    def is_covered(self, name: str) -> bool:
        """Whether a summary covers that event or message."""
        return name in self._covered

    def covered_by(self, summary_id: str) -> list[str]:
        """Return the messages, events and runs that a summary covers."""
        return self._covered_by.get(summary_id, [])
