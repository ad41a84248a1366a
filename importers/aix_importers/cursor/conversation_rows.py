"""All rows of one conversation: its bubbles are read once more, one by one, and written as they come."""

from collections.abc import Iterator, Mapping

from msgspec import Raw

from aix.importing import Problem, Rows
from aix_importers.common.row_writer import Writer
from aix_importers.cursor.agent_state import AgentState, HiddenContext, hidden_context, read_state
from aix_importers.cursor.code import CodeBlockData
from aix_importers.cursor.conversation import Conversation, Entry, Part, Said, Turn
from aix_importers.cursor.key_tables import CONTEXT_PREFIX
from aix_importers.cursor.key_values import KeyValues
from aix_importers.cursor.links import Links
from aix_importers.cursor.message_rows import MessageRows
from aix_importers.cursor.messages import BubbleMessages
from aix_importers.cursor.records import Bubble, known_model
from aix_importers.cursor.tools import tool_names
from aix_importers.cursor.turn_rows import TurnRows
from aix_importers.cursor.turns import TurnFacts
from aix_importers.cursor.values import (
    ABSENT,
    count,
    field,
    fields_if_object,
    flag,
    is_filled,
    items,
    json_value,
    moment,
    text,
)

_MODES = {1: "ask", 2: "agent", 3: "edit", 4: "custom", 5: "plan", 6: "debug"}
_DESCRIPTION_CHARACTERS = 200
_NO_STATE = "~"


class ConversationRows:
    """Writes one conversation."""

    def __init__(
        self,
        conversation: Conversation,
        values: KeyValues | None,
        writer: Writer,
        call_ids: Mapping[Entry, str],
        links: Links,
    ) -> None:
        self._conversation = conversation
        self._values = values
        self._writer = writer
        self._links = links
        self._state = self._read_state()
        self._hidden = hidden_context(self._state) if self._state else HiddenContext()
        code = CodeBlockData(conversation.composer.code_block_data)
        self._bubbles = BubbleMessages(code, self._state, call_ids)
        self._messages = MessageRows(writer, conversation, links.children)
        self._turns = TurnRows(writer, conversation, self._hidden.system_prompt or conversation.system_prompt)
        self._facts: dict[Turn, TurnFacts] = {}
        self._summaries: dict[Turn, Raw] = {}
        self._first_prompt: str | None = None
        entries = conversation.turns[-1].entries if conversation.orphan_error and conversation.turns else []
        self._last_message = entries[-1] if entries else None

    _unreadable_contexts = 0
    _state_flaw: str | None = None

    def _read_state(self) -> AgentState | None:
        raw, values = self._conversation.composer.conversation_state, self._values
        written = text(raw)
        if values is None or not is_filled(raw) or written == _NO_STATE:
            return None
        state = read_state(written, lambda name: values.get(f"agentKv:blob:{name}"))
        if state is None or not state.is_whole:
            self._state_flaw = "The agent's own state is damaged; what can be read of it was read."
        return state

    def run(self) -> Iterator[Rows | Problem]:
        """Go through the rows."""
        conversation = self._conversation
        following = dict(zip(conversation.entries, conversation.entries[1:], strict=False))
        gone = 0
        for turn in conversation.turns:
            position = 0
            for entry in turn.entries:
                found = conversation.read(entry)
                if found is None:  # it was deleted between two looks
                    gone += 1
                    continue
                self._take(turn, entry, found, position, following.get(entry))
                position += 1
                if self._writer.is_full():
                    yield from self._writer.take()
        self._fill_models()
        self._write_turns()
        if self._bubbles.unknown_code:
            reason = f"Left out, since their content is nowhere: {self._bubbles.unknown_code} blocks of code."
            yield Problem(conversation.source, "code_without_content", reason)
        if gone:
            reason = f"Gone while the conversation was read: {gone} messages."
            yield Problem(conversation.source, "missing_bubbles", reason)
        if self._unreadable_contexts:
            reason = f"What was sent with a prompt cannot be read: {self._unreadable_contexts} times."
            yield Problem(conversation.source, "unreadable_context", reason)
        if self._state_flaw:
            yield Problem(conversation.source, "unreadable_state", self._state_flaw)
        if self._hidden.missing:
            reason = f"Gone from the agent's own state: {self._hidden.missing} messages."
            yield Problem(conversation.source, "missing_blobs", reason)
        if self._writer.is_full():
            yield from self._writer.take()

    def _take(self, turn: Turn, entry: Entry, found: Bubble | Said, position: int, following: Entry | None) -> None:
        facts = self._facts.get(turn)
        if facts is None:
            facts = self._facts[turn] = TurnFacts(entry.time, entry.is_time_inferred)
        facts.last_at = max(facts.last_at, entry.time)
        said = self._said(facts, turn, entry, found)
        if entry.part is Part.QUERY and self._first_prompt is None:
            self._first_prompt = said.content or ""
            said.context.update(self._hidden.parts)
        if entry is self._last_message:
            said.metadata["orphan_error"] = self._conversation.orphan_error
        self._messages.add(turn, entry, said, position, following, facts)
        if entry in self._links.children:
            facts.spawns = True
            self._note_spawn(entry, said)

    def _said(self, facts: TurnFacts, turn: Turn, entry: Entry, found: Bubble | Said) -> Said:
        if isinstance(found, Said):
            return found
        if entry.part is Part.SUMMARY:
            self._summaries[turn] = found.summary
        self._note(facts, entry, found)
        request_context = None
        if entry.part is Part.QUERY and self._values is not None:
            request_context = json_value(self._values.get(f"{CONTEXT_PREFIX}{self._conversation.id}:{entry.key}"))
            if request_context is not None and fields_if_object(request_context) is None:
                self._unreadable_contexts += request_context != b"null"
        return self._bubbles.message_of(entry, found, request_context)

    def _note_spawn(self, entry: Entry, said: Said) -> None:
        child = self._links.children[entry]
        for call_id, call in said.calls:
            params = call.params.encode()
            task = text(field(params, "description")) or (text(field(params, "prompt")) or "")[:_DESCRIPTION_CHARACTERS]
            self._links.calls[child.id] = (call_id, call.status, task or None)

    def _note(self, facts: TurnFacts, entry: Entry, bubble: Bubble) -> None:
        """Keep what a bubble says about its turn."""
        if entry.part is Part.QUERY:
            facts.model = known_model(text(field(bubble.model_info, "modelName"))) or facts.model
            mode = count(bubble.unified_mode)
            facts.mode = _MODES.get(mode) if mode is not None else facts.mode
            numbers = [number for item in items(bubble.supported_tools) if (number := count(item)) is not None]
            facts.tools = tool_names(numbers) or facts.tools
            agentic = flag(bubble.is_agentic)
            facts.is_agentic = agentic if agentic is not None else facts.is_agentic
            gauge = count(field(bubble.context_window_status_at_creation, "tokensUsed"))
            facts.gauge = gauge or facts.gauge
        elif entry.part is Part.ANSWER:
            facts.model = known_model(text(bubble.model_type)) or facts.model
            ends = (moment(field(bubble.timing_info, name)) for name in ("clientEndTime", "clientSettleTime"))
            facts.ended_at = max(filter(None, (*ends, facts.ended_at)), default=None)

    def _fill_models(self) -> None:
        composer = self._conversation.composer
        for facts in self._facts.values():
            facts.model = facts.model or composer.model or self._conversation.model or self._hidden.model
            facts.mode = facts.mode or composer.mode or self._conversation.mode

    def _write_turns(self) -> None:
        conversation = self._conversation
        normal = [turn for turn in conversation.turns if not turn.is_compaction]
        last_at = conversation.began_at or 0
        gauges = [self._facts[turn].gauge if turn in self._facts else None for turn in conversation.turns]
        model: str | None = conversation.composer.model
        for place, turn in enumerate(conversation.turns):
            facts = self._facts.get(turn)
            if facts is None:
                facts = TurnFacts(last_at + 1, is_start_inferred=True, last_at=last_at + 1)
            was_stopped = conversation.was_stopped or conversation.composer.was_stopped
            is_stopped = bool(normal) and turn is normal[-1] and was_stopped
            self._turns.add_turn(turn, facts, is_interrupted=is_stopped)
            if turn.is_compaction:
                before = next((gauge for gauge in reversed(gauges[:place]) if gauge), None)
                after = next((gauge for gauge in gauges[place + 1 :] if gauge), None)
                self._turns.add_compaction(turn, self._summary(turn), model, (before, after), self._hidden.archives)
            model = facts.model or model
            last_at = max(last_at, facts.last_at)

    def _summary(self, turn: Turn) -> Raw:
        found = self._summaries.get(turn, turn.summary)
        whole = field(found, "summary")
        is_wrapped = turn.summary is not ABSENT and text(whole) is None
        return whole if is_wrapped else found

    def add_session(self) -> None:
        """Add the session, once it is known from all conversations who started it."""
        conversation = self._conversation
        composer = conversation.composer
        used, limit = conversation.tokens
        used, limit = count(composer.context_tokens_used) or used, count(composer.context_token_limit) or limit
        if self._state is not None:
            used, limit = used or self._state.tokens[0], limit or self._state.tokens[1]
        last_at = max((facts.last_at for facts in self._facts.values()), default=0)
        spawn = self._links.spawns.get(conversation.id)
        self._turns.add_session(
            spawn, self._links.calls.get(conversation.id), (used, limit), last_at, self._first_prompt
        )
