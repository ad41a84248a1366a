"""Turns of chats: who speaks in a message, in which order messages stand, and where a turn begins.

Messages are kept by number, without their texts, so that memory holds a few hundred bytes for each.
"""

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from math import isnan, nan

from aix.ids import ulid
from aix_importers.chat.records import Agent, Conversation, Message, Participant
from aix_importers.common.times import UNDATED

ORIGIN = "chat"


class Voice(Enum):
    """The kind of author that a message has."""

    PERSON = auto()
    SYSTEM = auto()
    AGENT = auto()
    TRIAGE = auto()
    """The agent that passes messages on to others. It answers nobody, so its message is not the assistant's."""
    UNKNOWN = auto()
    """An author of whom there is no record, taken for a person."""

    @property
    def role(self) -> str:
        """The role of the message."""
        return _ROLES[self][0]

    @property
    def source(self) -> str | None:
        """The source of the message."""
        return _ROLES[self][1]

    @property
    def is_of_agent(self) -> bool:
        """Whether a person's next message begins a turn."""
        return self in (Voice.AGENT, Voice.TRIAGE)


_ROLES = {
    Voice.PERSON: ("user", "human"),
    Voice.SYSTEM: ("system", "event"),
    Voice.AGENT: ("assistant", None),
    Voice.TRIAGE: ("system", "agent"),
    Voice.UNKNOWN: ("user", "human"),
}


@dataclass(slots=True)
class Directory:
    """The people, agents, chats and memberships that the files have records of, by id."""

    users: set[str] = field(default_factory=set)
    agents: dict[str, Agent] = field(default_factory=dict)
    conversations: dict[str, Conversation] = field(default_factory=dict)
    participants: dict[str, Participant] = field(default_factory=dict)

    def agent_of(self, author: str | None) -> str | None:
        """Return the agent that a participant is; None when it is a person, or nobody knows."""
        participant = self.participants.get(author or "")
        return participant.agent_id if participant and participant.kind == "agent" else None

    def user_of(self, author: str | None) -> str | None:
        """Return the user that a participant is."""
        participant = self.participants.get(author or "")
        return participant.user_id if participant and participant.kind != "agent" else None

    def voice_of(self, author: str | None, *, is_system: bool) -> Voice:
        """Return who speaks in a message; triage passes messages on even in those of the system."""
        participant = self.participants.get(author or "")
        agent = self.agents.get(self.agent_of(author) or "")
        if agent is not None and agent.is_triage:
            return Voice.TRIAGE
        if is_system:
            return Voice.SYSTEM
        if participant is None:
            return Voice.UNKNOWN
        return Voice.AGENT if participant.kind == "agent" else Voice.PERSON


class MessageIndex:
    """The messages of all files that are read together, by the number that they have in the order of the files."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.conversations: list[str | None] = []
        self.authors: list[str | None] = []
        self.is_system = bytearray()
        self.times = array("d")
        self.sources = array("I")
        self.first_of: dict[int, int] = {}
        """By the number of a further record of an id: the number of the first."""
        self._number_of: dict[str, int] = {}
        self._texts: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, message: Message, source: int) -> None:
        """Take the next message; a further one of an id adds to what the first says."""
        number = len(self.ids)
        first = self._number_of.setdefault(message.id, number)
        self.ids.append(self.ids[first] if first < number else message.id)
        self.conversations.append(self._shared(message.conversation_id))
        self.authors.append(self._shared(message.author))
        self.is_system.append(message.is_system)
        self.times.append(nan if message.time is None else message.time)
        self.sources.append(source)
        if first < number:
            self.first_of[number] = first
            self._merge(first, number)

    def firsts(self) -> Iterator[int]:
        """Go through the numbers of the messages, each id once."""
        return (number for number in range(len(self.ids)) if number not in self.first_of)

    def _merge(self, one: int, other: int) -> None:
        for texts in (self.conversations, self.authors):
            known = [text for text in (texts[one], texts[other]) if text is not None]
            texts[one] = max(known, key=lambda text: (len(text), text), default=None)
        self.is_system[one] |= self.is_system[other]
        times = [time for time in (self.times[one], self.times[other]) if not isnan(time)]
        self.times[one] = min(times, default=nan)

    def _shared(self, text: str | None) -> str | None:
        return None if text is None else self._texts.setdefault(text, text)


@dataclass(slots=True)
class Turn:
    """A message with the answers that it led to."""

    id: str
    key: str
    parent_id: str | None
    messages: list[int] = field(default_factory=list)
    is_answered: bool = False
    """Whether an agent spoke in it."""


@dataclass(slots=True)
class Chat:
    """The turns of one conversation, in order."""

    id: str
    turns: list[Turn] = field(default_factory=list)


class Placement:
    """Gives every message its turn, its place and its time."""

    def __init__(self, index: MessageIndex, directory: Directory) -> None:
        self.index = index
        self._directory = directory
        count = len(index)
        self.turn_ids: list[str | None] = [None] * count
        """By number; None for a message of no conversation."""
        self.positions = array("q", bytes(8 * count))
        self.times = array("q", bytes(8 * count))
        self.bases: dict[int, str] = {}
        """By number of a message without a time of its own: how its time was concluded."""
        self.contexts: dict[int, str | None] = {}
        """By number of the first message of a turn: the context that the turn has."""
        self._of_conversation: dict[str, array[int]] = {}
        for number in index.firsts():
            conversation = index.conversations[number] or self._conversation_of_author(number)
            if conversation is not None:
                self._of_conversation.setdefault(conversation, array("q")).append(number)

    def _conversation_of_author(self, number: int) -> str | None:
        participant = self._directory.participants.get(self.index.authors[number] or "")
        return participant.conversation_id if participant else None

    def voice(self, number: int) -> Voice:
        """Return who speaks in a message."""
        return self._directory.voice_of(self.index.authors[number], is_system=bool(self.index.is_system[number]))

    def chats(self) -> Iterator[Chat]:
        """Go through the conversations that have messages, and place these."""
        for conversation, numbers in sorted(self._of_conversation.items()):
            yield self._place(conversation, numbers)

    def _place(self, conversation: str, numbers: Iterable[int]) -> Chat:
        chat = Chat(conversation)
        for position, number in enumerate(self._in_order(conversation, numbers)):
            is_of_agent = self.voice(number).is_of_agent
            turn = chat.turns[-1] if chat.turns else None
            if turn is None or (turn.is_answered and not is_of_agent):
                key = f"a:{self.index.ids[number]}" if is_of_agent else self.index.ids[number]
                turn = Turn(ulid("turn", ORIGIN, key), key, turn.id if turn else None)
                chat.turns.append(turn)
            turn.messages.append(number)
            turn.is_answered = turn.is_answered or is_of_agent
            self.turn_ids[number] = turn.id
            self.positions[number] = position
        return chat

    def _in_order(self, conversation: str, numbers: Iterable[int]) -> list[int]:
        """Sort messages by time; at one time people come before agents.

        A message without a time follows the one before it in its file, or precedes the first that has a time.
        """
        keys: dict[int, tuple[float, int, str, int]] = {}
        before: dict[int, tuple[float, int, str, int]] = {}
        waiting: dict[int, list[int]] = {}
        for number in numbers:
            source, time = self.index.sources[number], self.index.times[number]
            if not isnan(time):
                rank = 1 + self.voice(number).is_of_agent
                keys[number] = before[source] = (time, rank, self.index.ids[number], 0)
                for place, earlier in enumerate(waiting.pop(source, ())):
                    keys[earlier] = (time, 0, "", place)
                    self.bases[earlier] = "neighbour"
            elif source in before:
                *anchor, place = before[source]
                keys[number] = before[source] = (*anchor, place + 1)  # type: ignore[assignment]
                self.bases[number] = "neighbour"
            else:
                waiting.setdefault(source, []).append(number)
        base, basis = self._time_of(conversation)
        for place, number in enumerate(number for source in sorted(waiting) for number in waiting[source]):
            keys[number] = (base, 0, "", place)
            self.bases[number] = basis
        ordered = sorted(keys, key=keys.__getitem__)
        for number in ordered:
            self.times[number] = round(keys[number][0])
        return ordered

    def _time_of(self, conversation: str) -> tuple[int, str]:
        """Return a time for messages of a file that has none, and its basis."""
        known = self._directory.conversations.get(conversation, Conversation())
        if known.last_message_at is not None:
            return known.last_message_at, "last_message_time"
        if known.created_at is not None:
            return known.created_at, "conversation"
        return 0, UNDATED
