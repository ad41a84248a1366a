"""Fields of a record that have no column in the ledger, kept as JSON."""

from operator import attrgetter

import msgspec
from msgspec import Raw, Struct

from aix_importers.claude_code.embedded import description
from aix_importers.claude_code.records import Block, LooseMessage, Message, Record, decode_object, text_of

_DETAILS = tuple(
    (attribute, name)
    for attribute, name in zip(Record.__struct_fields__, Record.__struct_encode_fields__, strict=True)
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
