"""Rows of the canonical tables for one run: messages, requests and calls as its events come, then turns and session."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256

from aix.importing import Problem, Rows
from aix_importers.agent_dag.calls import Call, Result, result_of_event, result_of_part
from aix_importers.agent_dag.compactions import CompactionFacts, add_compaction, summary_text
from aix_importers.agent_dag.graph import Graph, Run
from aix_importers.agent_dag.lineage import Lineage
from aix_importers.agent_dag.messages import Content, Message
from aix_importers.agent_dag.records import Node, ref_id
from aix_importers.agent_dag.references import References
from aix_importers.agent_dag.rows import RunWriter, SentMessage
from aix_importers.agent_dag.turns import CONTEXT_RESET, Outline, Payload, Placed, Recent, Turn
from aix_importers.agent_dag.usage import Usage, read_usage

_SOURCES = {"schedule": "cron", "subagent": "agent"}
"""By the reason of a run: what sent its messages of the role `user`."""
_KEEPS_RESULTS = {"tool_call", "tool_result", "history_append", "model_request"}
"""Kinds of events that may come between a result and the message that holds it."""
_OF_RUNS = (
    *("model_request", "model_response", "history_append", "tool_call", "tool_result"),
    *("mcp.resource_updated", "mcp.resource_list_changed"),
    *("interruption", "substitution", "run_started", "run_finished"),
)
"""Kinds of events that always have a run."""


class Histories:
    """The histories of a graph, run by run."""

    def __init__(self, graph: Graph, origin: str) -> None:
        self._graph = graph
        self._origin = origin
        self._references = References(graph)
        self._lineage = Lineage(graph, origin, self._references)

    def problems(self) -> Iterator[Problem]:
        """Go through the events that belong to the history of a run and name none."""
        kinds = ", ".join(f"'{kind}'" for kind in _OF_RUNS)
        found = self._graph.rows(
            "select kind, source, line, byte_offset from event"
            f" where in_run is null and is_first and not is_projected and kind in ({kinds}) order by n"
        )
        for kind, *place in found:
            reason = f"The {kind} names no run; it is kept as an event only."
            yield self._graph.place(*place).problem("no_run", reason)

    def rows_of_run(self, run: Run) -> Iterator[Rows | Problem]:
        """Go through the rows and problems of a run."""
        if run.agent_id is None:
            first = next(iter(self._graph.events_of(run)), None)
            if first is not None:
                reason = f"No event of the run {run.run_id} names an agent; the run is kept as events only."
                yield first.place.problem("no_agent", reason)
            return
        yield from _RunRows(self._graph, run, self._origin, self._references, self._lineage).rows()


@dataclass(slots=True)
class _Calls:
    """The calls of a run that are not written yet."""

    by_id: dict[str, Call] = field(default_factory=dict)
    ended: list[Call] = field(default_factory=list)
    written: set[int] = field(default_factory=set)
    """Hashes of ids."""


class _RunRows:
    """Makes the rows of one run."""

    def __init__(self, graph: Graph, run: Run, origin: str, references: References, lineage: Lineage) -> None:
        self._graph = graph
        self._run = run
        self._origin = origin
        self._references = references
        self._lineage = lineage
        self._label = lineage.label(run)
        self._outline = Outline(graph.events_of(run), references)
        self._placement = lineage.placement(run, self._outline)
        self._writer = RunWriter(origin, self._label, run, lineage, is_undated=self._outline.first_time is None)
        self._calls = _Calls()
        self._messages: set[int] = set()
        """Messages that have a row, or belong to another run: hashes of their ids, since they may be very many."""
        self._inputs: set[int] = set()
        """Other names of messages that requests were made of."""
        self._system_texts: dict[str, str] = {}
        self._answers: Recent[SentMessage] = Recent()
        """By event: answers that calls name."""
        self._results: dict[str, Placed] = {}
        """By call: results that no message shows yet."""
        self._last_message: SentMessage | None = None
        self._compactions: dict[Turn, CompactionFacts] = {}
        self._latest_compactions: list[CompactionFacts] = []
        """Those after which no answer stated its context yet."""
        self._covered: dict[str, Turn] = {}
        self._last_context: int | None = None
        self._problems: list[Problem] = []
        self._user_source = "human"
        self._summary_ref: str | None = None
        start = lineage.start(run)
        if start is not None:
            self._user_source = _SOURCES.get(str(start.payload.get("reason")), "human")
        if lineage.is_subagent(run):
            self._user_source = "agent"

    def rows(self) -> Iterator[Rows | Problem]:
        """Go through the rows and problems of the run."""
        turn_count = 0
        for placed in self._placement.place(self._graph.events_of(self._run)):
            if placed.event.kind not in _KEEPS_RESULTS:
                self._show_results()
            if len(self._placement.turns) > turn_count:
                for turn in self._placement.turns[turn_count:]:
                    if turn.is_compaction:
                        self._begin_compaction(turn, placed)
                turn_count = len(self._placement.turns)
                self._write_ended_calls(self._placement.turns[-1])
            self._take(placed)
            yield from self._drain()
        self._show_results()
        yield from self._end()
        yield from self._drain(everything=True)

    def _drain(self, *, everything: bool = False) -> Iterator[Rows | Problem]:
        problems, self._problems = self._problems, []
        yield from problems
        if everything or self._writer.is_full():
            yield from self._writer.take()

    def _take(self, placed: Placed) -> None:
        event, turn = placed.event, placed.turn
        self._writer.see(placed.time)
        if event.kind == "run_finished":
            self._writer.finish(placed.payload.get("exit"))
            self._summary_ref = ref_id(placed.payload.get("summary_ref"))
        if event.kind == "history_append" and placed.message is None:
            self._note_missing_message(placed)
        if turn is None:
            return
        if turn.is_compaction:
            if turn not in self._compactions:  # it began like any other turn
                self._begin_compaction(turn, placed)
            self._compactions[turn].see(event, placed.time)
        interruption = self._references.fate(event).interruption
        is_forgotten = interruption is not None and interruption[1] == CONTEXT_RESET
        for name in (event.id, event.claimed_id or ""):
            if is_forgotten or self._references.is_covered(name):
                self._covered[name] = turn
        if event.kind == "interruption" and placed.payload.get("reason") == CONTEXT_RESET:
            for name in self._references.interrupted_by(event):
                self._compactions[turn].named.append(name)
        match event.kind:
            case "history_append" if placed.message is not None:
                self._add_message(placed.message, turn, placed)
            case "model_request":
                self._take_request(placed, turn)
            case "model_response":
                self._take_response(placed, turn)
            case "tool_call":
                self._take_call(placed, turn)
            case "tool_result":
                self._take_result(placed)
            case "mcp.resource_updated":
                uri = placed.payload.get("uri")
                if isinstance(uri, str) and uri and self._last_message is not None:
                    self._writer.add_reference(self._last_message, uri)

    def _begin_compaction(self, turn: Turn, placed: Placed) -> None:
        facts = self._compactions[turn] = CompactionFacts(turn, placed.time, self._last_context)
        self._latest_compactions.append(facts)

    # Messages

    def _note_missing_message(self, placed: Placed) -> None:
        name = ref_id(placed.payload.get("message_ref"))
        what = f"the message {name}, which is not in the graph" if name else "no message"
        reason = f"The event appends {what}; it is kept as an event only."
        self._problems.append(placed.event.place.problem("missing_message", reason))

    def _add_message(
        self, message: Message, turn: Turn, placed: Placed, *, role: str | None = None, thinking: str | None = None
    ) -> SentMessage | None:
        """Add a message that is named the first time, with the calls and results in it."""
        if hash(message.id) in self._messages:
            return None
        self._messages.add(hash(message.id))
        role = message.role or role
        if role == "system" and message.content.text is not None:
            self._system_texts[message.id] = message.content.text
        if self._references.is_covered(message.id):
            self._covered[message.id] = turn
        if not self._lineage.owns(self._run, message.id):
            return None
        if role is None:
            role = "system"
            reason = f"The message {message.id} has no role that is known; it counts as one of the system."
            self._problems.append(message.node.place.problem("unknown_role", reason))
        text = None if role == "assistant" and self._is_summary(message, turn) else message.content.text
        sent = self._writer.add_message(message, turn, placed, role, self._user_source, text, thinking)
        self._sent(sent)
        for use in message.content.uses:
            if use.call_id not in self._calls.by_id and hash(use.call_id) not in self._calls.written:
                self._open_call(placed, turn, use.call_id, sent.id, (None, use.name), use.input)
        for output in message.content.outputs:
            self._results.pop(output.call_id, None)
            found = self._calls.by_id.get(output.call_id)
            if found is not None and found.result is None:
                is_error = output.is_error
                self._end_call(found, result_of_part(output.output, is_error=is_error, time=placed.time))
        return sent

    def _is_summary(self, message: Message, turn: Turn) -> bool:
        """Whether a message says nothing but the summary that the compaction has."""
        node = self._references.summary_nodes.get(turn.summary_id or "")
        return turn.is_compaction and node is not None and message.content.text == summary_text(node)

    def _sent(self, sent: SentMessage) -> None:
        self._last_message = sent
        if sent.role == "assistant":
            sent.turn.answer_id = sent.id

    def _show_results(self) -> None:
        """Add a message for each result that no message of the graph holds."""
        results, self._results = self._results, {}
        for placed in results.values():
            if placed.turn is not None:
                self._sent(self._writer.add_plain_message(placed, placed.turn, "tool"))

    # Requests and answers

    def _take_request(self, placed: Placed, turn: Turn) -> None:
        names = self._references.input_ids(placed.event)
        for name in names:
            if hash(name) not in self._messages and hash(name) not in self._inputs:
                self._take_input(name, turn, placed)
                self._inputs.update({hash(name)} - self._messages)
        self._show_results()
        if turn.prompt_hash is None:
            texts = [self._system_texts[name] for name in names if name in self._system_texts]
            texts = texts or ([] if names else list(self._system_texts.values()))
            if texts:
                turn.prompt_hash = sha256("\n".join(texts).encode("utf-8", "replace")).hexdigest()
        if offered := placed.payload.get("tools_spec"):
            turn.tools = tuple(dict.fromkeys((*turn.tools, *_tool_names(offered))))

    def _take_input(self, name: str, turn: Turn, placed: Placed) -> None:
        message = self._references.message(name)
        if message is None:
            named = self._references.message_of_event(name)
            message = self._references.of_message(named)
            if message is not None and message.content.text is not None and message.role == "system":
                self._system_texts[name] = message.content.text
        if message is not None:
            self._add_message(message, turn, placed)

    def _take_response(self, placed: Placed, turn: Turn) -> None:
        payload, event, message = placed.payload, placed.event, placed.message
        reasoning = self._references.of_message(ref_id(payload.get("reasoning_ref")))
        thinking = _thought(reasoning.content) if reasoning is not None and reasoning is not message else None
        if reasoning is not None and reasoning is not message:
            self._messages.add(hash(reasoning.id))
        name = self._references.output_id(event)
        placed.is_replaced = self._references.fate(event).replacement is not None
        sent: SentMessage | None = None
        is_known = name is not None and hash(name) in self._messages
        if message is not None:
            sent = self._add_message(message, turn, placed, role="assistant", thinking=thinking)
        elif not is_known and (name is None or self._lineage.owns(self._run, name)):
            if name is not None:
                self._messages.add(hash(name))
                reason = f"The answer is the message {name}, which is not in the graph; its text is not known."
                self._problems.append(event.place.problem("missing_message", reason))
            sent = self._writer.add_plain_message(placed, turn, "assistant", key=name, thinking=thinking)
            self._sent(sent)
        for each in self._outline.names_with_calls(event):
            if sent is not None:
                self._answers[each] = sent
        for call_id, node, result in self._references.node_calls(event):
            self._take_node_call(call_id, node, result, placed, turn, sent)
        usage = read_usage(payload.get("usage"))
        self._writer.add_request(placed, turn, self._asked(placed), sent, usage)
        self._note_context(turn, usage)

    def _asked(self, placed: Placed) -> Payload:
        """Return the request that an answer is for, also where another answer came before."""
        if placed.request is not None:
            return placed.request.event.payload
        named = ref_id(placed.payload.get("request_id"))
        event = self._graph.event(named) if named is not None else None
        return event.payload if event is not None and event.kind == "model_request" else {}

    def _note_context(self, turn: Turn, usage: Usage) -> None:
        if turn.is_compaction:
            self._compactions[turn].usage = usage
            return
        if usage.context_tokens is not None:
            for facts in self._latest_compactions:
                facts.tokens_after = usage.context_tokens
            self._latest_compactions.clear()
            self._last_context = usage.context_tokens

    # Calls

    def _take_call(self, placed: Placed, turn: Turn) -> None:
        event, payload = placed.event, placed.payload
        call_id = ref_id(payload.get("call_id")) or event.id
        answer = ref_id(payload.get("requested_by"))
        known = self._calls.by_id.get(call_id)
        if known is not None and known.event_id is None:
            call = known
        else:
            is_repeated = known is not None or hash(call_id) in self._calls.written
            sent = self._answers.get(answer or "")
            message_id = sent.id if sent is not None and sent.turn is turn else turn.answer_id
            call = self._open_call(placed, turn, call_id, message_id, (None, ""), None)
            call.id = f"{call.id}:{event.id[:12]}" if is_repeated else call.id
        call.server, call.tool = _tool_of(payload, call.tool)
        call.params = payload.get("args", call.params)
        call.started_at, call.is_start_inferred = placed.time, placed.is_time_inferred
        call.event_id = event.id
        fate = self._references.fate(event)
        interruption = fate.interruption or self._references.fate_of(answer, event.run_id).interruption
        call.interruption = interruption if interruption and interruption[1] != CONTEXT_RESET else None
        call.replaced_by = self._replacement(fate.replacement, call_id)

    def _replacement(self, event_id: str | None, call_id: str) -> str | None:
        """Return the event that counts in the place of a call; a result of the call itself completes it instead."""
        event = None if event_id is None else self._graph.event(event_id)
        is_result = event is not None and event.kind == "tool_result"
        is_own = event is not None and is_result and ref_id(event.payload.get("call_id")) == call_id
        return None if is_own else event_id

    def _row_id(self, call_id: str) -> str:
        return self._lineage.call_row_id(self._run, call_id)

    def _open_call(
        self,
        placed: Placed,
        turn: Turn,
        call_id: str,
        message_id: str | None,
        tool: tuple[str | None, str],
        params: object,
    ) -> Call:
        call = Call(
            id=self._row_id(call_id),
            call_id=call_id,
            turn=turn,
            message_id=message_id,
            source=placed.event.place.source,
            sequence=turn.call_count,
            server=tool[0],
            tool=tool[1],
            params=params,
            started_at=placed.time,
            is_start_inferred=placed.is_time_inferred,
        )
        turn.call_count += 1
        self._calls.by_id[call_id] = call
        if (self._run, call_id) in self._lineage.spawned_by:
            turn.is_spawning = True
        return call

    def _take_node_call(
        self, call_id: str, node: Node, result: Node | None, placed: Placed, turn: Turn, sent: SentMessage | None
    ) -> None:
        """Take a call that is a node only; an event or a message may still have its result."""
        call = self._calls.by_id.get(call_id)
        if call is None:
            if hash(call_id) in self._calls.written:
                return
            payload = node.payload
            params = payload.get("args", payload.get("input"))
            message_id = sent.id if sent is not None else turn.answer_id
            call = self._open_call(placed, turn, call_id, message_id, _tool_of(payload, ""), params)
        if result is not None and call.result is None:
            self._end_call(call, result_of_event(result.payload, placed.time, is_time_inferred=True))

    def _take_result(self, placed: Placed) -> None:
        event, payload = placed.event, placed.payload
        call_id = ref_id(payload.get("call_id")) or ""
        call = self._calls.by_id.get(call_id)
        replacement = self._references.fate(event).replacement
        if replacement is not None and self._graph.event(replacement) is not None:
            return
        if call is None or (call.result is not None and call.result.status is not None):
            return
        placed.turn = call.turn
        self._results[call_id] = placed
        self._end_call(call, result_of_event(payload, placed.time, is_time_inferred=placed.is_time_inferred))

    def _end_call(self, call: Call, result: Result) -> None:
        if call.result is None:
            self._calls.ended.append(call)
        call.result = result

    def _write_ended_calls(self, current: Turn | None) -> None:
        ended, self._calls.ended = self._calls.ended, []
        for call in ended:
            if call.turn is current:
                self._calls.ended.append(call)
            else:
                self._write_call(call)

    def _write_call(self, call: Call) -> None:
        if self._calls.by_id.get(call.call_id) is call:
            del self._calls.by_id[call.call_id]
        self._calls.written.add(hash(call.call_id))
        child = self._lineage.spawned_by.get((self._run, call.call_id))
        is_spawn = child is not None and call.id == self._row_id(call.call_id)
        self._writer.add_call(call, self._lineage.label(child) if child is not None and is_spawn else None)

    # The end of the run

    def _end(self) -> Iterator[Rows | Problem]:
        self._write_ended_calls(None)
        for call in list(self._calls.by_id.values()):
            self._write_call(call)
            yield from self._drain()
        for request in self._placement.waiting.values():
            self._writer.add_open_request(request)
            yield from self._drain()
        turns = self._placement.turns
        resets = [turn for turn in turns if turn.is_compaction]
        for turn in turns:
            self._writer.add_turn(turn)
            yield from self._drain()
            if turn.is_compaction:
                facts = self._compactions[turn]
                node = self._references.summary_nodes.get(turn.summary_id or "")
                if node is None and turn is resets[-1]:
                    node = self._references.summary_nodes.get(self._summary_ref or "")
                covered = [*facts.named, *(self._references.covered_by(node.id) if node else [])]
                earlier = [self._covered[name] for name in covered if name in self._covered]
                before = [each for each in earlier if each.number < turn.number]
                through = max(before, key=lambda each: each.number) if before else None
                add_compaction(self._writer, facts, node, through, turns)
        if turns:
            self._writer.add_session(turns)


def _tool_names(spec: object) -> Iterator[str]:
    """Go through the names of the tools that a request offers: keys of an object, or a list of tools."""
    if isinstance(spec, dict):
        yield from spec
    for tool in spec if isinstance(spec, list) else ():
        inner = tool.get("function", tool) if isinstance(tool, dict) else tool
        name = inner.get("name") if isinstance(inner, dict) else inner
        if isinstance(name, str):
            yield name


def _thought(content: Content) -> str | None:
    return "\n".join((*content.reasoning, *content.texts)) or None


def _tool_of(payload: Payload, otherwise: str) -> tuple[str | None, str]:
    """Return the server and the tool of a call."""
    server, tool = payload.get("server"), payload.get("tool", payload.get("name"))
    known = tool if isinstance(tool, str) and tool else otherwise or "unknown"
    return server if isinstance(server, str) and server else None, known
