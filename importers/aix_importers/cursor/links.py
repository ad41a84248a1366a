"""Which conversation was started by which call of which other one."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from aix_importers.cursor.conversation import Conversation, Entry, Turn


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
