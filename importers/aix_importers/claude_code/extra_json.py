"""Parts of a record that have no column in the ledger, kept as JSON: details, context, notes on embedded files."""

import hashlib
from base64 import b64decode
from collections.abc import Iterable
from operator import attrgetter

import msgspec
from msgspec import Raw, Struct

from aix_importers.claude_code.records import UNREADABLE, Block, LooseMessage, Message, Record, decode_object, text_of

_MARK = b'"base64"'
_LEAST_CHARACTERS = 64
_FIELDS = tuple(zip(Record.__struct_fields__, Record.__struct_encode_fields__, strict=True))
"""Attributes of a record, and their names in the log."""
_DETAILS = tuple(
    (attribute, name)
    for attribute, name in _FIELDS
    if attribute
    in {
        "agent_name", "api_error_status", "attribution_agent", "attribution_mcp_server", "attribution_mcp_tool",
        "attribution_plugin", "attribution_skill", "cause", "classifier_meta_lines", "context_window_size",
        "duration_ms", "effort", "entrypoint", "error", "error_details", "forked_from", "image_paste_ids",
        "interrupted_message_id", "is_aborted_mid_stream", "level", "max_retries", "mcp_meta", "origin", "plan_content",
        "prompt_id", "prompt_source", "retry_attempt", "retry_in_ms", "session_kind", "slug", "source_tool_use_id",
        "supersedes_uuids", "team_name", "thinking_metadata", "todos", "tool_denial_kind", "tool_ends_turn", "version",
    }
)  # fmt: skip
_NAMES = tuple(name for _, name in _DETAILS)
_values = attrgetter(*(attribute for attribute, _ in _DETAILS))
_MESSAGE_DETAILS = ("stop_sequence", "container", "context_management", "stop_details", "diagnostics")
_NULL = b"null"
_READABLE_USAGE = (b"{", b"n")
"""How usage begins that is an object, or NULL."""
_MOST_SPREAD = 1_000_000
_ENVELOPE = {
    "type", "subtype", "uuid", "parent_uuid", "logical_parent_uuid", "session_id", "timestamp", "is_sidechain",
    "is_meta", "cwd", "version", "git_branch", "slug", "agent_id", "user_type", "entrypoint", "unknown",
    "snake_session_id", "attachment", "team_name", "prompt_id",
}  # fmt: skip
_NOTED_FIELDS = tuple((attribute, name) for attribute, name in _FIELDS if attribute not in _ENVELOPE)


def without_embedded_files(data: bytes) -> bytes:
    """Replace the data of images and documents in JSON by its size and hash."""
    if _MARK not in data:
        return data
    try:
        return msgspec.json.encode(_described(msgspec.json.decode(data)))
    except UNREADABLE:
        return data


def _described(value: object) -> object:
    match value:
        case {"type": "base64", "data": str(data), **rest}:
            return {"type": "base64", **{str(name): each for name, each in rest.items()}, **description(data)}
        case {"base64": str(data), **rest} if len(data) >= _LEAST_CHARACTERS:
            return {**{str(name): _described(each) for name, each in rest.items()}, **description(data)}
        case dict():
            return {name: _described(each) for name, each in value.items()}
        case list():
            return [_described(each) for each in value]
        case _:
            return value


def description(data: str) -> dict[str, object]:
    """Say how large a file is that is written in base 64, and what its hash is."""
    try:
        content = b64decode(data)
    except ValueError:
        content = data.encode()
    return {"size_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def details_of(record: Record) -> dict[str, object]:
    """Return the fields of a record that have no column, as far as they are there."""
    found: dict[str, object] = {name: value for name, value in zip(_NAMES, _values(record), strict=True) if value}
    if record.unknown:
        found.update(record.unknown)
    return found


def message_details(message: Message) -> dict[str, object]:
    """Return the fields of a message that have no column."""
    found: dict[str, object] = {}
    for name in _MESSAGE_DETAILS:
        value = getattr(message, name)
        if value and not (isinstance(value, Raw) and bytes(value) == _NULL):
            found[name] = value
    if message.usage and bytes(message.usage)[:1] not in _READABLE_USAGE:
        found["usage"] = message.usage
    if isinstance(message, LooseMessage) and message.unknown:
        spread = spread_text(message.unknown)
        if spread is not None:
            found["spread_text"] = spread
        found.update((name, value) for name, value in message.unknown.items() if not name.isdigit())
    return found


def spread_text(fields: dict[str, Raw]) -> str | None:
    """Return the text that a client spread over fields named 0, 1, 2, …, a character in each."""
    characters: list[str] = []
    while (piece := fields.get(str(len(characters)))) is not None and len(characters) < _MOST_SPREAD:
        characters.append(text_of(piece) or "")
    return "".join(characters) or None


class _ImageSource(Struct, gc=False):
    type: str | None = None
    media_type: str | None = None
    data: str | None = None
    url: str | None = None


def image_of(block: Block) -> dict[str, object]:
    """Describe an image or a document without its data."""
    found: dict[str, object] = {"type": block.type}
    source = decode_object(_ImageSource, block.source)
    if source is None:
        return {**found, "source": block.source} if block.source else found
    found["media_type"] = source.media_type
    if source.data is not None:
        found.update(description(source.data))
    if source.url is not None:
        found["url"] = source.url
    return found


def json_text(value: object) -> str:
    """Write a value as JSON."""
    return msgspec.json.encode(value).decode()


def context_of(records: Iterable[Record]) -> list[dict[str, object]]:
    """Return what records note, in the order of the log and without what they have in common with their message."""
    return [_noted(record) for record in records]


def _noted(record: Record) -> dict[str, object]:
    noted: dict[str, object] = {"type": record.type}
    for name in ("subtype", "uuid", "timestamp"):
        if value := getattr(record, name):
            noted[name] = value
    if record.attachment:
        noted["attachment"] = Raw(without_embedded_files(bytes(record.attachment)))
    for attribute, name in _NOTED_FIELDS:
        value = getattr(record, attribute)
        if value not in (None, False) and not (isinstance(value, Raw) and not value):
            noted[name] = value
    if record.unknown:
        noted.update(record.unknown)
    return noted
