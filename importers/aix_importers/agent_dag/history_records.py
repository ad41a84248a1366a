"""Sessions of any origin as records of a graph: a session is a run; messages, requests and calls are nodes.

Every record has the object `aix` (`projection.py`). One record carries a row: a Message node the message, a Generation
node the request, the `tool_result` event the call (the `tool_call` event as long as there is no result), a Summary node
the compaction, the first event of a turn the turn, and a Run or Branch node the session.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from aix.canonical_json import canonical_form, content_hash
from aix.exporting import Row, RowsByTable, SessionRows
from aix_importers.agent_dag.projection import Order, carry, structured
from aix_importers.agent_dag.turn_contents import TurnContents, moment
from aix_importers.agent_dag.written import Written
from aix_importers.common.times import write_time

Record = dict[str, object]
Carried = Mapping[str, Sequence[Row]]

_LIST = "main"
_LATEST = 253_402_300_799_999
_MARKS = "inferred_values"
_SESSION_TABLES = ("sessions", "session_context", "session_aliases")
_EXITS = {"completed": "success", "failed": "error"}


def edge(kind: str, src: tuple[str, str], dst: tuple[str, str], **attributes: object) -> Record:
    """Return an edge between two ends, which are a kind and an id each."""
    (src_kind, src_id), (dst_kind, dst_id) = src, dst
    ends = {"src_kind": src_kind, "src": src_id, "dst_kind": dst_kind, "dst": dst_id}
    made: Record = {"edge": kind, **ends, **attributes}
    carry(made, {})
    return made


def node(kind: str, node_id: str, fields: Mapping[str, object], rows: Carried | None = None) -> Record:
    """Return a node with the fields that are not NULL, and the rows it carries."""
    made: Record = {"node": kind, "id": node_id, **_without_nulls(fields)}
    carry(made, rows or {})
    return made


def event(fields: Mapping[str, object], rows: Carried | None = None, order: Order | None = None) -> Record:
    """Return an event with the fields that are not NULL, the rows it carries, and its id."""
    made = _without_nulls(fields)
    carry(made, rows or {}, order)
    text, _ = canonical_form(made)
    return {**made, "event_id": content_hash(text)}


def generation(request: Row, rows: Carried) -> Record:
    """Return the node of a request."""
    fields = {"model": request["model"], "created_at": timestamp(request["requested_at"])}
    return node("Generation", str(request["id"]), fields, rows)


def timestamp(value: object) -> str:
    """Return a moment as text; one that no text can hold becomes the nearest that a text can."""
    return write_time(min(max(moment(value), 0), _LATEST))


def _without_nulls(fields: Mapping[str, object]) -> Record:
    return {name: value for name, value in fields.items() if value is not None}


class RunRecords:
    """Writes the records of one session."""

    def __init__(self, session: SessionRows, written: Written) -> None:
        self._session = session
        self._written = written
        self._own = session.rows.get("sessions", [{}])[0]
        self._label = str(self._own["label"]) if self._own else None
        self._agent = str(self._own["persona_id"]) if self._own else None
        self._seq = 0
        self._turn = TurnContents({})
        self._last_event = ""

    def records(self) -> Iterator[Record]:
        """Go through the records of the session."""
        if self._label is None:
            for rows in self._session.turns:
                yield from self._turn_records(rows)
        elif self._session.has_log:
            yield from self._run(self._label)
        else:
            yield from self._branch(self._label)

    def _branch(self, label: str) -> Iterator[Record]:
        yield self._session_node("Branch", label)
        self._note_fork(label, self._own["thread_id"], is_written=True)
        for request in self._session.rows.get("requests", ()):
            yield generation(request, self._rows_of_request(request))

    def _run(self, label: str) -> Iterator[Record]:
        own, agent = self._own, str(self._agent)
        self._written.add_run(label, agent, str(own["thread_id"]))
        yield self._session_node("Run", label)
        yield edge("AGENT_HAS_RUN", ("Agent", agent), ("Run", label))
        if own["is_subagent"]:
            yield from self._subagent(label, agent)
        first = next(self._session.turns, None)
        yield from self._emit("run_started", own["created_at"], reason=self._reason(first))
        parent = own["thread_id"] if first is None else first["turns"][0]["parent_turn_id"]
        if parent is not None:
            self._note_fork(label, parent, is_written=False)
        turns = self._session.turns if first is None else chain([first], self._session.turns)
        side = deque(sorted(self._session.rows.get("requests", ()), key=lambda row: moment(row["requested_at"])))
        for rows in turns:
            while side and moment(side[0]["requested_at"]) <= moment(rows["turns"][0]["started_at"]):
                yield from self._side_request(side.popleft())
            yield from self._turn_records(rows)
        self._turn = TurnContents({})
        for request in side:
            yield from self._side_request(request)
        if own["task_status"] in _EXITS:
            yield from self._emit("run_finished", own["updated_at"], exit=_EXITS[str(own["task_status"])])

    def _session_node(self, kind: str, label: str) -> Record:
        fields = {
            "agent_id": self._agent,
            "started_at": timestamp(self._own["created_at"]),
            "updated_at": timestamp(self._own["updated_at"]),
            "title": next((row["title"] for row in self._session.rows.get("session_context", ())), None),
        }
        rows = {table: self._session.rows.get(table, ()) for table in _SESSION_TABLES}
        marks = [row for row in self._session.rows.get(_MARKS, ()) if row["table_name"] in _SESSION_TABLES]
        return node(kind, label, fields, _present({**rows, _MARKS: marks}))

    def _subagent(self, label: str, agent: str) -> Iterator[Record]:
        task = self._own["task_description"]
        fields = {"parent_agent_id": agent, "constraints": None if task is None else {"task": task}}
        yield node("Subagent", label, fields)
        yield edge("SPAWNED_FROM", ("Subagent", label), ("Agent", agent))
        if self._own["parent_session_label"] is not None:
            self._written.add_spawned(label, str(self._own["parent_session_label"]))

    def _note_fork(self, label: str, turn_id: object, *, is_written: bool) -> None:
        self._written.add_agent(str(self._agent))
        self._written.add_fork(
            label, str(self._agent), timestamp(self._own["created_at"]), str(turn_id), is_written=is_written
        )

    def _reason(self, first: RowsByTable | None) -> str:
        if self._own["is_subagent"]:
            return "subagent"
        sources = [message["source"] for message in (first or {}).get("messages", ()) if message["role"] == "user"]
        return "schedule" if sources[:1] == ["cron"] else "user"

    def _rows_of_request(self, request: Row) -> Carried:
        """Return a request that served no turn, with the marks of its values."""
        marks = [
            row
            for row in self._session.rows.get(_MARKS, ())
            if row["table_name"] == "requests" and row["row_key"] == request["id"]
        ]
        return _present({"requests": [request], _MARKS: marks})

    def _side_request(self, request: Row) -> Iterator[Record]:
        self._turn = TurnContents({})
        yield from self._request(request, None, self._rows_of_request(request))

    def _turn_records(self, rows: RowsByTable) -> Iterator[Record]:
        [turn] = rows["turns"]
        if self._label is None:
            persona = _first(rows, "threads", "persona_id")
            self._agent = None if persona is None else str(persona)
        self._turn = TurnContents(rows)
        self._last_event = ""
        if "compactions" in rows:
            yield from self._compaction(turn, rows["compactions"])
        yield from self._conversation(self._turn)
        if _first(rows, "turn_context", "is_interrupted"):
            time = turn["completed_at"] or turn["started_at"]
            yield from self._interruption(time, "canceled", self._last_event)
        if not self._last_event:
            yield row_node("turns", str(turn["id"]), self._turn.take_rows())
        else:
            self._written.add_turn(str(turn["id"]), self._label, turn["parent_turn_id"], self._last_event)

    def _compaction(self, turn: Row, compactions: Sequence[Row]) -> Iterator[Record]:
        [compaction] = compactions
        turn_id, through = str(turn["id"]), str(compaction["summarized_through_turn_id"])
        before = self._written.last_event(turn["parent_turn_id"])
        yield from self._interruption(turn["started_at"], "context_reset", before)
        reset = ("Event", self._last_event)
        marks = self._turn.marks(turn_id, "compactions")
        fields = {"text": compaction["summary"], "created_at": timestamp(turn["started_at"])}
        yield node("Summary", turn_id, fields, _present({"compactions": compactions, _MARKS: marks}))
        yield edge("EVENT_PRODUCES", reset, ("Summary", turn_id))
        last = self._written.last_event(through)
        if last is not None:
            yield edge("SUMMARIZES", ("Summary", turn_id), ("Event", last))
        elif self._label is not None:
            yield edge("SUMMARIZES", ("Summary", turn_id), ("Run", self._label))

    def _conversation(self, turn: TurnContents) -> Iterator[Record]:
        """Go through messages in their order; requests, calls and results come at their times between them."""
        for message in turn.messages:
            yield from self._until(turn, moment(message["created_at"]))
            yield from self._message(turn, message)
        yield from self._until(turn, None)

    def _until(self, turn: TurnContents, time: int | None) -> Iterator[Record]:
        for request in turn.take_loose_requests(time):
            yield from self._request(request, None, turn.rows_of_request(request))
        for call in turn.take_loose_calls(time):
            yield from self._call(turn, call)
        for call, event_id in turn.take_results(time):
            yield from self._result(turn, call, event_id)

    def _message(self, turn: TurnContents, message: Row) -> Iterator[Record]:
        message_id, time = str(message["id"]), message["created_at"]
        generation_id = asked_by = ""
        for request in turn.requests_of(message_id):
            yield from self._request(request, message, turn.rows_of_request(request))
            generation_id, asked_by = str(request["id"]), self._last_event
        yield from self._emit("history_append", time, list=_LIST, message_ref=message_id)
        appended = self._last_event
        calls = turn.calls_of(message_id)
        rows = turn.rows_of_message(message)
        fields = {
            "role": message["role"],
            "content": list(_parts(message, calls)),
            "created_at": timestamp(time),
        }
        yield node("Message", message_id, fields, rows)
        if self._label is not None:
            yield edge("APPENDED_TO_HISTORY", ("Run", self._label), ("Message", message_id), list=_LIST)
        if asked_by:
            yield edge("EVENT_PRODUCES", ("Event", asked_by), ("Message", message_id))
        if message["role"] != "assistant":
            turn.unread_messages.append(message_id)
        yield from self._files(rows.get("message_files", ()), message_id, appended)
        for call in calls:
            for earlier, event_id in turn.take_results(moment(call["started_at"])):
                yield from self._result(turn, earlier, event_id)
            yield from self._call(turn, call, asked_by or appended, generation_id)

    def _files(self, files: Sequence[Row], message_id: str, event_id: str) -> Iterator[Record]:
        for is_written, path in sorted({(each["kind"] == "written", str(each["file_path"])) for each in files}):
            self._written.add_file(path)
            if is_written:
                yield edge("DERIVED_FROM", ("Resource", path), ("Message", message_id))
            else:
                yield edge("EVENT_CONSUMES", ("Event", event_id), ("Resource", path))

    def _request(self, request: Row, message: Row | None, rows: Carried) -> Iterator[Record]:
        asked_at = moment(request["requested_at"])
        inputs = list(self._turn.unread_messages)
        self._turn.unread_messages.clear()
        request_id = str(request["id"])
        yield from self._emit(
            "model_request",
            asked_at,
            model=request["model"],
            params=_without_nulls({name: request[name] for name in ("provider", "service_tier", "speed")}),
            input_refs=inputs,
            request_id=request_id,
        )
        for message_id in inputs:
            yield edge("EVENT_CONSUMES", ("Event", self._last_event), ("Message", message_id))
        answered_at = asked_at + moment(request["latency_ms"])
        if message is not None:
            answered_at = max(asked_at, moment(message["created_at"]))
        yield from self._emit(
            "model_response",
            answered_at,
            request_id=request_id,
            output_ref=None if message is None else message["id"],
            usage=_usage(request),
            finish_reason=request["stop_reason"],
        )
        yield generation(request, rows)
        yield edge("EVENT_PRODUCES", ("Event", self._last_event), ("Generation", request_id))

    def _call(self, turn: TurnContents, call: Row, requested_by: str = "", generation_id: str = "") -> Iterator[Record]:
        call_id, name = str(call["id"]), str(call["tool_name"])
        args, order = structured(str(call["params_json"]))
        has_result = _has_result(call)
        yield from self._emit(
            "tool_call",
            call["started_at"],
            rows=None if has_result else turn.rows_of_call(call),
            order=None if has_result else order,
            server=_server(name) or self._own.get("origin") or _first(turn.rows, "turn_context", "origin"),
            tool=name,
            call_id=call_id,
            args=args,
            requested_by={"event_id": requested_by} if requested_by else None,
        )
        event_id = self._last_event
        yield node("ToolCall", call_id, {"tool": name})
        caller = ("Generation", generation_id) if generation_id else ("Event", event_id)
        yield edge("CALLS_TOOL", caller, ("ToolCall", call_id))
        if has_result:
            turn.add_result(call, event_id)
        elif turn.is_denied(call_id):
            yield from self._interruption(call["started_at"], "approval_denied", event_id)

    def _result(self, turn: TurnContents, call: Row, event_id: str) -> Iterator[Record]:
        call_id, text = str(call["id"]), call["result_json"]
        result, order = (None, None) if text is None else structured(str(text))
        outcome = turn.outcome(call_id)
        is_denied = turn.is_denied(call_id)
        status = "interrupted" if outcome == "interrupted" else "canceled" if is_denied else "error"
        time = call["started_at"] if call["completed_at"] is None else call["completed_at"]
        error = None if call["error"] is None else {"code": outcome or "error", "message": call["error"]}
        yield from self._emit(
            "tool_result",
            time,
            rows=turn.rows_of_call(call),
            order=order,
            call_id=call_id,
            status="ok" if call["status"] == "completed" else status,
            result=result,
            error=error,
        )
        returned = ("Event", self._last_event)
        yield node("ToolResult", call_id, {"tool_call_id": call_id})
        yield edge("EVENT_CONSUMES", returned, ("ToolCall", call_id))
        yield edge("EVENT_PRODUCES", returned, ("ToolResult", call_id))
        yield edge("RETURNS_RESULT", ("ToolCall", call_id), ("ToolResult", call_id))
        if is_denied:
            yield from self._interruption(time, "approval_denied", event_id)

    def _interruption(self, time: object, reason: str, affected: str | None) -> Iterator[Record]:
        affects = [{"event_id": affected}] if affected else []
        yield from self._emit("interruption", time, reason=reason, affects=affects)
        if affected:
            yield edge("INTERRUPTS", ("Event", self._last_event), ("Event", affected))

    def _emit(
        self, kind: str, time: object, *, rows: Carried | None = None, order: Order | None = None, **fields: object
    ) -> Iterator[Record]:
        """Write an event of the run; the first one of a turn carries the turn."""
        made = event(
            {
                "kind": kind,
                "ts": timestamp(time),
                "agent_id": self._agent,
                "run_id": self._label,
                "correlation_id": self._turn.id,
                **fields,
            },
            _merged(self._turn.take_rows(), rows or {}),
            order,
        )
        self._last_event = str(made["event_id"])
        yield made
        if self._label is not None:
            yield edge("RUN_HAS_EVENT", ("Run", self._label), ("Event", self._last_event), seq=self._seq)
            self._seq += 1


def row_node(table: str, key: str, rows: Carried) -> Record:
    """Return a node for rows that no other record can carry."""
    return node("Resource", f"aix:{table}/{key}", {"kind": "uri", "name": f"{table} {key}", "capabilities": []}, rows)


def _parts(message: Row, calls: Sequence[Row]) -> Iterator[Record]:
    if message["thinking"] is not None:
        yield {"type": "reasoning", "text": message["thinking"]}
    if message["content"] is not None:
        yield {"type": "text", "text": message["content"]}
    for call in calls:
        args, _ = structured(str(call["params_json"]))
        yield {"type": "tool_use", "id": call["id"], "name": call["tool_name"], "input": args}


def _usage(request: Row) -> Record | None:
    """Return the tokens of a request: the whole input counts as the prompt."""
    parts = [request[name] for name in ("input_tokens", "cache_read_tokens", "cache_write_tokens")]
    prompt = None if parts == [None, None, None] else sum(map(moment, parts))
    completion = request["output_tokens"]
    total = None if prompt is None and completion is None else moment(prompt) + moment(completion)
    counts = _without_nulls({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total})
    return counts or None


def _has_result(call: Row) -> bool:
    is_answered = call["result_json"] is not None or call["error"] is not None
    return is_answered or call["status"] in ("completed", "failed")


def _server(tool_name: str) -> str | None:
    """Return the MCP server in the name of a tool."""
    parts = tool_name.split("__")
    return parts[1] if len(parts) > 2 and parts[0] == "mcp" else None


def _first(rows: RowsByTable, table: str, column: str) -> object:
    return next((row[column] for row in rows.get(table, ())), None)


def _present(rows: Carried) -> Carried:
    return {table: listed for table, listed in rows.items() if listed}


def _merged(one: Carried, other: Carried) -> Carried:
    return {table: [*one.get(table, ()), *other.get(table, ())] for table in {**one, **other}}
