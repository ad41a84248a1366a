"""Conversations that are read together: who started which, and who owns the turns and calls that they share."""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from aix.ids import h63
from aix_importers.cursor.conversation import Conversation, Entry, Part, Turn
from aix_importers.cursor.key_tables import SourceKind, parse_key
from aix_importers.cursor.records import ORIGIN

_PLACES: dict[str, int] = {SourceKind.COMPOSER: 3, SourceKind.INLINE: 2, SourceKind.CHAT: 2, SourceKind.STORE: 1}
"""Where more is known of a conversation: in a database of the editor, then in a store, then in a transcript."""


class Spawn(NamedTuple):
    """How a conversation was started."""

    parent: Conversation
    turn: Turn | None = None


@dataclass
class Links:
    """The links among conversations that are read together."""

    spawns: dict[str, Spawn] = field(default_factory=dict)
    """By the id of the conversation that was started."""
    children: dict[Entry, Conversation] = field(default_factory=dict)
    """By the bubble of the call that started it."""
    calls: dict[str, tuple[str, str, str | None]] = field(default_factory=dict)
    """By the id of the conversation that was started: the call's own id, its status, and the task it gave."""


def link(conversations: Iterable[Conversation]) -> Links:
    """Find which conversation started which; a call that only stands in a replaced attempt shows the parent alone."""
    links = Links()
    sessions = {each.id: each for each in conversations if each.has_messages}
    ordered = sorted(sessions.values(), key=lambda each: each.order)
    for parent in ordered:
        for entry in parent.entries:
            for child_id in entry.child_ids:
                child = sessions.get(child_id)
                if child is not None and child is not parent and child_id not in links.spawns and entry.turn:
                    links.spawns[child_id] = Spawn(parent, entry.turn)
                    links.children[entry] = child
                    break
    for parent in ordered:
        for child_id in sorted(parent.child_ids):
            if child_id in sessions and child_id != parent.id:
                links.spawns.setdefault(child_id, Spawn(parent))
    for child in ordered:
        named = sessions.get(child.parent_id or "")
        if named is not None and named is not child:
            links.spawns.setdefault(child.id, Spawn(named))
    return links


def settle_shared_turns(conversations: Iterable[Conversation]) -> None:
    """Name the turns and messages of conversations that share bubbles, because one was made as a copy of another.

    The one that began first owns what they share. A turn whose bubbles begin like the owner's is the owner's turn;
    where they part inside a turn, the later conversation's turn gets a name of its own.
    """
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
            if is_moved or (
                known is not None and (has_parted or any(one != other for one, other in zip(known, keys, strict=False)))
            ):
                has_parted = True
                turn.key, turn.owner_id = f"{turn.key}@{conversation.id}", conversation.id
                for entry in turn.entries:
                    entry.message_key = f"{entry.key}@{conversation.id}"
                continue
            turn.owner_id = owner_of.setdefault(turn.key, conversation.id)
            if known is None or len(keys) > len(known):
                owned[turn.key] = keys
                turn_of.update(dict.fromkeys(keys, turn.key))


def settle_call_ids(conversations: Iterable[Conversation]) -> dict[Entry, str]:
    """Return the id of every call: as the model named it, unless another call has that name."""
    owners: dict[str, str] = {}
    ids: dict[Entry, str] = {}
    for conversation in sorted(conversations, key=lambda each: each.order):
        for entry in conversation.entries:
            message = entry.message_key or entry.key
            wanted = entry.call_id or f"{ORIGIN}:{message}"
            is_free = owners.setdefault(wanted, message) == message
            ids[entry] = wanted if is_free else f"{ORIGIN}:{message}:{wanted}"
    return ids


def best_of_each(conversations: Iterable[Conversation]) -> list[Conversation]:
    """Return each conversation once, from where most of it is known: the global database before those of workspaces."""
    best: dict[str, Conversation] = {}
    for conversation in conversations:
        other = best.get(conversation.id)
        if other is None or _standing(conversation) > _standing(other):
            best[conversation.id] = conversation
    return list(best.values())


def _standing(conversation: Conversation) -> tuple[bool, int, int, str]:
    path = conversation.source.path
    kind = parse_key(conversation.source.key)[0]
    place = 4 if kind == SourceKind.COMPOSER and "globalStorage" in path else _PLACES.get(kind, 0)
    return conversation.has_messages, place, len(conversation.entries), path


def ties_of(conversation: Conversation) -> "array[int]":
    """Return the numbers of everything that a conversation may share with others."""
    numbers = {h63("session", conversation.id)}
    numbers.update(h63("session", child) for child in conversation.child_ids)
    if conversation.parent_id:
        numbers.add(h63("session", conversation.parent_id))
    for entry in conversation.entries:
        numbers.add(h63("bubble", entry.key))
        if entry.call_id:
            numbers.add(h63("call", entry.call_id))
    return array("Q", sorted(numbers))
