"""Reading a conversation in outline, from wherever it is kept."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from msgspec import Raw

from aix_importers.cursor.bubbles import ASSISTANT, USER, Bubble, read_bubble
from aix_importers.cursor.conversation import Conversation, Entry, Part
from aix_importers.cursor.flaws import flaw_of
from aix_importers.cursor.times import set_times
from aix_importers.cursor.tool_data import ToolData, read_tool
from aix_importers.cursor.turns import add_latest_summary, chain, divide
from aix_importers.cursor.values import field, is_filled, sample_of, text

_ATTACHMENTS = ("fileSelections", "folderSelections", "selections", "selectedImages")


def outline(
    conversation: Conversation,
    bubbles: Iterable[tuple[str, int | None, Bubble]],
    tools: Mapping[str, Raw],
    ended_at: int | None = None,
    *,
    raw_of: Callable[[str], bytes | Raw | None],
    report: Callable[[str, str], None],
) -> None:
    """Fill in the entries and turns; bubbles come in order, with their keys and what the list says of their kind.

    `raw_of` gives a bubble as it is written, by its key. `report` takes what is wrong with a bubble, and its key.
    """
    through: dict[str, str | None] = {}
    last: Bubble | None = None
    for key, listed_kind, bubble in bubbles:
        tool = read_tool(bubble.tool_former_data) or read_tool(tools.get(key))
        entry = _entry(key, bubble.kind or listed_kind, bubble, tool)
        if reason := flaw_of(bubble, listed_kind, entry.part, tool, partial(raw_of, key)):
            report(reason, key)
        if entry.part is Part.SUMMARY:
            through[key] = text(field(bubble.summary, "truncationLastBubbleIdInclusive"))
        conversation.child_ids.update(entry.child_ids)
        conversation.entries.append(entry)
        last = bubble
    if last is not None and conversation.entries[-1].part is Part.QUERY and _is_input_box(last, conversation):
        conversation.entries.pop()
    began_at = None if conversation.is_chat else conversation.began_at
    conversation.time_basis = set_times(conversation.entries, began_at, ended_at)
    conversation.turns = divide(conversation.entries)
    latest = conversation.composer.latest_conversation_summary
    add_latest_summary(conversation.turns, conversation.entries, latest, through)
    chain(conversation.turns)


def _entry(key: str, kind: int | None, bubble: Bubble, tool: ToolData | None) -> Entry:
    return Entry(
        key,
        _part(kind, bubble, tool),
        bubble.time,
        text(tool.tool_call_id) or None if tool else None,
        tuple(tool.child_ids) if tool else (),
    )


def _part(kind: int | None, bubble: Bubble, tool: ToolData | None) -> Part:
    if kind == USER:
        return Part.QUERY
    says_nothing = tool is None and not is_filled(bubble.text) and not is_filled(bubble.raw_text)
    if says_nothing and _has_summary(bubble):
        return Part.SUMMARY
    is_message = (
        not says_nothing
        or bubble.thought is not None
        or is_filled(bubble.error_details)
        or is_filled(bubble.code_blocks)
        or any(bubble.tokens)
        or bool(bubble.content)
    )
    return Part.ANSWER if is_message else Part.ARTEFACT


def _has_summary(bubble: Bubble) -> bool:
    summary = bubble.summary
    return bool(text(field(summary, "summary")) or text(summary))


def _is_input_box(bubble: Bubble, conversation: Conversation) -> bool:
    """Whether the last bubble is what the user has not sent yet."""
    if bubble.content:
        return False
    attached = (is_filled(field(bubble.context, name)) for name in _ATTACHMENTS)
    return conversation.is_chat or not any(attached)


def inline_bubbles(
    session_id: str, listed: Iterable[Raw], report: Callable[[str, str], None]
) -> Iterator[tuple[str, int | None, Bubble]]:
    """Go through bubbles that stand in one list; one without a name is called by its place."""
    seen: set[str] = set()
    for place, raw in enumerate(listed):
        bubble = read_bubble(raw)
        if bubble is None:
            report("A message is no JSON object.", sample_of(raw) or "")
            continue
        key = bubble.key or f"{session_id}:{place}"
        if key in seen:
            report("A message repeats the id of another, and was left out.", key)
            continue
        seen.add(key)
        if bubble.kind is None:
            report("A message does not say whose it is, and counts as the assistant's.", key)
        yield key, ASSISTANT if bubble.kind is None else None, bubble
