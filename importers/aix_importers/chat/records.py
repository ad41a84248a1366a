"""Records of a chat export, field by field: users, agents, conversations, participants, messages, changes.

A record becomes the row of its table. A field of a wrong type is absent there and stays, as it came, among the fields
that have no column. Credentials are dropped.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TypeVar

from aix_importers.chat.collections import Collection
from aix_importers.common.json_text import compact_json, is_text
from aix_importers.common.secrets import without_secrets, without_tokens
from aix_importers.common.times import read_time

Row = dict[str, object]
_T = TypeVar("_T")

TABLES = {
    Collection.USERS: "chat_users",
    Collection.AGENTS: "chat_agents",
    Collection.CONVERSATIONS: "chat_conversations",
    Collection.PARTICIPANTS: "chat_participants",
    Collection.AGENT_CHANGES: "chat_agent_changes",
}
"""By collection, the table of its records; messages are in the tables that all origins share."""
_IDS = ("_id", "id")
_CREATION_TIMES = ("_creationTime", "createdAt")
_AUTHORS = ("authorParticipantId", "author")
_PLAIN = frozenset({*_IDS, *_AUTHORS, "conversationId", "userId", "agentId", "createdBy", "kind"})
"""Fields whose texts are kept whatever they look like: ids, and words for kinds."""
_PROSE = frozenset({"name", "title", "description", "personality", "prompt"})
"""Fields whose texts are kept without the credentials that stand in them."""
_CHANGE_TIMES = ("updatedAt", "modifiedAt")
_FRACTION = re.compile(r"[.,][0-9]{3}([0-9]{1,6})")
"""The digits behind the milliseconds of an ISO 8601 time."""
_BELOW_HALF = 0.499
"""Fractions of texts are scaled to less than a half: they decide the order, and rounding gives the time as it is read
elsewhere, where a text is cut at its milliseconds."""
_MESSAGE_TIMES = ("_creationTime", "createdAt", "timestamp", "sentAt", "time")


class FieldReader:
    """Reads the fields of one record, and remembers which cannot be used."""

    def __init__(self, raw: Mapping[str, object]) -> None:
        self.is_too_deep = False
        """Whether fields that hold others were left out, because they are nested too deeply."""
        try:
            screened = _screened(raw)
        except RecursionError:
            raw = _shallow(raw)
            screened = _screened(raw)
            self.is_too_deep = True
        self.rest = {name: screened[name] for name, value in raw.items() if name in screened and value is not None}
        self.dropped = [name for name, value in raw.items() if name not in screened or screened[name] != value]
        """Names of the fields that hold, or held, something that looks like a credential."""
        self.wrong: list[str] = []
        self.id = self.text(*_IDS)

    @property
    def extra_json(self) -> str | None:
        """The fields that were not read, as JSON."""
        return compact_json(self.rest) if self.rest else None

    def text(self, *names: str) -> str | None:
        """Take a text that is not empty."""
        return self._take(names, lambda value: value if is_text(value) and value else None)

    def time(self, *names: str) -> int | None:
        """Take a time, in Unix ms."""
        return self._take(names, read_time)

    def updated_at(self) -> int | None:
        """Take the time of the last change."""
        return self.time(*_CHANGE_TIMES)

    def flag(self, *names: str) -> bool | None:
        """Take a truth value."""
        return self._take(names, lambda value: value if isinstance(value, bool) else None)

    def word(self, name: str, *words: str) -> str | None:
        """Take a text that is one of some words."""
        return self._take((name,), lambda value: value if is_text(value) and value in words else None)

    def texts(self, *names: str) -> list[str] | None:
        """Take a list of texts, or of objects with a name or id; such objects say more, so they stay as they came."""
        listed = {name: value for name, value in self.rest.items() if name in names and _holds_objects(value)}
        found = self._take(names, _texts)
        self.rest |= listed
        return found

    def _take(self, names: tuple[str, ...], read: Callable[[object], _T | None]) -> _T | None:
        for name in names:
            if self.rest.get(name) == "":
                del self.rest[name]
            elif name in self.rest:
                found = read(self.rest[name])
                if found is None:
                    self.wrong.append(name)
                    continue
                del self.rest[name]
                return found
        return None


def _screened(raw: Mapping[str, object]) -> dict[str, object]:
    texts = {name: value for name, value in raw.items() if is_text(value)}
    plain = {name: value for name, value in texts.items() if name in _PLAIN}
    prose = {name: without_tokens(value) for name, value in texts.items() if name in _PROSE}
    others = {name: value for name, value in raw.items() if name not in plain and name not in prose}
    return {**plain, **prose, **without_secrets(others)}


def _shallow(raw: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in raw.items() if not isinstance(value, dict | list)}


def _holds_objects(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(each, dict) for each in value)


def _texts(value: object) -> list[str] | None:
    if not isinstance(value, list):
        return None
    found = [_name(each) for each in value]
    names = [name for name in found if name is not None]
    return list(dict.fromkeys(names)) if len(names) == len(found) else None


def _name(value: object) -> str | None:
    if isinstance(value, dict):
        named = value["function"] if isinstance(value.get("function"), dict) else value
        value = next((named[name] for name in ("name", "_id", "id") if is_text(named.get(name))), None)
    return value if is_text(value) and value else None


def array_json(values: list[str] | None) -> str | None:
    """Write a list as a column holds it."""
    return None if values is None else compact_json(values)


@dataclass(slots=True)
class Agent:
    """An agent, as far as turns depend on it."""

    name: str | None = None
    created_by: str | None = None
    system_agent_kind: str | None = None
    kind: str | None = None
    prompt: str | None = None
    tools: list[str] | None = None
    is_public: bool | None = None
    is_private: bool | None = None
    invited_users: list[str] | None = None
    updated_at: int = 0
    """When this was last changed, or else when its file was written."""

    @property
    def is_triage(self) -> bool:
        """Whether it is the system agent that routes messages to others."""
        return (self.system_agent_kind or "").lower() == "triage"

    @property
    def is_system(self) -> bool:
        """Whether the chat's system made it."""
        return self.kind == "system_agent" or self.system_agent_kind is not None

    @property
    def prompt_hash(self) -> str | None:
        """SHA-256 of how it was told to behave."""
        return None if self.prompt is None else sha256(self.prompt.encode()).hexdigest()

    @property
    def visibility(self) -> str:
        """The people who may use it: an agent is public unless it is marked as private or not public."""
        if self.is_private and self.is_public:
            return "public and private"
        is_not_public = self.is_public is False and self.is_private is None
        return "private" if self.is_private or is_not_public else "public"


@dataclass(slots=True)
class Conversation:
    """A chat, as far as its session depends on it."""

    title: str | None = None
    created_at: int | None = None
    last_message_at: int | None = None
    updated_at: int = 0
    """When this was last changed, or else when its file was written."""


@dataclass(slots=True)
class Participant:
    """A membership in a chat, as far as turns depend on it."""

    conversation_id: str | None = None
    kind: str | None = None
    user_id: str | None = None
    agent_id: str | None = None
    added_at: int | None = None
    is_removed: bool | None = None
    removed_at: int | None = None
    updated_at: int = 0
    """When this was last changed, or else when its file was written."""

    def takes_part(self, start: int, end: int) -> bool:
        """Whether it was a member at some time of a span; one whose end nobody knows is taken for a member."""
        return (self.added_at is None or self.added_at <= end) and (self.removed_at is None or self.removed_at >= start)


_E = TypeVar("_E", Agent, Conversation, Participant)
_LEAST = frozenset({"added_at", "created_at"})
_GREATEST = frozenset({"conversation_id", "user_id", "agent_id", "last_message_at", "updated_at"})


def merged(one: _E | None, other: _E) -> _E:
    """Return what two records of one id say together, as the ledger joins their rows: the newer one counts."""
    if one is None:
        return other
    newest = max(one.updated_at, other.updated_at)
    both = replace(other)
    for name in other.__slots__:
        is_lasting = name in _LEAST or name in _GREATEST
        values = [getattr(each, name) for each in (one, other) if is_lasting or each.updated_at == newest]
        known = sorted((value for value in values if value is not None), key=_rank)
        setattr(both, name, known[0 if name in _LEAST else -1] if known else None)
    return both


def _rank(value: object) -> tuple[object, ...]:
    if isinstance(value, list):
        value = compact_json(value)
    return (len(value), value) if isinstance(value, str) else (value,)


@dataclass(slots=True)
class Message:
    """A message, as far as its place depends on it."""

    id: str
    conversation_id: str | None
    author: str | None
    is_system: bool
    time: float | None
    """In Unix ms; fractions decide the order."""


def read_user(fields: FieldReader) -> Row:
    """Return the row of a user, but for its id and the fields without a column."""
    return {"name": fields.text("name"), "email": fields.text("email"), "image": fields.text("image")}


def read_agent(fields: FieldReader, updated_at: int) -> tuple[Row, Agent]:
    """Return the row of an agent, and what turns need of it."""
    prompt = fields.rest.get("prompt")
    agent = Agent(
        name=fields.text("name"),
        created_by=fields.text("createdBy"),
        system_agent_kind=fields.text("systemAgentKind"),
        kind=fields.word("kind", "user_agent", "system_agent"),
        tools=fields.texts("tools"),
        is_public=fields.flag("public", "isPublic"),
        is_private=fields.flag("private", "isPrivate"),
        invited_users=fields.texts("invitedUsers", "invitedUserIds"),
        updated_at=updated_at,
    )
    personality = fields.text("personality")
    agent.prompt = personality or (prompt if is_text(prompt) else None)
    row: Row = {
        "name": agent.name,
        "description": fields.text("description"),
        "personality": personality,
        "tools": array_json(agent.tools),
        "created_by": agent.created_by,
        "kind": agent.kind,
        "system_agent_kind": agent.system_agent_kind,
        "avatar_url": fields.text("avatarUrl"),
        "last_active_at": fields.time("lastActiveTime"),
        "is_public": agent.is_public,
        "is_private": agent.is_private,
        "invited_users": array_json(agent.invited_users),
        "is_removal_restricted": fields.flag("isRemovalRestricted", "removalRestricted"),
    }
    return row, agent


def read_conversation(fields: FieldReader, updated_at: int) -> tuple[Row, Conversation]:
    """Return the row of a conversation, and what its session needs of it."""
    times = fields.time(*_CREATION_TIMES), fields.time("lastMessageTime")
    found = Conversation(fields.text("title"), *times, updated_at)
    row: Row = {
        "title": found.title,
        "created_by": fields.text("createdBy"),
        "created_at": found.created_at,
        "last_message_at": found.last_message_at,
    }
    return row, found


def read_participant(fields: FieldReader, updated_at: int) -> tuple[Row, Participant]:
    """Return the row of a participant, and what turns need of it; a kind that is missing follows from the ids."""
    found = Participant(
        conversation_id=fields.text("conversationId"),
        user_id=fields.text("userId"),
        agent_id=fields.text("agentId"),
        kind=fields.word("kind", "user", "agent"),
        added_at=fields.time("addedAt"),
        is_removed=fields.flag("isRemoved"),
        removed_at=fields.time("removedAt"),
        updated_at=updated_at,
    )
    if found.kind is None and found.agent_id is not None:
        found.kind = "agent"
    row: Row = {
        "conversation_id": found.conversation_id,
        "kind": found.kind or "user",
        "user_id": found.user_id,
        "agent_id": found.agent_id,
        "added_at": found.added_at,
        "added_by": fields.text("addedBy"),
        "status": fields.text("status"),
        "is_removed": found.is_removed,
        "removed_at": found.removed_at,
        "removed_by": fields.text("removedBy"),
    }
    return row, found


def read_change(fields: FieldReader) -> Row:
    """Return the row of a change of an agent."""
    return {
        "agent_id": fields.text("agentId"),
        "action": fields.text("action"),
        "changed_by": fields.text("changedBy"),
        "changed_at": fields.time("changedAt", *_CREATION_TIMES),
    }


def read_message(raw: Mapping[str, object]) -> Message:
    """Return the message of a record; where that has no id, one is made of its content."""
    meta = raw.get("meta")
    times = [fields.get(name) for fields in (raw, meta) if isinstance(fields, dict) for name in _MESSAGE_TIMES]
    return Message(
        id=_text(raw, *_IDS) or f"made:{digest_of(raw)}",
        conversation_id=_text(raw, "conversationId"),
        author=_text(raw, *_AUTHORS),
        is_system=raw.get("kind") == "system",
        time=next((exact for each in times if (exact := _exact_time(each)) is not None), None),
    )


def read_metadata(raw: Mapping[str, object]) -> FieldReader:
    """Return what has no column of its own in a message, with the names of the fields that cannot be used."""
    content, author, kind = raw.get("content"), _text(raw, *_AUTHORS), raw.get("kind")
    fields = FieldReader({name: value for name, value in raw.items() if name != "content" or not is_text(value)})
    fields.text("conversationId")
    if fields.id is not None:
        fields.rest["_id"] = fields.id
    wrong = {
        "authorParticipantId": author is None and raw.get("authorParticipantId") is not None,
        "kind": kind is not None and kind not in ("participant", "system"),
        "content": not is_text(content),
    }
    fields.wrong += [name for name, is_wrong in wrong.items() if is_wrong]
    if author is not None and fields.rest.get("authorParticipantId") != author:
        del fields.rest["author"]
        fields.rest["authorParticipantId"] = author
    return fields


def digest_of(raw: Mapping[str, object]) -> str:
    """Return a text that is the same for records that say the same."""
    try:
        text = compact_json(raw)
    except RecursionError:
        text = compact_json(_shallow(raw))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _text(raw: Mapping[str, object], *names: str) -> str | None:
    return next((value for name in names if is_text(value := raw.get(name)) and value), None)


def _exact_time(value: object) -> float | None:
    moment = read_time(value)
    if moment is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    fraction = _FRACTION.search(value) if is_text(value) else None
    return moment + _BELOW_HALF * float(f"0.{fraction[1]}") if fraction else float(moment)
