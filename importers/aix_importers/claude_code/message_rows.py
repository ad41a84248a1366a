"""Rows of messages, calls and requests."""

from collections.abc import Collection, Iterable, Mapping

from aix.ids import ulid
from aix.importing import Source
from aix_importers.claude_code.calls import (
    ERROR_CHARACTERS,
    CallResult,
    OpenCall,
    Outcome,
    access_of,
    canonical_hash,
    outcome_of_result,
)
from aix_importers.claude_code.extra_json import context_of, json_text
from aix_importers.claude_code.facts import OpenMessage
from aix_importers.claude_code.files import code_of_call, files_in_prompt, files_of_attachment, files_of_call
from aix_importers.claude_code.lints import lints_in_text, lints_of_attachment, lints_of_result
from aix_importers.claude_code.records import Record
from aix_importers.claude_code.sidecars import SpilledResults
from aix_importers.claude_code.turns import ORIGIN, Thread, Turn
from aix_importers.claude_code.usage import Advice, Request, provider_of
from aix_importers.common.code_blocks import fenced_blocks
from aix_importers.common.row_writer import Code, FileUse, Lint, Writer, relative_path

_PENDING = Outcome("pending", "no tool_result", is_inferred=True)

_LISTED_AS_DENIED = Outcome("not_granted", "permission_denials", is_inferred=False)


class MessageRows:
    """Makes rows of what is told."""

    def __init__(
        self,
        writer: Writer,
        spawned: Mapping[str, str],
        threads: Iterable[Thread],
        denied: Collection[str],
        spilled: SpilledResults,
    ) -> None:
        self.writer = writer
        self._spawned = spawned
        """By call: the label of the subagent it started."""
        self._turns_of = {thread.label: thread.turns for thread in threads}
        """By label: the turns that stand in the log of the session."""
        self._denied = denied
        """Calls that the log lists as denied."""
        self._spilled = spilled
        self._relative_paths: set[tuple[str, str | None]] = set()

    def add_message(self, message: OpenMessage) -> None:
        """Add a message that is whole, with what hangs on it."""
        source = source_of(message.turn)
        message_id = message.id
        context = message.context
        content = message.content
        self.writer.add(
            source,
            "messages",
            id=message_id,
            turn_id=message.turn.id,
            role=message.role,
            content=content,
            source=message.source,
            sequence=0,
            created_at=message.time,
            thinking=message.thinking_text,
            context_json=json_text(context_of(context)) if context else None,
            metadata_json=json_text(message.metadata_of_row()),
        )
        if message.time_basis:
            self.writer.mark(source, "messages", message_id, "created_at", message.time_basis)
        self.writer.add(
            source,
            "message_facts",
            message_id=message_id,
            text_chars=len(content) if content is not None else None,
            thinking_chars=sum(map(len, message.thinking)) or None,
            position=message.position,
            is_query=message.is_query,
            is_error=message.is_error or None,
        )
        message.is_written = True
        if message.role == "assistant":
            self._add_fenced_code(source, message, content or "")
        else:
            self._add_surroundings(source, message, context)

    def _add_surroundings(self, source: Source, message: OpenMessage, context: list[Record]) -> None:
        """Add the files and lints that came with a message."""
        text = "\n".join(message.texts)
        cwd = message.cwd
        attachments = [bytes(record.attachment) for record in context if record.attachment]
        attached = [use for attachment in attachments for use in files_of_attachment(attachment, cwd)]
        paths = {use.file_path for use in attached}
        named = files_in_prompt(text, cwd) if message.source in ("human", "agent") else []
        named = [use for use in named if use.kind != "attached" or use.file_path not in paths]
        self._add_files(source, message, [*attached, *named])
        lints = [lint for attachment in attachments for lint in lints_of_attachment(attachment)]
        self._add_lints(source, message, [*lints, *lints_in_text(text)])

    def _add_fenced_code(self, source: Source, message: OpenMessage, text: str) -> None:
        if "```" in text or "~~~" in text:
            for block in fenced_blocks(text):
                code = Code(block.code, block.language, block.path, block.line_start, block.line_end)
                self._add_code(source, message, code)
        pending, message.pending_code = message.pending_code, []
        for code in pending:
            self._add_code(source, message, code)

    def _add_code(self, source: Source, message: OpenMessage, code: Code) -> None:
        if not message.is_written:
            message.pending_code.append(code)
            return
        self.writer.add_code(source, message.id, message.code_count, code)
        message.code_count += 1

    def _add_files(self, source: Source, message: OpenMessage, uses: list[FileUse]) -> None:
        for use in uses:
            key = (use.kind, use.file_path, use.line_start)
            if key in message.files:
                continue
            message.files.add(key)
            self.writer.add_file(source, message.id, use)
            self._add_relative_path(source, use.file_path, message.cwd)

    def _add_relative_path(self, source: Source, path: str, workspace: str | None) -> None:
        relative = relative_path(path, workspace)
        if relative is not None and (path, workspace) not in self._relative_paths:
            self._relative_paths.add((path, workspace))
            self.writer.add(source, "file_paths", file_path=path, workspace_path=workspace, relative_path=relative)

    def _add_lints(self, source: Source, message: OpenMessage, lints: list[Lint]) -> None:
        for lint in lints:
            self.writer.add_lint(source, message.id, message.lint_count, lint)
            message.lint_count += 1

    def add_call(self, call: OpenCall, result: CallResult | None) -> None:
        """Add a call, with its result if there is one."""
        message = call.message
        source = source_of(message.turn)
        params = bytes(call.params) or b"{}"
        text = result.text if result else None
        self.writer.add(
            source,
            "tool_calls",
            id=call.id,
            turn_id=message.turn.id,
            message_id=message.id,
            tool_name=call.name,
            params_json=params.decode(),
            result_json=self._result_json(result, text or "") if result else None,
            error=text[:ERROR_CHARACTERS] if result and result.is_error and text is not None else None,
            status=("failed" if result.is_error else "completed") if result else "pending",
            spawned_session_label=self._spawned.get(call.id),
            started_at=call.started_at,
            completed_at=result.time if result else None,
            sequence=call.sequence,
        )
        self.writer.add(
            source,
            "tool_call_facts",
            call_id=call.id,
            params_hash=canonical_hash(call.params),
            params_bytes=len(params),
            result_bytes=len(result.content) if result else None,
            result_chars=len(text) if text is not None else None,
            is_error=result.is_error if result else None,
        )
        outcome = outcome_of_result(result.is_error, text, result.denial_kind) if result else _PENDING
        if call.id in self._denied and outcome.word in ("ran", "failed", "pending"):
            outcome = _LISTED_AS_DENIED
        self.writer.add_decision(source, call.id, message.turn.id, call.mode, access_of(call.name, params), outcome)
        if result is not None and not result.is_error:
            structured, content = bytes(result.structured) or None, bytes(result.content) or None
            self._add_files(source, message, files_of_call(call.name, params, structured, content, call.cwd))
            for code in code_of_call(call.name, params, structured, call.cwd):
                self._add_code(source, message, code)
            if content is not None:
                self._add_lints(source, message, lints_of_result(call.name, content))

    def _result_json(self, result: CallResult, text: str) -> str:
        full = self._spilled.text_of(bytes(result.structured), text)
        return result.json if full is None else f'{result.json[:-1]},"persisted":{json_text(full)}}}'

    def add_request(self, request: Request, message: OpenMessage, seq: int) -> None:
        """Add the request that gave a message."""
        source = source_of(message.turn)
        self.add_request_row(
            source,
            request,
            "main",
            turn_id=message.turn.id,
            session_label=self.birthplace(message.turn),
            message_id=message.id,
            seq=seq,
            time=message.time,
            time_basis=message.time_basis or "neighbour",
            estimated_output_tokens=message.estimated_tokens,
        )

    def birthplace(self, turn: Turn) -> str:
        """Return the session in which a turn was made; others may have copies of it."""
        label = f"{ORIGIN}:{turn.session_id}"
        return label if turn in self._turns_of.get(label, ()) else turn.thread.label

    def add_request_row(
        self,
        source: Source,
        request: Request,
        kind: str,
        *,
        session_label: str | None,
        time: int,
        time_basis: str,
        **place: object,
    ) -> None:
        """Add a request; the time and its basis are for one that has no time of its own, `place` is further columns."""
        request_id = ulid("req", ORIGIN, request.key)
        self.writer.add(
            source,
            "requests",
            id=request_id,
            session_label=session_label,
            **place,
            requested_at=time if request.time is None else request.time,
            model=request.model,
            provider=provider_of(request.model),
            origin_message_id=request.origin_message_id or None,
            origin_request_id=request.request_id,
            **request.columns(),
            web_search_count=request.web_search_count,
            is_usage_final=request.is_final,
            stop_reason=request.stop_reason,
            service_tier=request.service_tier,
            speed=request.speed,
            latency_ms=request.latency_ms,
            reported_cost_usd=request.reported_cost,
            git_branch=request.git_branch or None,
            cwd=request.cwd,
            kind=kind,
        )
        if request.time is None:
            self.writer.mark(source, "requests", request_id, "requested_at", time_basis)
        for number, advice in enumerate(request.advice):
            self._add_advice(source, request, advice, number, time, session_label)

    def _add_advice(
        self, source: Source, request: Request, advice: Advice, number: int, time: int, label: str | None
    ) -> None:
        # It belongs to no turn: what a turn used is what its own requests used.
        self.writer.add(
            source,
            "requests",
            id=ulid("req", ORIGIN, f"{request.key}:advisor:{number}"),
            session_label=label,
            requested_at=time if request.time is None else request.time,
            model=advice.model,
            provider=provider_of(advice.model),
            origin_message_id=request.origin_message_id or None,
            parent_request_id=ulid("req", ORIGIN, request.key),
            **advice.columns(),
            git_branch=request.git_branch or None,
            cwd=request.cwd,
            kind="advisor",
        )


def source_of(turn: Turn) -> Source:
    """Return the source whose rows those of a turn are."""
    return turn.thread.scan.file.source
