"""Captures of what the SDK streams: records of another spelling, without parents and times.

They are turned into what a transcript would hold, as far as that can be told: each record follows the one before it in
the same conversation, and the conversation of a subagent is told by the call that started it.
"""

import msgspec
from msgspec import Raw, Struct

from aix_importers.claude_code.records import NOTHING, UNREADABLE, Record, decode_object, decode_objects

FIELDS = {
    "agents", "apiKeySource", "claude_code_version", "duration_api_ms", "duration_ms", "is_error", "mcp_servers",
    "model", "modelUsage", "num_turns", "output_style", "permission_denials", "plugins", "result", "skills",
    "slash_commands", "subtype", "tools", "total_cost_usd", "usage",
}  # fmt: skip
"""Names of fields that only such captures have."""


class _Metadata(Struct, gc=False):
    trigger: str | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None


class _Denial(Struct, gc=False):
    tool_use_id: str | None = None


class StreamNormaliser:
    """Gives the records of one capture what those of a transcript have."""

    def __init__(self) -> None:
        self._last: dict[str | None, str] = {}
        self._cwd: str | None = None
        self._version: str | None = None

    def normalise(self, record: Record, line: int) -> None:
        """Fill in a record, if it is one of a capture."""
        if record.snake_session_id is None or record.session_id is not None:
            return
        record.session_id = record.snake_session_id
        if record.subtype == "init":
            self._cwd, self._version = record.cwd, _text(record, "claude_code_version")
        record.cwd, record.version = record.cwd or self._cwd, record.version or self._version
        if record.uuid is None:
            record.uuid = f"stream:{record.session_id}:{line}"
        call = record.snake_parent_tool_use_id
        record.parent_uuid = self._last.get(call)
        record.is_sidechain = call is not None
        self._last[call] = record.uuid
        if record.snake_compact_metadata:
            record.compact_metadata = _metadata(record.snake_compact_metadata)


def tools_of(record: Record) -> list[str]:
    """Return the tools that the beginning of a capture lists."""
    try:
        return msgspec.json.decode(_field(record, "tools"), type=list[str])
    except UNREADABLE:
        return []


def denied_calls(record: Record) -> list[str]:
    """Return the calls that the end of a capture says were denied."""
    denials = decode_objects(_Denial, _field(record, "permission_denials"))
    return [denial.tool_use_id for denial in denials if denial.tool_use_id]


def _field(record: Record, name: str) -> Raw:
    return (record.unknown or {}).get(name, NOTHING)


def _text(record: Record, name: str) -> str | None:
    try:
        return msgspec.json.decode(_field(record, name), type=str)
    except UNREADABLE:
        return None


def _metadata(raw: Raw) -> Raw:
    found = decode_object(_Metadata, raw)
    if found is None:
        return NOTHING
    named = {"trigger": found.trigger, "preTokens": found.pre_tokens, "postTokens": found.post_tokens}
    return Raw(msgspec.json.encode({name: value for name, value in named.items() if value is not None}))
