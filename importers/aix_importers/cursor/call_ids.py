"""Ids of calls: as the model named them, unless another call has that name."""

from collections.abc import Iterable

from aix_importers.cursor.conversation import ORIGIN, Conversation, Entry


def settle_call_ids(conversations: Iterable[Conversation]) -> dict[Entry, str]:
    """Return the id of every call of conversations that are read together."""
    owners: dict[str, str] = {}
    ids: dict[Entry, str] = {}
    for conversation in sorted(conversations, key=lambda each: each.order):
        for entry in conversation.entries:
            message = entry.message_key or entry.key
            wanted = entry.call_id or f"{ORIGIN}:{message}"
            is_free = owners.setdefault(wanted, message) == message
            ids[entry] = wanted if is_free else f"{ORIGIN}:{message}:{wanted}"
    return ids
