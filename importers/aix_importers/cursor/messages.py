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
from aix_importers.cursor.values import field, fields, inner, is_filled, json_of, json_text, text

_ROLES = {Part.QUERY: "user", Part.ANSWER: "assistant", Part.SUMMARY: "system"}
_CONTEXT = (
    "cursor_rules", "attached_code_chunks", "git_diffs", "todos", "knowledge_items", "human_changes",
    "diffs_since_last_apply",
)  # fmt: skip
_METADATA = (
    "request_id", "usage_uuid", "server_bubble_id", "checkpoint_id", "capabilities_ran", "is_agentic",
    "is_plan_execution", "thinking_duration_ms", "turn_duration_ms", "error_details", "cached_conversation_summary",
)  # fmt: skip
_NAMES = dict(zip(Bubble.__struct_fields__, Bubble.__struct_encode_fields__, strict=True))
"""Names of the fields of a bubble, as they are written."""


class BubbleMessages:
    """Makes messages of the bubbles of one conversation."""

    def __init__(self, code: Raw, state: AgentState | None, call_ids: Mapping[Entry, str]) -> None:
        self._code = CodeBlockData(code)
        self._state = state
        self._call_ids = call_ids
        self.unknown_code = 0
        """Blocks of code that are listed and whose content is nowhere."""

    def message_of(self, entry: Entry, bubble: Bubble, request_context: bytes | None) -> Said:
        """Return the message that a bubble is; what was kept of its request stands in a row of its own."""
        said = Said(
            _ROLES[entry.part],
            bubble.content if entry.part is not Part.SUMMARY else None,
            bubble.thought if entry.part is Part.ANSWER else None,
            _context(bubble, request_context),
            _clean((_NAMES[name], getattr(bubble, name)) for name in _METADATA),
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
            started_at, ended_at = state.call_times.get(call.id, (None, None))
            call = replace(call, started_at=call.started_at or started_at, ended_at=ended_at)
        is_cut = call.result in (None, "null", "{}") or text(call.found.contents) == ""
        told = state.result_of(call.id or "") if is_cut else None
        if told is None:
            return call
        begin = "{" if call.result in (None, "null", "{}") else f"{call.result.rstrip()[:-1]},"
        return replace(call, result=f'{begin}"modelResult":{json_text(told)}}}')


def _context(bubble: Bubble, beside: bytes | None) -> dict[str, object]:
    """Return what came with a message; `beside` is what was kept of its request in a row of its own."""
    found: dict[str, object] = {}
    if is_filled(bubble.context):
        found.update(_clean(filter(_says_something, fields(bubble.context).items())))
    found.update(_clean((_NAMES[name], getattr(bubble, name)) for name in _CONTEXT))
    if request := _clean(fields(beside).items()):
        found["messageRequestContext"] = request
    return found


def _says_something(pair: tuple[str, Raw]) -> bool:
    name, raw = pair
    return name != "mentions" or any(map(is_filled, fields(raw).values()))


def _clean(pairs: Iterable[tuple[str, Raw]]) -> dict[str, object]:
    """Return the values that are there, as JSON that any reader takes."""
    found: dict[str, object] = {}
    for name, raw in pairs:
        if is_filled(raw) and (written := json_of(inner(raw) if name == "cachedConversationSummary" else raw)):
            found[name] = Raw(written.encode())
    return found
