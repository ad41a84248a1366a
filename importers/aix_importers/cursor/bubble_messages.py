"""From a bubble to the message that it is."""

from collections.abc import Mapping

from msgspec.structs import replace

from aix_importers.cursor.agent_state import AgentState
from aix_importers.cursor.bubbles import Bubble
from aix_importers.cursor.calls import Call, read_call
from aix_importers.cursor.code import CodeBlockData, code_of
from aix_importers.cursor.context import context_of, metadata_of
from aix_importers.cursor.conversation import Entry, Part
from aix_importers.cursor.files import files_of_bubble
from aix_importers.cursor.lints import lints_by_file, lints_of_bubble
from aix_importers.cursor.message import Said
from aix_importers.cursor.tool_data import read_tool
from aix_importers.cursor.values import field, is_filled, json_text, text

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
