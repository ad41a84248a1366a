"""From a bubble to the message that it is, with the context that came with it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple

from msgspec import Raw
from msgspec.structs import replace

from aix.importing import Source
from aix_importers.cursor.agent_state import AgentState
from aix_importers.cursor.calls import Call, read_call
from aix_importers.cursor.code import CodeBlockData, code_of
from aix_importers.cursor.conversation import Conversation, Entry, Part, Said
from aix_importers.cursor.files import files_of_bubble
from aix_importers.cursor.lints import lints_by_file, lints_of_bubble
from aix_importers.cursor.records import Bubble, Composer, read_tool
from aix_importers.cursor.turns import arrange
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

_QUERY = re.compile(r"<user_query>(.*?)</user_query>", re.DOTALL)
_TIMESTAMP = re.compile(r"<timestamp>(.*?)</timestamp>", re.DOTALL)
_MOMENT = re.compile(
    r"(?:\w+, )?(\w{3})\w* (\d{1,2}), (\d{4}), (\d{1,2}):(\d{2})(?::(\d{2}))?\s*([AP]M)?\s*"
    r"(?:\((?:UTC|GMT)(?:([+-])(\d{1,2})(?::?(\d{2}))?)?\))?",
    re.IGNORECASE,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_TAGS = ("<user_info>", "<rules>", "<system_reminder>", "<project_layout>", "<git_status>", "<open_and_recently")


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


class Listed(NamedTuple):
    """A message in its list."""

    key: str
    part: Part
    said: Said
    time: int | None = None


def make_conversation(
    source: Source, session_id: str, listed: Sequence[Listed], began_at: int | None, ended_at: int | None
) -> Conversation:
    """Return the conversation that messages make."""
    said_of: dict[str, Said] = {each.key: each.said for each in listed}
    conversation = Conversation(source, session_id, Composer(), lambda entry: said_of.get(entry.key))
    conversation.began_at, conversation.updated_at = began_at, ended_at
    conversation.entries = [Entry(each.key, each.part, each.time) for each in listed]
    arrange(conversation, began_at, ended_at)
    return conversation


class Query(NamedTuple):
    """Query that was asked."""

    text: str
    before: str
    """Text that the tool put before the query."""
    is_injected: bool
    """Whether the tool asked it, and nobody else."""
    time: int | None


def query_of(written: str) -> Query | None:
    r"""Return what was asked; nothing for a text that only describes the user's machine.

    >>> query_of("<user_query>\nadd a test\n</user_query>").text
    'add a test'
    >>> query_of("<user_info>\nOS: linux\n</user_info>") is None
    True
    """
    found = _QUERY.search(written)
    stamp = _TIMESTAMP.search(written)
    time = read_moment(stamp[1]) if stamp else None
    if found is None:
        if written.lstrip().startswith(_TAGS):
            return None
        return Query(_TIMESTAMP.sub("", written).strip("\n"), "", is_injected=False, time=time)
    before = _TIMESTAMP.sub("", written[: found.start()]).strip()
    is_injected = not found[1].startswith(("\n", "\r"))
    return Query(found[1].strip("\r\n"), before, is_injected, time)


def read_moment(written: str) -> int | None:
    """Return Unix milliseconds of a time as Cursor writes it for the model.

    >>> read_moment("Friday, May 8, 2026, 6:05 AM (UTC+5:30)")
    1778200500000
    """
    found = _MOMENT.search(written)
    if found is None or found[1].lower() not in _MONTHS:
        return None
    hour = int(found[4])
    if found[7]:
        hour = hour % 12 + (12 if found[7].upper() == "PM" else 0)
    offset = timedelta(hours=int(found[9] or 0), minutes=int(found[10] or 0))
    try:
        zone = timezone(-offset if found[8] == "-" else offset) if found[8] else UTC
        month = _MONTHS.index(found[1].lower()) + 1
        moment = datetime(int(found[3]), month, int(found[2]), hour, int(found[5]), int(found[6] or 0), tzinfo=zone)
        return int(moment.timestamp()) * 1000
    except (ValueError, OverflowError):
        return None
