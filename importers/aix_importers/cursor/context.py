"""Context that came with a message, and other notes about it, as JSON."""

from collections.abc import Iterable

from msgspec import Raw

from aix_importers.cursor.bubbles import Bubble
from aix_importers.cursor.values import ABSENT, fields, inner, is_filled, json_of, json_text

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
