"""Rows of messages, calls and requests."""

from collections import Counter
from collections.abc import Mapping
from functools import partial

from aix.ids import ulid
from aix_importers.common.row_writer import Writer, relative_path
from aix_importers.cursor.calls import Call
from aix_importers.cursor.conversation import Conversation, Entry, Part, Said, Turn, session_label
from aix_importers.cursor.files import distinct as distinct_files
from aix_importers.cursor.lints import distinct as distinct_lints
from aix_importers.cursor.records import ORIGIN, provider_of
from aix_importers.cursor.turns import TurnFacts
from aix_importers.cursor.values import as_json


class MessageRows:
    """Makes rows of the bubbles of one conversation."""

    def __init__(self, writer: Writer, conversation: Conversation, spawned: Mapping[Entry, Conversation]) -> None:
        self._writer, self._source = writer, conversation.source
        self._add = partial(writer.add, conversation.source)
        self._mark = partial(writer.mark, conversation.source)
        self._conversation = conversation
        self._spawned = spawned
        self._paths: set[str] = set()
        self._calls: Counter[Turn] = Counter()
        self._mode: str | None = None

    def add(
        self, turn: Turn, entry: Entry, said: Said, position: int, following: Entry | None, facts: TurnFacts
    ) -> None:
        """Add a message with what hangs on it, given what is known of its turn so far."""
        conversation = self._conversation
        self._mode = facts.mode or conversation.composer.mode or conversation.mode
        for call_id, call in said.calls:
            self._add_call(turn, entry, call_id, call, following, said)
        if entry.is_time_inferred:
            said.metadata["time_inferred"] = True
        self._add(
            "messages",
            id=entry.message_id,
            turn_id=turn.id,
            role=said.role,
            content=said.content or None,
            source=self._sender(turn, entry),
            sequence=0,
            created_at=entry.time,
            thinking=said.thinking,
            context_json=as_json(said.context),
            metadata_json=as_json(said.metadata),
        )
        if entry.is_time_inferred:
            self._mark("messages", entry.message_id, "created_at", self._conversation.time_basis)
        self._add(
            "message_facts",
            message_id=entry.message_id,
            text_chars=len(said.content) if said.content else None,
            thinking_chars=len(said.thinking) if said.thinking else None,
            position=position,
            is_query=True if entry.part is Part.SUMMARY else None,
            is_response=bool(said.content) if entry.part is Part.ANSWER else None,
            is_error=said.is_error or None,
        )
        self._add_extras(entry.message_id, said)
        model = facts.model or conversation.composer.model or conversation.model
        self._add_request(turn, entry, said, position, model)

    def _sender(self, turn: Turn, entry: Entry) -> str | None:
        if entry.part is Part.ANSWER:
            return None
        if entry.part is not Part.QUERY:
            return "event"
        conversation = self._conversation
        is_first = turn is conversation.turns[0] and entry is turn.first
        return "agent" if is_first and conversation.is_subagent else "human"

    def _add_call(
        self, turn: Turn, entry: Entry, call_id: str, call: Call, following: Entry | None, said: Said
    ) -> None:
        child = self._spawned.get(entry)
        result = call.result
        has_ended = call.status in ("completed", "failed")
        started_at = call.started_at if call.started_at is not None else entry.time
        ended_at = call.ended_at if has_ended else None
        if ended_at is None and has_ended and following is not None:
            ended_at = max(following.time, started_at)
            self._mark("tool_calls", call_id, "completed_at", "next_message")
        self._add(
            "tool_calls",
            id=call_id,
            turn_id=turn.id,
            message_id=entry.message_id,
            tool_name=call.name,
            tool_number=call.number,
            params_json=call.params,
            result_json=result,
            error=call.error,
            status=call.status,
            spawned_session_label=child.label if child else None,
            started_at=started_at,
            completed_at=ended_at,
            sequence=self._calls[turn],
        )
        self._calls[turn] += 1
        if said.are_outcomes_inferred:
            self._mark("tool_calls", call_id, "status", "no_result_is_kept")
        if call.started_at is None and entry.is_time_inferred:
            self._mark("tool_calls", call_id, "started_at", self._conversation.time_basis)
        self._add(
            "tool_call_facts",
            call_id=call_id,
            params_hash=call.params_hash,
            params_bytes=len(call.params.encode()),
            result_bytes=len(result.encode()) if result and result != "null" else None,
            result_chars=len(result) if result and result != "null" else None,
            is_error=call.status == "failed" if has_ended and not said.are_outcomes_inferred else None,
        )
        self._writer.add_decision(self._source, call_id, turn.id, self._mode, call.access, call.outcome)

    def _add_extras(self, message_id: str, said: Said) -> None:
        workspace = self._conversation.workspace
        for use in distinct_files(said.files, workspace):
            self._writer.add_file(self._source, message_id, use)
            self._add_relative_path(use.file_path, workspace)
        for idx, lint in enumerate(distinct_lints(said.lints, workspace)):
            self._writer.add_lint(self._source, message_id, idx, lint)
        for idx, code in enumerate(said.code):
            self._writer.add_code(self._source, message_id, idx, code)

    def _add_relative_path(self, path: str, workspace: str | None) -> None:
        relative = relative_path(path, workspace)
        if relative is not None and path not in self._paths:
            self._paths.add(path)
            self._add("file_paths", file_path=path, workspace_path=workspace, relative_path=relative)

    def _add_request(self, turn: Turn, entry: Entry, said: Said, position: int, model: str | None) -> None:
        """Add the request that gave an answer, where its tokens were counted."""
        read, written = said.tokens
        if entry.part is not Part.ANSWER or (read is None and written is None):
            return
        request_id = ulid("req", ORIGIN, entry.message_key or entry.key)
        self._add(
            "requests",
            id=request_id,
            turn_id=turn.id,
            session_label=session_label(turn.owner_id or self._conversation.id),
            message_id=entry.message_id,
            seq=position,
            requested_at=entry.time,
            model=model,
            provider=provider_of(model),
            origin_request_id=said.request_id,
            input_tokens=read,
            output_tokens=written,
            kind="main",
        )
        if entry.is_time_inferred:
            self._mark("requests", request_id, "requested_at", self._conversation.time_basis)
