"""Parts that several importers share: reading lines and JSON, times, paths, and advice about problems."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

from aix.importing import Answer, Capabilities

_T = TypeVar("_T")

EVERYTHING = Capabilities(**dict.fromkeys(Capabilities.__struct_fields__, Answer.YES))
"""Logs in which all kinds of data are found."""
_DAMAGED = "restore the file"
_COMPLETE = "nothing: all was read"
_KEPT = "nothing: kept unchanged"
_EMPTY = "nothing: file is empty"
_PARTLY_MISSING = "nothing: log is partial"
PROBLEM_ADVICE = {
    "truncated_line": "import again later",
    **dict.fromkeys(("not_json", "not_an_object", "line_too_long", "too_deep", "invalid_utf8"), _DAMAGED),
    **dict.fromkeys(("damaged", "damaged_log", "damaged_value", "lone_surrogate", "spread_message"), _DAMAGED),
    **dict.fromkeys(("replayed", "copies_differ", "several_values", "bom", "nul_bytes", "duplicate_uuid"), _COMPLETE),
    **dict.fromkeys(("no_uuid", "no_timestamp", "no_session", "no_time", "unknown_parent"), _COMPLETE),
    **dict.fromkeys(("unknown_type", "unknown_field", "unknown_record", "unknown_parts", "wrong_type"), _KEPT),
    **dict.fromkeys(("no_model_activity", "no_messages", "no_message", "empty"), _EMPTY),
    **dict.fromkeys(("held_back", "no_bodies", "missing_bubbles", "missing_blobs", "orphan_bubbles"), _PARTLY_MISSING),
    **dict.fromkeys(("unreadable", "unreadable_bubble", "unreadable_message", "unreadable_state"), _DAMAGED),
    "unreadable_settings": "fix the settings file",
    "unusable_rule": "fix the settings file",
    "unread_form": "convert to JSON lines",
}
"""By kind of problem that an importer notes: what a user can do about it."""
PROBLEM_NOTES = frozenset(
    kind for kind, advice in PROBLEM_ADVICE.items() if advice in (_COMPLETE, _KEPT) and kind != "unknown_record"
)
"""Kinds of problems with records that were read whole; one of no known kind was not."""


def remembered(longest: int) -> Callable[[Callable[[str], _T]], Callable[[str], _T]]:
    """Keep what a function makes of texts: short ones come many times, long ones are asked for a few times in a row."""

    def decorate(read: Callable[[str], _T]) -> Callable[[str], _T]:
        short, long = lru_cache(4096)(read), lru_cache(1)(read)
        return wraps(read)(lambda text: short(text) if len(text) <= longest else long(text))

    return decorate
