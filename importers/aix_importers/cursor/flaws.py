"""Bubbles that hold something which cannot be read, although they are JSON objects."""

import re
from collections.abc import Callable, Iterator

from msgspec import Raw

from aix_importers.cursor.bubbles import Bubble
from aix_importers.cursor.composers import TOOL_FORMER, Composer
from aix_importers.cursor.conversation import Part
from aix_importers.cursor.tool_data import ToolData, read_tool
from aix_importers.cursor.values import ABSENT, field, fields, fields_if_object, inner, is_filled, is_list, items, text

_OF_A_CALL = ("tool", "toolCallId", "params", "rawArgs", "result")
_KNOWN = frozenset(Bubble.__struct_encode_fields__)
_BOOKKEEPING = re.compile(rb'"(?:~[^"]*|[0-9a-zA-Z_-]{20,}|[^" ]*[/\\:][^" ]*|[\d.]*)"')
"""Texts that nobody said: states of an agent, ids, paths, numbers."""
_HOLDS_CALLS = re.compile(rb"toolCallId|rawArgs")
_OF_COMPOSER = frozenset({*Composer.__struct_encode_fields__, "cachedConversationSummary"})
_OF_SUMMARY = b'"truncationLastBubbleIdInclusive"'
_OF_CONTENT = (b'"toolCallId"', b'"text"')


def flaw_of(
    bubble: Bubble, listed_kind: int | None, part: Part, tool: ToolData | None, raw: Callable[[], bytes | Raw | None]
) -> str | None:
    """Return what is wrong with a bubble in a sentence; nothing where all of it was understood.

    `raw` gives the bubble as it is written: it is asked for only where the bubble seems to be empty.
    """
    kind = bubble.kind
    if kind is None and listed_kind is None:
        return "A message does not say whose it is, and counts as the assistant's."
    if kind is not None and listed_kind is not None and kind != listed_kind:
        return "A message is the user's by itself and the assistant's by the list, or the other way round."
    if tool is None and is_filled(bubble.tool_former_data) and _is_call(bubble.tool_former_data):
        return "A call has no name, and was left out."
    if any(is_filled(each) and text(each) is None for each in (bubble.text, bubble.raw_text)):
        return "The text of a message is no text."
    if part is Part.ARTEFACT and is_filled(bubble.thinking):
        return "The thinking of a message is no text."
    if part is Part.ARTEFACT and is_filled(bubble.conversation_summary):
        return "A summary has no text, and was left out."
    if part is Part.ARTEFACT or (part is Part.QUERY and not bubble.content):
        strange = [name for name, value in fields(raw()).items() if name not in _KNOWN and _is_content(value)]
        if strange:
            return f"A message without text has fields that are not known: {', '.join(sorted(strange))[:80]}."
    return None


def flaws_of(composer: Composer, written: bytes) -> Iterator[str]:
    """Go through what is wrong with the parts of a conversation that stand beside its messages.

    `written` is the composer as it is written.
    """
    if is_filled(composer.capabilities) and not is_list(composer.capabilities):
        yield "The calls that stand beside the messages are no list."
    for capability in items(composer.capabilities):
        yield from _flaws_of_capability(capability)
    latest = composer.latest_conversation_summary
    if is_filled(latest) and not any(map(text, (field(latest, "summary"), field(latest, "summary", "summary")))):
        yield "The latest summary of the conversation has no text."
    if _OF_SUMMARY in written:
        named = fields(written).items()
        strange = [name for name, value in named if name not in _OF_COMPOSER and _OF_SUMMARY in bytes(value)]
        if strange:
            yield f"A summary stands in a field that is not known: {', '.join(sorted(strange))[:80]}."


def _flaws_of_capability(capability: Raw) -> Iterator[str]:
    data, is_of_calls = field(capability, "data"), field(capability, "type") == TOOL_FORMER
    calls = field(data, "bubbleDataMap")
    found = fields_if_object(inner(calls)) if is_filled(calls) else {}
    is_lost = fields_if_object(capability) is None or (
        is_of_calls and is_filled(data) and fields_if_object(data) is None
    )
    is_read = is_of_calls and is_filled(calls)
    if found is None or is_lost or (not is_read and _HOLDS_CALLS.search(bytes(capability))):
        yield "The calls that stand beside the messages cannot be read."
        return
    for raw in found.values():
        if read_tool(raw) is None and is_filled(raw) and _is_call(raw):
            yield "A call has no name, and was left out."


def _is_call(data: Raw) -> bool:
    found = fields_if_object(data)
    return found is None or any(is_filled(found.get(name, ABSENT)) for name in _OF_A_CALL)


def _is_content(value: Raw) -> bool:
    if not is_filled(value):
        return False
    data = bytes(value)
    if data[:1] == b'"':
        return _BOOKKEEPING.fullmatch(data) is None
    return data[:1] in (b"{", b"[") and any(mark in data for mark in _OF_CONTENT)
