"""Rows of messages, calls and requests."""

from collections import Counter
from dataclasses import dataclass, field

from aix.ids import h63, ulid
from aix.importing import Source
from aix_importers.cursor.agent_state import AgentState
from aix_importers.cursor.bubbles import Bubble
from aix_importers.cursor.calls import Call, read_call
from aix_importers.cursor.code import Code, CodeBlockData, code_of
from aix_importers.cursor.context import as_json, context_of, metadata_of
from aix_importers.cursor.conversation import ORIGIN, Conversation, Entry, Part, Turn, session_label
from aix_importers.cursor.files import FileUse, files_of_bubble, files_of_call, path_of
from aix_importers.cursor.files import distinct as distinct_files
from aix_importers.cursor.lints import Lint, lints_by_file, lints_of_bubble, lints_of_result
from aix_importers.cursor.lints import distinct as distinct_lints
from aix_importers.cursor.providers import provider_of
from aix_importers.cursor.tool_data import read_tool
from aix_importers.cursor.values import field as field_of
from aix_importers.cursor.values import is_filled, json_text, text
from aix_importers.writer import Writer


@dataclass(slots=True)
class MessageExtras:
    """What hangs on a message."""

    files: list[FileUse] = field(default_factory=list)
    lints: list[Lint] = field(default_factory=list)
    code: list[Code] = field(default_factory=list)


class MessageRows:
    """Makes rows of the bubbles of one conversation."""

    def __init__(
        self, writer: Writer, conversation: Conversation, call_ids: dict[Entry, str], spawned: dict[Entry, Conversation]
    ) -> None:
        self._writer = writer
        self._conversation = conversation
        self._source: Source = conversation.source
        self._call_ids = call_ids
        self._spawned = spawned
        self._code = CodeBlockData(conversation.composer.code_block_data)
        self._paths: set[str] = set()
        self._calls: Counter[Turn] = Counter()
        self.unknown_code = 0
        """Blocks of code that are listed and whose content is nowhere."""

    def add(
        self,
        turn: Turn,
        entry: Entry,
        bubble: Bubble,
        position: int,
        following: Entry | None,
        request_context: bytes | None,
        state: AgentState | None,
        injected: dict[str, object],
        model: str | None,
    ) -> Call | None:
        """Add a message with what hangs on it; returns the call that it makes."""
        tool = read_tool(bubble.tool_former_data)
        call = read_call(tool) if tool is not None else None
        content = bubble.content if entry.part is not Part.SUMMARY else None
        extras = MessageExtras(list(files_of_bubble(bubble)), list(lints_of_bubble(bubble)))
        metadata = metadata_of(bubble)
        if request_context:
            extras.lints += lints_by_file(field_of(request_context, "multiFileLinterErrors"))
        if entry.part is Part.ANSWER:
            listed = code_of(bubble.code_blocks, content, self._code)
            extras.code, self.unknown_code = listed.blocks, self.unknown_code + listed.unknown
            if listed.statuses:
                metadata["codeblock_status"] = listed.statuses
        if call is not None:
            self._add_call(turn, entry, call, following, state)
            if call.is_completed:
                extras.files += files_of_call(call.name, call.number, call.details, call.found)
                extras.lints += lints_of_result(call.found, path_of(call.details))
        context = {**context_of(bubble, request_context), **injected}
        self._add_message(turn, entry, bubble, content, position, context, metadata, call)
        self._add_extras(entry.message_id, extras)
        self._add_request(turn, entry, bubble, position, model)
        return call

    def _add_message(
        self,
        turn: Turn,
        entry: Entry,
        bubble: Bubble,
        content: str | None,
        position: int,
        context: dict[str, object],
        metadata: dict[str, object],
        call: Call | None,
    ) -> None:
        thought = bubble.thought if entry.part is Part.ANSWER else None
        if entry.is_time_inferred:
            metadata["time_inferred"] = True
        self._writer.add(
            self._source,
            "messages",
            id=entry.message_id,
            turn_id=turn.id,
            role=_ROLES[entry.part],
            content=content or None,
            source=self._sender(turn, entry),
            sequence=0,
            created_at=entry.time,
            thinking=thought,
            context_json=as_json(context),
            metadata_json=as_json(metadata),
        )
        if entry.is_time_inferred:
            self._writer.mark(self._source, "messages", entry.message_id, "created_at", "neighbour")
        is_error = is_filled(bubble.error_details) or (call is not None and call.is_cancelled)
        self._writer.add(
            self._source,
            "message_facts",
            message_id=entry.message_id,
            text_chars=len(content) if content else None,
            thinking_chars=len(thought) if thought else None,
            position=position,
            is_query=True if entry.part is Part.SUMMARY else None,
            is_response=bool(content) if entry.part is Part.ANSWER else None,
            is_error=is_error or None,
        )

    def _sender(self, turn: Turn, entry: Entry) -> str | None:
        if entry.part is Part.SUMMARY:
            return "event"
        if entry.part is not Part.QUERY:
            return None
        conversation = self._conversation
        is_first = turn is conversation.turns[0] and entry is turn.entries[0]
        return "agent" if is_first and conversation.is_subagent else "human"

    def _add_call(
        self, turn: Turn, entry: Entry, call: Call, following: Entry | None, state: AgentState | None
    ) -> None:
        call_id = self._call_ids[entry]
        child = self._spawned.get(entry)
        result = self._whole_result(call, state)
        has_ended = call.status in ("completed", "failed")
        started_at = call.started_at if call.started_at is not None else entry.time
        ended_at = call.ended_at if has_ended else None
        if ended_at is None and has_ended and following is not None:
            ended_at = max(following.time, started_at)
            self._writer.mark(self._source, "tool_calls", call_id, "completed_at", "next_message")
        self._writer.add(
            self._source,
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
        if call.started_at is None and entry.is_time_inferred:
            self._writer.mark(self._source, "tool_calls", call_id, "started_at", "neighbour")
        self._writer.add(
            self._source,
            "tool_call_facts",
            call_id=call_id,
            params_hash=call.params_hash,
            params_bytes=len(call.params.encode()),
            result_bytes=len(result.encode()) if result else None,
            result_chars=len(result) if result else None,
            is_error=call.status == "failed" if has_ended else None,
        )
        self._writer.add(
            self._source,
            "permission_decisions",
            call_id=call_id,
            turn_id=turn.id,
            mode=self._conversation.composer.mode,
            **{"class": call.access.access_class},
            raw_target=call.access.target,
            outcome=call.outcome.word,
            evidence=call.outcome.evidence,
            is_inferred=call.outcome.is_inferred,
        )

    def _whole_result(self, call: Call, state: AgentState | None) -> str | None:
        """Return the result, with what the model was told where the bubble has left that out."""
        result = call.result
        is_cut = result in (None, "null", "{}") or text(call.found.contents) == ""
        if state is None or call.id is None or not is_cut:
            return result
        told = state.result_of(call.id)
        if told is None:
            return result
        addition = f'"modelResult":{json_text(told)}}}'
        if result is None or result in ("null", "{}"):
            return "{" + addition
        return f"{result.rstrip()[:-1]},{addition}"

    def _add_extras(self, message_id: str, extras: MessageExtras) -> None:
        workspace = self._conversation.workspace
        for use in distinct_files(extras.files, workspace):
            self._writer.add(
                self._source,
                "message_files",
                id=h63("message_files", message_id, use.kind, use.path, use.line_start),
                message_id=message_id,
                kind=use.kind,
                file_path=use.path,
                line_start=use.line_start,
                line_end=use.line_end,
            )
            self._add_relative_path(use.path, workspace)
        for idx, lint in enumerate(distinct_lints(extras.lints, workspace)):
            self._writer.add(
                self._source,
                "message_lints",
                id=h63("message_lints", message_id, idx),
                message_id=message_id,
                file_path=lint.path,
                message=lint.message,
                lint_source=lint.source,
                start_line=lint.start_line,
                start_col=lint.start_column,
                end_line=lint.end_line,
                end_col=lint.end_column,
                severity=lint.severity,
            )
        for idx, code in enumerate(extras.code):
            self._writer.add(
                self._source,
                "message_codeblocks",
                id=h63("message_codeblocks", message_id, idx),
                message_id=message_id,
                idx=idx,
                language=code.language,
                content=code.content,
                file_path=code.path,
                line_start=code.line_start,
                line_end=code.line_end,
            )

    def _add_relative_path(self, path: str, workspace: str | None) -> None:
        if not workspace or path in self._paths or not path.startswith(f"{workspace.rstrip('/')}/"):
            return
        self._paths.add(path)
        relative = path[len(workspace.rstrip("/")) + 1 :]
        self._writer.add(self._source, "file_paths", file_path=path, workspace_path=workspace, relative_path=relative)

    def _add_request(self, turn: Turn, entry: Entry, bubble: Bubble, position: int, model: str | None) -> None:
        """Add the request that gave an answer, where its tokens were counted."""
        read, written = bubble.tokens
        if entry.part is not Part.ANSWER or (read is None and written is None):
            return
        request_id = ulid("req", ORIGIN, entry.message_key or entry.key)
        self._writer.add(
            self._source,
            "requests",
            id=request_id,
            turn_id=turn.id,
            session_label=session_label(turn.owner_id or self._conversation.id),
            message_id=entry.message_id,
            seq=position,
            requested_at=entry.time,
            model=model,
            provider=provider_of(model),
            origin_request_id=text(bubble.usage_uuid) or text(bubble.request_id) or None,
            input_tokens=read,
            output_tokens=written,
            kind="main",
        )
        if entry.is_time_inferred:
            self._writer.mark(self._source, "requests", request_id, "requested_at", "neighbour")


_ROLES = {Part.QUERY: "user", Part.ANSWER: "assistant", Part.SUMMARY: "system"}
