"""Rows of the ledger for the messages, turns and sessions of chats."""

import json
from collections.abc import Iterator, Sequence

from aix.ids import ulid
from aix.importing import Rows, Source, readable
from aix_importers.chat.records import Agent, Conversation, FieldReader
from aix_importers.chat.turns import ORIGIN, Chat, Directory, Placement, Turn, Voice
from aix_importers.common.code_blocks import fenced_blocks
from aix_importers.common.json_text import compact_json, is_text
from aix_importers.common.mentions import parse_mentions
from aix_importers.common.row_writer import Code, Writer, may_be_label
from aix_importers.common.times import UNDATED

_PERSONA = "chat"
"""The persona of a chat that has several agents, or none."""


class ChatRows(Writer):
    """Turns what is known of chats into rows, each of the file that says it."""

    def __init__(self, sources: Sequence[Source], directory: Directory) -> None:
        super().__init__()
        self._sources = sources
        self._directory = directory
        self._agents: dict[str, dict[str, None]] = {}
        self._members: dict[str, list[str]] = {}
        self._texts: dict[str, str] = {}

    def take_if_full(self) -> Iterator[Rows]:
        """Give out all rows when the source of the last one has many."""
        if self.is_full():
            yield from self.take()

    def gather_members(self) -> None:
        """Note who takes part in which chat, once all memberships are known."""
        for key, participant in sorted(self._directory.participants.items()):
            if participant.conversation_id is not None:
                self._members.setdefault(participant.conversation_id, []).append(key)
                if participant.agent_id is not None:
                    self._agents.setdefault(participant.conversation_id, {})[participant.agent_id] = None

    def add_message(
        self, placement: Placement, number: int, place: int, raw: dict[str, object], fields: FieldReader, copy: int
    ) -> None:
        """Add a message; `place` is the number of the first record of its id, which decides where it stands."""
        index, source = placement.index, self._sources[placement.index.sources[number]]
        message_id, voice = ulid("msg", ORIGIN, index.ids[number]), placement.voice(place)
        content = raw.get("content")
        text = content if is_text(content) else None
        self.add(
            source,
            "messages",
            copy,
            id=message_id,
            turn_id=placement.turn_ids[place],
            role=voice.role,
            content=text,
            source=voice.source,
            sequence=0,
            created_at=placement.times[place],
            context_json=_with_mentions(placement.contexts.get(place), text),
            metadata_json=fields.extra_json,
        )
        self.mark(source, "messages", message_id, "created_at", placement.bases.get(place), copy=copy)
        if voice is Voice.UNKNOWN:
            self.mark(source, "messages", message_id, "role", "unknown_author", copy=copy)
            self.mark(source, "messages", message_id, "source", "unknown_author", copy=copy)
        self.add(
            source,
            "message_facts",
            copy,
            message_id=message_id,
            text_chars=None if text is None else len(text),
            position=placement.positions[place],
            is_query=not voice.is_of_agent,
        )
        for idx, block in enumerate(fenced_blocks(text or "") if voice is Voice.AGENT else ()):
            code = Code(block.content, block.language, block.path, block.line_start, block.line_end)
            self.add_code(source, message_id, idx, code, copy=copy)

    def add_chat(self, placement: Placement, chat: Chat) -> None:
        """Add the session of a chat, with its turns."""
        for turn in chat.turns:
            self._add_turn(placement, chat, turn)
        first, last = chat.turns[0].messages[0], chat.turns[-1].messages[-1]
        source, label = self._sources[placement.index.sources[first]], f"{ORIGIN}:{chat.id}"
        known = self._directory.conversations.get(chat.id, Conversation())
        created_at = placement.times[first]
        persona, basis = self._persona(chat.id)
        self.add(
            source,
            "sessions",
            label=label,
            thread_id=chat.turns[-1].id,
            persona_id=persona,
            routing_key=f"conversation:{chat.id}",
            origin=ORIGIN,
            origin_session_id=chat.id,
            created_at=created_at,
            updated_at=max(placement.times[last], known.last_message_at or 0),
        )
        self.mark(source, "sessions", label, "persona_id", basis)
        if placement.bases.get(first) == UNDATED and placement.bases.get(last) == UNDATED:
            self.mark(source, "sessions", label, "created_at", UNDATED)
            self.mark(source, "sessions", label, "updated_at", UNDATED)
        path = readable(source.path)
        self.add(source, "session_context", label=label, title=known.title, raw_path=path)
        if not may_be_label(chat.id):
            self.add(
                source,
                "session_aliases",
                alias=chat.id,
                session_label=label,
                created_at=created_at,
                reason="manual",
            )

    def _add_turn(self, placement: Placement, chat: Chat, turn: Turn) -> None:
        index, first = placement.index, turn.messages[0]
        source = self._sources[index.sources[first]]
        answering, has_triage = self._answering(placement, turn)
        agent_id = answering[-1] if answering else None
        agent = self._directory.agents.get(agent_id or "", Agent())
        principal = next((user for each in turn.messages if (user := self._user(placement, each))), None)
        placement.contexts[first] = self._context(chat.id, placement, turn)
        self.add(
            source,
            "turns",
            id=turn.id,
            parent_turn_id=turn.parent_id,
            started_at=placement.times[first],
            role="manager" if has_triage else "unified",
            toolset_name=None if agent_id is None else f"agent:{agent_id}",
            tools_available=self._tools(answering),
            permissions_granted=self._permissions(chat.id, placement, turn, principal),
            source_event_id=index.ids[first],
        )
        self.mark(source, "turns", turn.id, "started_at", placement.bases.get(first))
        self.add(
            source,
            "threads",
            turn_id=turn.id,
            persona_id=agent_id,
            system_prompt_hash=agent.prompt_hash,
            thread_key=f"{ORIGIN}:{turn.key}",
        )
        self.add(
            source,
            "turn_context",
            turn_id=turn.id,
            origin=ORIGIN,
            origin_session_id=chat.id,
            turn_key=turn.key,
            principal=principal,
        )
        self.add(source, "session_turns", session_label=f"{ORIGIN}:{chat.id}", turn_id=turn.id)

    def _answering(self, placement: Placement, turn: Turn) -> tuple[list[str], bool]:
        """Return the agents that answered, the one that spoke last at the end, and whether triage spoke too."""
        agents: dict[str, None] = {}
        has_triage = False
        for number in turn.messages:
            voice = placement.voice(number)
            has_triage = has_triage or voice is Voice.TRIAGE
            agent = self._directory.agent_of(placement.index.authors[number])
            if voice is Voice.AGENT and agent is not None:
                agents.pop(agent, None)
                agents[agent] = None
        return list(agents), has_triage

    def _user(self, placement: Placement, number: int) -> str | None:
        is_of_person = placement.voice(number) is Voice.PERSON
        return self._directory.user_of(placement.index.authors[number]) if is_of_person else None

    def _tools(self, agents: Sequence[str]) -> str | None:
        lists = [known.tools for each in agents if (known := self._directory.agents.get(each))]
        if all(tools is None for tools in lists):
            return None
        return compact_json(list(dict.fromkeys(tool for tools in lists for tool in tools or ())))

    def _span(self, placement: Placement, turn: Turn) -> tuple[int, int]:
        return placement.times[turn.messages[0]], placement.times[turn.messages[-1]]

    def _context(self, chat_id: str, placement: Placement, turn: Turn) -> str | None:
        """Return who took part in the chat at the time of a turn."""
        span = self._span(placement, turn)
        participants = self._directory.participants
        members = [each for each in self._members.get(chat_id, ()) if participants[each].takes_part(*span)]
        return self._shared(compact_json({"participants": members})) if members else None

    def _shared(self, text: str) -> str:
        return self._texts.setdefault(text, text)

    def _permissions(self, chat_id: str, placement: Placement, turn: Turn, principal: str | None) -> str:
        """Return who may use each agent that took part, which is all that a chat knows about permissions."""
        span = self._span(placement, turn)
        participants = (self._directory.participants[each] for each in self._members.get(chat_id, ()))
        agents = {each.agent_id: None for each in participants if each.agent_id and each.takes_part(*span)}
        policy = [
            {
                "id": agent_id,
                "visibility": agent.visibility,
                "owner": agent.created_by,
                **({"invited": agent.invited_users} if agent.invited_users else {}),
            }
            for agent_id in agents
            if (agent := self._directory.agents.get(agent_id))
        ]
        return compact_json(
            {
                "mode": None,
                "ask": [],
                "deny": [],
                "dirs": [],
                "policy": {"agents": policy} if policy else None,
                "principal": principal and {"id": principal, "type": "human", "on_behalf_of": None},
                "basis": "ontology" if policy else "none",
            }
        )

    def _persona(self, chat_id: str) -> tuple[str, str | None]:
        """Return the only agent of a chat; system agents count where there is no other."""
        agents = list(self._agents.get(chat_id, ()))
        made = [each for each in agents if not self._directory.agents.get(each, Agent()).is_system]
        found = made or agents
        if len(found) == 1:
            return found[0], None
        return _PERSONA, "several_agents" if found else "no_agent"


def _with_mentions(context: str | None, text: str | None) -> str | None:
    """Return a context with the mentions of a message in it."""
    mentions = [{"kind": each.kind, "id": each.target_id, "name": each.name} for each in parse_mentions(text or "")]
    return compact_json({"mentions": mentions, **json.loads(context or "{}")}) if mentions else context
