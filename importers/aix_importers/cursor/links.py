"""Which conversation was started by which call of which other one."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from aix_importers.cursor.conversation import Conversation, Entry, Part, Turn
from aix_importers.cursor.records import ORIGIN


@dataclass
class Spawn:
    """How a conversation was started."""

    parent: Conversation
    turn: Turn | None = None
    entry: Entry | None = None


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
                    links.spawns[child_id] = Spawn(parent, entry.turn, entry)
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
