"""Conversations that share bubbles, because one was made as a copy of another.

The one that began first owns what they share. A turn whose bubbles begin like the owner's is the owner's turn; where
they part inside a turn, the later conversation's turn gets a name of its own.
"""

from collections.abc import Iterable

from aix_importers.cursor.conversation import Conversation, Entry, Part, Turn


def settle_shared_turns(conversations: Iterable[Conversation]) -> None:
    """Name the turns and messages of conversations that are read together."""
    owned: dict[str, list[str]] = {}
    owner_of: dict[str, str] = {}
    turn_of: dict[str, str] = {}
    listed = sorted(conversations, key=lambda each: each.order)
    # What only one of them has lost does not tell them apart.
    lost = {key for conversation in listed for key in conversation.missing}
    for conversation in listed:
        has_parted = False
        for turn in conversation.turns:
            keys = [entry.key for entry in turn.entries if entry.part is not Part.ARTEFACT and entry.key not in lost]
            known = owned.get(turn.key)
            is_moved = any(turn_of.get(key, turn.key) != turn.key for key in keys)
            if is_moved or (known is not None and (has_parted or not _begin_alike(known, keys))):
                has_parted = True
                _rename(turn, turn.entries, conversation.id)
                turn.owner_id = conversation.id
                continue
            turn.owner_id = owner_of.setdefault(turn.key, conversation.id)
            if known is None or len(keys) > len(known):
                owned[turn.key] = keys
                turn_of.update(dict.fromkeys(keys, turn.key))


def _begin_alike(one: list[str], other: list[str]) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def _rename(turn: Turn, entries: Iterable[Entry], session_id: str) -> None:
    turn.key = f"{turn.key}@{session_id}"
    for entry in entries:
        entry.message_key = f"{entry.key}@{session_id}"
