"""A record of a transcript as typed fields; what a field holds beyond its type is kept as the JSON that it is.

Fields carry the names of the log. A record that has a field nobody knows, or a value of another type than usual, is
refused by the strict decoder, and read field by field.
"""

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar, get_type_hints

import msgspec
from msgspec import Raw, Struct, field

from aix_importers.common.json_text import LARGEST_NUMBER

NOTHING = Raw(b"")
"""Stands for a field that is not there."""

UNREADABLE = (msgspec.MsgspecError, RecursionError)
"""Exceptions raised where JSON is not as expected, or nested too deeply."""

_UUID_DIGITS = 16


class CacheCreation(Struct, gc=False):
    """How long what was written to the cache is kept."""

    ephemeral_5m_input_tokens: int | None = None
    ephemeral_1h_input_tokens: int | None = None


class ServerToolUse(Struct, gc=False):
    """Counts of tools that the vendor ran itself."""

    web_search_requests: int | None = None


class OutputDetails(Struct, gc=False):
    """Token counts of the parts of the output."""

    thinking_tokens: int | None = None


class Usage(Struct, gc=False, forbid_unknown_fields=True):
    """Usage of a request, as far as it was known when the line was written."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_creation: CacheCreation | None = None
    server_tool_use: ServerToolUse | None = None
    service_tier: str | None = None
    inference_geo: Raw = NOTHING
    speed: str | None = None
    iterations: Raw = NOTHING
    output_tokens_details: OutputDetails | None = None


class Message(Struct, gc=False, forbid_unknown_fields=True):
    """A message of the API, or the part of it that a line holds."""

    id: str | None = None
    type: str | None = None
    role: str | None = None
    model: str | None = None
    content: Raw = NOTHING
    stop_reason: str | None = None
    stop_sequence: str | None = None
    usage: Raw = NOTHING
    container: Raw = NOTHING
    context_management: Raw = NOTHING
    stop_details: Raw = NOTHING
    diagnostics: Raw = NOTHING


class Block(Struct, gc=False, forbid_unknown_fields=True):
    """A piece of the content of a message."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = NOTHING
    tool_use_id: str | None = None
    content: Raw = NOTHING
    is_error: bool | None = None
    source: Raw = NOTHING

    cache_control: Raw = NOTHING
    caller: Raw = NOTHING
    citations: Raw = NOTHING
    context: Raw = NOTHING
    data: Raw = NOTHING
    signature: Raw = NOTHING
    title: Raw = NOTHING
    tool_name: Raw = NOTHING


class Record(Struct, gc=False, forbid_unknown_fields=True, rename="camel"):
    """One record: the envelope, and what each type of record has beside it."""

    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    session_id: str | None = None
    timestamp: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    message: Raw = NOTHING
    tool_use_result: Raw = NOTHING
    attachment: Raw = NOTHING
    data: Raw = NOTHING

    cwd: str | None = None
    version: str | None = None
    git_branch: str | None = None
    agent_id: str | None = None
    agent_name: str | None = None
    team_name: str | None = None
    slug: str | None = None
    request_id: str | None = None
    permission_mode: str | None = None
    cost_usd: float | None = field(default=None, name="costUSD")
    duration_ms: float | None = None
    effort: str | None = None
    tool_denial_kind: str | None = None
    prompt_source: str | None = None
    source_tool_use_id: str | None = field(default=None, name="sourceToolUseID")
    tool_use_id: str | None = field(default=None, name="toolUseID")
    parent_tool_use_id: str | None = field(default=None, name="parentToolUseID")

    content: Raw = NOTHING
    compact_metadata: Raw = NOTHING
    microcompact_metadata: Raw = NOTHING
    operation: str | None = None
    summary: str | None = None
    leaf_uuid: str | None = None
    custom_title: str | None = None
    ai_title: str | None = None
    snapshot: Raw = NOTHING
    thinking_metadata: Raw = NOTHING

    agent_setting: Raw = NOTHING
    api_error_status: Raw = NOTHING
    api_refusal_category: Raw = NOTHING
    attribution_agent: Raw = NOTHING
    attribution_mcp_server: Raw = NOTHING
    attribution_mcp_tool: Raw = NOTHING
    attribution_plugin: Raw = NOTHING
    attribution_skill: Raw = NOTHING
    cause: Raw = NOTHING
    classifier_meta_lines: Raw = NOTHING
    context_window_size: Raw = NOTHING
    entrypoint: Raw = NOTHING
    error: Raw = NOTHING
    error_details: Raw = NOTHING
    fallback_model: Raw = NOTHING
    forked_from: Raw = NOTHING
    frame_url: Raw = NOTHING
    has_output: Raw = NOTHING
    hook_count: Raw = NOTHING
    hook_errors: Raw = NOTHING
    hook_infos: Raw = NOTHING
    image_paste_ids: Raw = NOTHING
    interrupted_message_id: Raw = NOTHING
    is_aborted_mid_stream: Raw = NOTHING
    is_snapshot_update: Raw = NOTHING
    is_visible_in_transcript_only: Raw = NOTHING
    last_prompt: Raw = NOTHING
    level: Raw = NOTHING
    max_retries: Raw = NOTHING
    mcp_meta: Raw = NOTHING
    message_count: Raw = NOTHING
    message_id: Raw = NOTHING
    mode: Raw = NOTHING
    origin: Raw = NOTHING
    original_model: Raw = NOTHING
    path: Raw = NOTHING
    pending_background_agent_count: Raw = NOTHING
    plan_content: Raw = NOTHING
    pr_number: Raw = NOTHING
    pr_repository: Raw = NOTHING
    pr_url: Raw = NOTHING
    prevented_continuation: Raw = NOTHING
    prompt_id: Raw = NOTHING
    refused_user_message_uuid: Raw = NOTHING
    relocated_cwd: Raw = NOTHING
    retracted_message_uuids: Raw = NOTHING
    retry_attempt: Raw = NOTHING
    retry_in_ms: Raw = NOTHING
    session_kind: Raw = NOTHING
    source_tool_assistant_uuid: Raw = field(default=NOTHING, name="sourceToolAssistantUUID")
    stop_reason: Raw = NOTHING
    supersedes_uuids: Raw = NOTHING
    title: Raw = NOTHING
    todos: Raw = NOTHING
    tool_ends_turn: Raw = NOTHING
    url: Raw = NOTHING
    user_type: Raw = NOTHING
    worktree_session: Raw = NOTHING

    snake_session_id: str | None = field(default=None, name="session_id")
    snake_compact_metadata: Raw = field(default=NOTHING, name="compact_metadata")
    snake_parent_tool_use_id: str | None = field(default=None, name="parent_tool_use_id")

    unknown: dict[str, Raw] | None = field(default=None, name="aix:unknown")
    """Fields that nobody knows."""


KNOWN_BLOCKS = {"text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image", "document"}
"""Types of blocks; others are kept as they are."""

KNOWN_FIELDS = frozenset(Record.__struct_encode_fields__)
"""Names in the log; one of them may still be among what is unknown of a record, when its value is of no use."""


class LooseMessage(Message, gc=False, forbid_unknown_fields=True):
    """A message with what is unknown of it."""

    unknown: dict[str, Raw] | None = field(default=None, name="aix:unknown")


class LooseUsage(Usage, gc=False, forbid_unknown_fields=True):
    """Usage of a request, with its unknown fields."""

    unknown: dict[str, Raw] | None = field(default=None, name="aix:unknown")


class LooseBlock(Block, gc=False, forbid_unknown_fields=True):
    """A piece of a content, with what is unknown of it."""

    unknown: dict[str, Raw] | None = field(default=None, name="aix:unknown")


_NULL = b"null"
_Kind = TypeVar("_Kind", bound=Struct)

_MESSAGE = msgspec.json.Decoder(Message)
_FIELDS = msgspec.json.Decoder(dict[str, Raw])
_USAGE = msgspec.json.Decoder(Usage)
_CONTENT = msgspec.json.Decoder(str | list[Block])
_ITEMS = msgspec.json.Decoder(list[Raw])
_TEXT = msgspec.json.Decoder(str)

decode_record = msgspec.json.Decoder(Record).decode
"""Decode a record in which everything is as usual; raises `msgspec.ValidationError` where something is not."""


def decode_loosely(data: bytes) -> tuple[Record, list[str]]:
    """Decode a record field by field, and return the names of those whose values cannot be used."""
    record, wrong = _loosely(Record, _FIELDS.decode(data))
    return record, wrong


def derived_uuid(session_id: str | None, timestamp: str | None, content: bytes | Raw) -> str:
    """Return a name for a record that has no uuid, made of what it says."""
    return f"line:{session_id}:{timestamp}:{hashlib.sha256(content).hexdigest()[:_UUID_DIGITS]}"


def decode_message(raw: Raw) -> LooseMessage | Message:
    """Decode the message of a record, whatever it holds."""
    try:
        return _MESSAGE.decode(raw)
    except UNREADABLE:
        pass
    try:
        fields = _FIELDS.decode(raw)
    except UNREADABLE:
        return Message(content=raw)
    return _loosely(LooseMessage, fields)[0]


def decode_usage(raw: Raw) -> Usage | None:
    """Decode the usage of a message; NULL where it is missing or not an object."""
    if not raw:
        return None
    try:
        return _USAGE.decode(raw)
    except UNREADABLE:
        return decode_object(LooseUsage, raw)


def decode_blocks(raw: Raw) -> list[Block]:
    """Decode the content of a message: a text is one block, and what is no block is one of no type."""
    if not raw:
        return []
    try:
        content = _CONTENT.decode(raw)
    except UNREADABLE:
        return [decode_object(LooseBlock, piece) or Block() for piece in decode_raw_blocks(raw)]
    return [Block(type="text", text=content)] if isinstance(content, str) else content


def decode_raw_blocks(raw: Raw) -> list[Raw]:
    """Return the blocks of a content as the JSON they are; a content that is no list is one."""
    try:
        return _ITEMS.decode(raw)
    except UNREADABLE:
        return [raw] if raw and bytes(raw) != b"null" else []


def decode_object(kind: type[_Kind], data: bytes | Raw) -> _Kind | None:
    """Decode an object, without the fields that have another type than usual; NULL where the data is not an object."""
    return decode_checked(kind, data)[0]


def decode_checked(kind: type[_Kind], data: bytes | Raw) -> tuple[_Kind | None, list[str]]:
    """Decode an object as `decode_object` does, and return the names of the fields of another type as well."""
    try:
        return msgspec.json.decode(data, type=kind), []
    except UNREADABLE:
        pass
    try:
        return _loosely(kind, _FIELDS.decode(data))
    except UNREADABLE:
        return None, []


def decode_objects(kind: type[_Kind], data: bytes | Raw) -> list[_Kind]:
    """Decode those items of a list that are objects."""
    try:
        items = _ITEMS.decode(data)
    except UNREADABLE:
        return []
    return [found for item in items if (found := decode_object(kind, item)) is not None]


def unknown_names(loose: LooseMessage | LooseUsage | LooseBlock) -> set[str]:
    """Return the names of the fields that nobody knows."""
    return set(loose.unknown or ()) - set(loose.__struct_encode_fields__)


def wrong_names(loose: LooseMessage | LooseUsage | LooseBlock) -> list[str]:
    """Return the names of known fields whose values have a type that cannot be used."""
    known = loose.__struct_encode_fields__
    return [name for name, value in (loose.unknown or {}).items() if name in known and bytes(value) != _NULL]


def text_of(raw: Raw) -> str | None:
    """Return what a value says when it is a text."""
    try:
        return _TEXT.decode(raw)
    except UNREADABLE:
        return None


def as_count(value: float | None) -> int | None:
    """Return a number of tokens, or of anything else; what cannot be one is unknown.

    >>> as_count(12.6), as_count(-1), as_count(10**30), as_count(None)
    (13, None, None, None)
    """
    return round(value) if value is not None and 0 <= value < LARGEST_NUMBER else None


def _loosely(kind: type[_Kind], fields: Mapping[str, Raw]) -> tuple[_Kind, list[str]]:
    """Make a struct of the fields that have the right type."""
    hints = _hints(kind)
    values: dict[str, Any] = {}
    unknown: dict[str, Raw] = {}
    wrong = []
    for name, value in fields.items():
        known = hints.get(name)
        if known is None:
            unknown[name] = value
            continue
        attribute, type_ = known
        if type_ is Raw:
            values[attribute] = value
            continue
        try:
            values[attribute] = msgspec.json.decode(value, type=type_)
        except UNREADABLE:
            wrong.append(name)
            unknown[name] = value
    if unknown and "aix:unknown" in hints:
        values["unknown"] = unknown
    return kind(**values), wrong


@cache
def _hints(kind: type[Struct]) -> dict[str, tuple[str, Any]]:
    """Return by the name in the log: the attribute, and its type."""
    types = get_type_hints(kind)
    return {
        encoded: (attribute, types[attribute])
        for attribute, encoded in zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)
    }
