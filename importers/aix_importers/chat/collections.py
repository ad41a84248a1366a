"""Collections of a chat export: their names, and the collection that a record belongs to."""

import os
import re
from collections.abc import Container, Mapping
from enum import StrEnum
from functools import cache


class Collection(StrEnum):
    """A kind of record; the value is its name in an export."""

    USERS = "users"
    AGENTS = "agents"
    CONVERSATIONS = "conversations"
    PARTICIPANTS = "participants"
    MESSAGES = "messages"
    AGENT_CHANGES = "agentchanges"


_NAMES = {
    **{str(each): each for each in Collection},
    "conversationparticipants": Collection.PARTICIPANTS,
    "conversationmessages": Collection.MESSAGES,
}
_NOT_A_LETTER = re.compile(r"[^a-z]")
_SUFFIX = re.compile(r"\.(?:json|jsonl|ndjson)(?:\.gz|\.zst)?\Z", re.IGNORECASE)
_TABLE_FILE = "documents"
"""The name of the file in which an export has a folder for each collection."""

_VISIBILITY = ("public", "private", "isPublic", "isPrivate")
"""Fields that say who may use an agent."""

FIELDS = {
    Collection.USERS: ("name", "email", "image"),
    Collection.AGENTS: ("personality", "systemAgentKind", "tools", "createdBy", "kind", "description", *_VISIBILITY),
    Collection.CONVERSATIONS: ("title", "createdBy", "lastMessageTime"),
    Collection.PARTICIPANTS: ("conversationId",),
    Collection.MESSAGES: ("conversationId", "authorParticipantId"),
    Collection.AGENT_CHANGES: ("agentId",),
}
"""Fields by which a record is known where its collection is named; one is enough."""


def collection_named(name: str) -> Collection | None:
    """Return the collection of that name, in any spelling.

    >>> collection_named("conversation_messages"), collection_named("conversationParticipants"), collection_named("x")
    (<Collection.MESSAGES: 'messages'>, <Collection.PARTICIPANTS: 'participants'>, None)
    """
    return _NAMES.get(_NOT_A_LETTER.sub("", name.lower()))


@cache
def collection_of_file(path: str) -> Collection | None:
    """Return the collection that a file holds, by its name or that of its folder; None when neither is a collection's.

    >>> collection_of_file("/export/users.jsonl"), collection_of_file("/export/messages/documents.jsonl")
    (<Collection.USERS: 'users'>, <Collection.MESSAGES: 'messages'>)
    """
    folder, _, name = path.rpartition(os.sep)
    stem = _SUFFIX.sub("", name)
    return collection_named(folder.rpartition(os.sep)[2] if stem.lower() == _TABLE_FILE else stem)


def collection_of_record(record: Mapping[str, object], named: Collection | None) -> Collection | None:
    """Return the collection of a record: by fields that only one has, else by the name, else by what fields remain.

    >>> collection_of_record({"_id": "m1", "conversationId": "c1", "content": "Hi"}, None)
    <Collection.MESSAGES: 'messages'>
    """
    return _by_own_fields(record, record.get("kind")) or named or _by_common_fields(record)


def _by_own_fields(record: Container[str], kind: object) -> Collection | None:
    if "authorParticipantId" in record:
        return Collection.MESSAGES
    if "conversationId" in record:
        if "content" in record or "author" in record or kind in ("participant", "system"):
            return Collection.MESSAGES
        if any(name in record for name in ("userId", "agentId", "addedAt", "isRemoved")):
            return Collection.PARTICIPANTS
        return None
    if "agentId" in record and any(name in record for name in ("action", "changedBy", "changedAt")):
        return Collection.AGENT_CHANGES
    if "personality" in record or "systemAgentKind" in record or kind in ("user_agent", "system_agent"):
        return Collection.AGENTS
    return Collection.CONVERSATIONS if "lastMessageTime" in record else None


def _by_common_fields(record: Container[str]) -> Collection | None:
    if "conversationId" in record:
        return Collection.PARTICIPANTS
    if "content" in record:
        return Collection.MESSAGES
    if "title" in record or ("createdBy" in record and "name" not in record):
        return Collection.CONVERSATIONS
    if any(name in record for name in ("tools", "avatarUrl", "lastActiveTime", "createdBy")):
        return Collection.AGENTS
    if "name" in record and any(name in record for name in _VISIBILITY):
        return Collection.AGENTS
    return Collection.USERS if any(name in record for name in FIELDS[Collection.USERS]) else None
