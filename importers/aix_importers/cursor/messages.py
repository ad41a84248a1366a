"""From a bubble to the message that it is, with the context that came with it."""

from collections.abc import Iterable, Mapping

from msgspec import Raw
from msgspec.structs import replace

from aix_importers.cursor.agent_state import AgentState
from aix_importers.cursor.calls import Call, read_call
from aix_importers.cursor.code import CodeBlockData, code_of
from aix_importers.cursor.conversation import Entry, Part, Said
from aix_importers.cursor.files import files_of_bubble
from aix_importers.cursor.lints import lints_by_file, lints_of_bubble
from aix_importers.cursor.records import Bubble, read_tool
from aix_importers.cursor.values import ABSENT, field, fields, inner, is_filled, json_of, json_text, text

_CONTEXT = (
    ("cursorRules", "cursor_rules"), ("attachedCodeChunks", "attached_code_chunks"), ("gitDiffs", "git_diffs"),
    ("todos", "todos"), ("knowledgeItems", "knowledge_items"), ("humanChanges", "human_changes"),
    ("diffsSinceLastApply", "diffs_since_last_apply"),
)  # fmt: skip
_METADATA = (
    ("requestId", "request_id"), ("usageUuid", "usage_uuid"), ("serverBubbleId", "server_bubble_id"),
    ("checkpointId", "checkpoint_id"), ("capabilitiesRan", "capabilities_ran"), ("isAgentic", "is_agentic"),
    ("isPlanExecution", "is_plan_execution"), ("thinkingDurationMs", "thinking_duration_ms"),
    ("turnDurationMs", "turn_duration_ms"), ("errorDetails", "error_details"),
    ("cachedConversationSummary", "cached_conversation_summary"),
)  # fmt: skip


def context_of(bubble: Bubble, beside: bytes | None) -> dict[str, object]:
    """Return what came with a message; `beside` is what was kept of its request in a row of its own."""
    found: dict[str, object] = {}
    if is_filled(bubble.context):
        context = {name: raw for name, raw in fields(bubble.context).items() if _says_something(name, raw)}
        found.update(_clean(context.items()))
    found.update(_clean((name, getattr(bubble, attribute)) for name, attribute in _CONTEXT))
    if beside:
        request = _clean((name, raw) for name, raw in fields(beside).items() if is_filled(raw))
        if request:
            found["messageRequestContext"] = request
    return found


def metadata_of(bubble: Bubble) -> dict[str, object]:
    """Return what is noted of a message and has no column."""
    return _clean((name, getattr(bubble, attribute)) for name, attribute in _METADATA)


def _clean(pairs: Iterable[tuple[str, Raw]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, raw in pairs:
        if (
            raw is not ABSENT
            and is_filled(raw)
            and (written := json_of(inner(raw) if name == "cachedConversationSummary" else raw))
        ):
            found[name] = Raw(written.encode())
    return found


def _says_something(name: str, raw: Raw) -> bool:
    return any(map(is_filled, fields(raw).values())) if name == "mentions" else is_filled(raw)


def as_json(value: dict[str, object]) -> str | None:
    """Write an object as JSON; nothing where it is empty."""
    return json_text(value) if value else None


_ROLES = {Part.QUERY: "user", Part.ANSWER: "assistant", Part.SUMMARY: "system"}


class BubbleMessages:
    """Makes messages of the bubbles of one conversation."""

    def __init__(self, code: CodeBlockData, state: AgentState | None, call_ids: Mapping[Entry, str]) -> None:
        self._code = code
        self._state = state
        self._call_ids = call_ids
        self._times: dict[str, tuple[int | None, int | None]] | None = None
        self.unknown_code = 0
        """Blocks of code that are listed and whose content is nowhere."""

    def message_of(self, entry: Entry, bubble: Bubble, request_context: bytes | None) -> Said:
        """Return the message that a bubble is; what was kept of its request stands in a row of its own."""
        said = Said(
            _ROLES[entry.part],
            bubble.content if entry.part is not Part.SUMMARY else None,
            bubble.thought if entry.part is Part.ANSWER else None,
            context_of(bubble, request_context),
            metadata_of(bubble),
            files=list(files_of_bubble(bubble)),
            lints=list(lints_of_bubble(bubble)),
            tokens=bubble.tokens,
            request_id=text(bubble.usage_uuid) or text(bubble.request_id) or None,
            is_error=is_filled(bubble.error_details),
        )
        if request_context:
            said.lints += lints_by_file(field(request_context, "multiFileLinterErrors"))
        if entry.part is Part.ANSWER:
            listed = code_of(bubble.code_blocks, said.content, self._code)
            said.code, self.unknown_code = listed.blocks, self.unknown_code + listed.unknown
            if listed.statuses:
                said.metadata["codeblock_status"] = listed.statuses
        tool = read_tool(bubble.tool_former_data)
        if tool is not None:
            said.take_call(self._call_ids[entry], self._completed(read_call(tool)))
        return said

    def _completed(self, call: Call) -> Call:
        """Return a call with what only the agent's own state has kept of it."""
        state = self._state
        if state is None or call.id is None:
            return call
        if call.ended_at is None and not call.has_binary:
            if self._times is None:
                self._times = state.call_times()
            started_at, ended_at = self._times.get(call.id, (None, None))
            call = replace(call, started_at=call.started_at or started_at, ended_at=ended_at)
        is_cut = call.result in (None, "null", "{}") or text(call.found.contents) == ""
        told = state.result_of(call.id or "") if is_cut else None
        if told is None:
            return call
        whole = f'"modelResult":{json_text(told)}}}'
        has_more = call.result is not None and call.result not in ("null", "{}")
        return replace(call, result=f"{(call.result or '').rstrip()[:-1]},{whole}" if has_more else "{" + whole)
