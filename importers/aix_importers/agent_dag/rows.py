"""Rows of a run as the ledger has them: what each column says of a message, request, call, turn and session."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from aix.ids import ulid
from aix.importing import Source, readable
from aix_importers.agent_dag.calls import Call, access_of, params_hash
from aix_importers.agent_dag.graph import Run
from aix_importers.agent_dag.lineage import Lineage
from aix_importers.agent_dag.messages import Message, file_of, texts_in
from aix_importers.agent_dag.records import ref_id, text_of
from aix_importers.agent_dag.turns import Payload, Placed, Request, Turn
from aix_importers.agent_dag.usage import Usage
from aix_importers.common.code_blocks import fenced_blocks
from aix_importers.common.json_text import compact_json
from aix_importers.common.row_writer import Code, FileUse, Writer, distinct_files
from aix_importers.common.times import UNDATED
from aix_importers.common.vendors import vendor_of

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_TASK_STATUSES = {"success": "completed", "error": "failed"}
_MAIN_LIST = "main"


class SentMessage(NamedTuple):
    """A message that has a row."""

    id: str
    source: Source
    turn: Turn
    role: str


class RunWriter(Writer):
    """Writes the rows of one run."""

    def __init__(self, origin: str, label: str, run: Run, lineage: Lineage, *, is_undated: bool) -> None:
        super().__init__()
        self._origin = origin
        self._label = label
        self._run = run
        self._lineage = lineage
        self._time_basis = UNDATED if is_undated else "neighbour"
        self._persona = lineage.persona(run)
        self._last_at = 0
        self._exit: object = None
        self._is_finished = False
        self._references: dict[str, set[str]] = {}

    def see(self, time: int) -> None:
        """Take note of the time of an event."""
        self._last_at = max(self._last_at, time)

    def finish(self, exit_word: object) -> None:
        """Take note of the end of the run."""
        self._exit, self._is_finished = exit_word, True

    def add_message(
        self,
        message: Message,
        turn: Turn,
        placed: Placed,
        role: str,
        user_source: str,
        text: str | None,
        thinking: str | None,
    ) -> SentMessage:
        """Add a message of the graph, with the files and the code in it."""
        content = message.content
        source = placed.event.place.source
        message_id = ulid("msg", self._origin, message.id)
        metadata: dict[str, object] = {"node_id": message.id, **message.extra}
        if placed.payload.get("list") not in (None, _MAIN_LIST):
            metadata["list"] = placed.payload["list"]
        if content.images:
            metadata["images"] = content.images
        if content.others:
            metadata["other_parts"] = content.others
        thought = "\n".join((*content.reasoning, *([thinking] if thinking else []))) or None
        who = None if role == "assistant" else user_source if role == "user" else "event"
        self._put_message(message_id, turn, placed, (role, who), (text, thought), metadata, message.created_at)
        for use in distinct_files(FileUse("attached", path) for path in content.files):
            self.add_file(source, message_id, use)
        if role == "assistant" and text:
            for idx, block in enumerate(fenced_blocks(text)):
                code = Code(block.code, block.language, block.path, block.line_start, block.line_end)
                self.add_code(source, message_id, idx, code)
        return SentMessage(message_id, source, turn, role)

    def add_plain_message(
        self, placed: Placed, turn: Turn, role: str, key: str | None = None, thinking: str | None = None
    ) -> SentMessage:
        """Add a message that only an event shows: an answer whose text is missing, or the result of a call."""
        event_id = placed.event.id
        message_id = ulid("msg", self._origin, key or event_id)
        metadata: dict[str, object] = {"node_id": key} if key else {"event_id": event_id}
        who = None if role == "assistant" else "event"
        self._put_message(message_id, turn, placed, (role, who), (None, thinking), metadata)
        return SentMessage(message_id, placed.event.place.source, turn, role)

    def _put_message(
        self,
        message_id: str,
        turn: Turn,
        placed: Placed,
        sender: tuple[str, str | None],
        texts: tuple[str | None, str | None],
        metadata: dict[str, object],
        created_at: int | None = None,
    ) -> None:
        source = placed.event.place.source
        role, who = sender
        text, thinking = texts
        time = placed.time if created_at is None else created_at
        self.see(time)
        self.add(
            source,
            "messages",
            id=message_id,
            turn_id=turn.id,
            role=role,
            content=text,
            source=who,
            sequence=0,
            created_at=time,
            thinking=thinking,
            metadata_json=compact_json(metadata),
        )
        if created_at is None and placed.is_time_inferred:
            self.mark(source, "messages", message_id, "created_at", self._time_basis)
        self.add(
            source,
            "message_facts",
            message_id=message_id,
            text_chars=None if text is None else len(text),
            thinking_chars=None if thinking is None else len(thinking),
            position=turn.message_count,
            is_response=False if placed.is_replaced else None,
        )
        turn.message_count += 1

    def add_reference(self, message: SentMessage, uri: str) -> None:
        """Add a resource that changed while a message was the last one."""
        if message.id not in self._references:
            self._references = {message.id: set()}
        if uri not in self._references[message.id]:
            self._references[message.id].add(uri)
            self.add_file(message.source, message.id, FileUse("referenced", file_of(uri) or uri))

    def add_request(self, placed: Placed, turn: Turn, asked: Payload, sent: SentMessage | None, usage: Usage) -> None:
        """Add the request that an answer is for."""
        request = placed.request
        named = ref_id(placed.payload.get("request_id"))
        is_event = named is None or (request is not None and named in {request.event.id, request.event.claimed_id})
        is_timed = request is not None and not request.is_time_inferred and not placed.is_time_inferred
        self._put_request(
            placed.event.place.source,
            request.event.id if request is not None else placed.event.id,
            turn,
            request.seq if request is not None else turn.request_count,
            request.time if request is not None else placed.time,
            text_of(asked.get("model")) or text_of(placed.payload.get("model")),
            asked,
            is_time_inferred=request.is_time_inferred if request is not None else True,
            message_id=sent.id if sent is not None else None,
            origin_request_id=None if is_event or asked else named,
            **usage._asdict(),
            is_usage_final=True if usage.is_known else None,
            stop_reason=text_of(placed.payload.get("finish_reason")),
            latency_ms=max(0, placed.time - request.time) if request is not None and is_timed else None,
        )
        turn.request_count += request is None

    def add_open_request(self, request: Request) -> None:
        """Add a request that has no answer."""
        asked = request.event.payload
        self._put_request(
            request.event.place.source,
            request.event.id,
            request.turn,
            request.seq,
            request.time,
            text_of(asked.get("model")),
            asked,
            is_time_inferred=request.is_time_inferred,
        )

    def _put_request(
        self,
        source: Source,
        key: str,
        turn: Turn,
        seq: int,
        time: int,
        model: str | None,
        asked: Payload,
        *,
        is_time_inferred: bool,
        **answer: object,
    ) -> None:
        request_id = ulid("req", self._origin, key)
        params = asked.get("params")
        provider = text_of(params.get("provider")) if isinstance(params, dict) else None
        self.add(
            source,
            "requests",
            id=request_id,
            turn_id=turn.id,
            session_label=self._label,
            seq=seq,
            requested_at=time,
            model=model,
            provider=provider or vendor_of(model),
            kind="compaction" if turn.is_compaction else "main",
            **answer,
        )
        if is_time_inferred:
            self.mark(source, "requests", request_id, "requested_at", self._time_basis)

    def add_call(self, call: Call, spawned: str | None) -> None:
        """Add a call, with its result and what became of it."""
        params = call.params if isinstance(call.params, dict) else {} if call.params is None else {"value": call.params}
        written = compact_json(params)
        result = call.result
        value = None if result is None or (result.value is None and call.status == "failed") else result.value
        has_value = result is not None and (value is not None or call.status == "completed")
        result_json = compact_json(value) if has_value else None
        self.add(
            call.source,
            "tool_calls",
            id=call.id,
            turn_id=call.turn.id,
            message_id=call.message_id,
            tool_name=call.name,
            params_json=written,
            result_json=result_json,
            error=call.error,
            status=call.status,
            spawned_session_label=spawned,
            started_at=call.started_at,
            completed_at=result.time if result is not None else None,
            sequence=call.sequence,
        )
        if call.is_start_inferred:
            self.mark(call.source, "tool_calls", call.id, "started_at", self._time_basis)
        if result is not None and result.is_time_inferred:
            self.mark(call.source, "tool_calls", call.id, "completed_at", self._time_basis)
        self.add(
            call.source,
            "tool_call_facts",
            call_id=call.id,
            params_hash=params_hash(params),
            params_bytes=len(written.encode("utf-8", "replace")),
            result_bytes=len(result_json.encode("utf-8", "replace")) if result_json is not None else None,
            result_chars=sum(map(len, texts_in(value))) if has_value else None,
            is_error=result.error is not None if result is not None else None,
        )
        access = access_of(call.server, call.tool, params)
        if spawned is not None:
            access = "spawn", access[1]
        self.add_decision(call.source, call.id, call.turn.id, None, access, call.outcome)

    def add_turn(self, turn: Turn) -> None:
        """Add a turn, its thread and its circumstances."""
        is_worker = self._lineage.is_subagent(self._run)
        self.add(
            turn.source,
            "turns",
            id=turn.id,
            parent_turn_id=turn.parent_id,
            turn_type="compaction" if turn.is_compaction else "normal",
            started_at=turn.started_at,
            role="worker" if is_worker else "manager" if turn.is_spawning else "unified",
            tools_available=compact_json([*turn.tools]) if turn.tools else None,
            permissions_granted=self._permissions(turn),
            source_event_id=turn.event_id,
        )
        if turn.is_start_inferred:
            self.mark(turn.source, "turns", turn.id, "started_at", self._time_basis)
        self.add(
            turn.source,
            "threads",
            turn_id=turn.id,
            persona_id=self._persona,
            system_prompt_hash=turn.prompt_hash,
            thread_key=f"{self._origin}:{turn.key}",
        )
        self.add(
            turn.source,
            "turn_context",
            turn_id=turn.id,
            origin=self._origin,
            origin_session_id=self._run.run_id,
            turn_key=turn.key,
            continues_turn_id=turn.continues.id if turn.continues else None,
            is_interrupted=turn.is_interrupted or None,
            ended_at=turn.ended_at,
        )
        self.add(turn.source, "session_turns", session_label=self._label, turn_id=turn.id)

    def _permissions(self, turn: Turn) -> str | None:
        """Return the policy in force when a turn began: a program, of which only the name and digest are known."""
        activation = self._lineage.policy_at(self._run, turn.started_at)
        if activation is None:
            return None
        node = self._lineage.policy_node(activation.policy_id)
        digest = text_of(node.payload.get("source_digest")) if node is not None else None
        policy: dict[str, object] = {"policy_ref": activation.policy_id, "source_digest": digest}
        return compact_json({"basis": "policy", "policy": {**policy, "activated_by": activation.event_id}})

    def add_session(self, turns: Sequence[Turn]) -> None:
        """Add the session of the run, its other names, and where it came from."""
        run, label, lineage = self._run, self._label, self._lineage
        source = turns[0].source
        start = lineage.start(run)
        starts = [turn.started_at for turn in turns]
        created_at = min([*starts, *([start.time] if start is not None and start.time is not None else [])])
        updated_at = turns[0].started_at
        for turn in turns[1:]:
            updated_at = max(updated_at + 1, turn.started_at)  # it grows with each move of the head
        updated_at = max(updated_at, self._last_at, created_at)
        spawn, is_subagent = lineage.spawns.get(run), lineage.is_subagent(run)
        status = _TASK_STATUSES.get(str(self._exit)) if self._is_finished else None
        self.add(
            source,
            "sessions",
            label=label,
            thread_id=turns[-1].id,
            persona_id=self._persona,
            is_subagent=int(is_subagent),
            parent_session_label=lineage.label(spawn.parent) if spawn else None,
            parent_turn_id=spawn.turn_id if spawn else None,
            spawn_tool_call_id=lineage.spawn_call(run),
            task_description=lineage.task(run),
            task_status=status or ("running" if is_subagent and not self._is_finished else None),
            routing_key=f"agent:{run.agent_id}",
            origin=self._origin,
            origin_session_id=run.run_id,
            created_at=created_at,
            updated_at=updated_at,
            status="active",
        )
        if spawn is not None and spawn.is_inferred:
            self.mark(source, "sessions", label, "parent_session_label", "parent_agent")
        if self._time_basis == UNDATED:
            self.mark(source, "sessions", label, "created_at", UNDATED)
            self.mark(source, "sessions", label, "updated_at", UNDATED)
        self.add(source, "session_context", label=label, raw_path=readable(source.path))
        names = [*lineage.branch_names(run), *([run.run_id] if _UUID.fullmatch(run.run_id) else [])]
        for alias in names:
            self.add(
                source, "session_aliases", alias=alias, session_label=label, created_at=created_at, reason="manual"
            )
