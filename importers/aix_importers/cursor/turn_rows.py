"""All rows of one conversation: its bubbles are read once more, one by one, and written as they come.

Rows of messages are written by `message_rows.py`; those of turns, compactions and the session follow from what the
messages show.
"""

import hashlib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import partial

from msgspec import Raw

from aix.ids import ulid
from aix.importing import Problem, Rows, readable
from aix_importers.common.row_writer import Writer, may_be_label
from aix_importers.common.times import UNDATED
from aix_importers.cursor.agent_state import AgentState, HiddenContext, hidden_context, read_state
from aix_importers.cursor.conversation import Conversation, Entry, Part, Said, Turn
from aix_importers.cursor.key_tables import CONTEXT_PREFIX
from aix_importers.cursor.key_values import KeyValues
from aix_importers.cursor.links import Links
from aix_importers.cursor.message_rows import MessageRows
from aix_importers.cursor.messages import BubbleMessages
from aix_importers.cursor.records import ORIGIN, Bubble, known_model, provider_of
from aix_importers.cursor.tools import tool_names
from aix_importers.cursor.turns import TurnFacts
from aix_importers.cursor.values import (
    ABSENT,
    as_json,
    count,
    field,
    fields,
    fields_if_object,
    flag,
    is_filled,
    items,
    json_of,
    json_text,
    json_value,
    moment,
    number,
    text,
)

_MODES = {1: "ask", 2: "agent", 3: "edit", 4: "custom", 5: "plan", 6: "debug"}
_DESCRIPTION_CHARACTERS = 200
_NO_STATE = "~"
_PERSONA = "cursor-default"
_CHARACTERS_PER_TOKEN = 4
_TASK_STATUSES = ("completed", "failed", "running", "pending")
_MOST_CENTS = 10**15
_TITLE_CHARACTERS = 80


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
        self._add = partial(writer.add, conversation.source)
        self._mark = partial(writer.mark, conversation.source)
        self._links = links
        self._state_flaw: str | None = None
        self._state = self._read_state()
        self._hidden = hidden_context(self._state) if self._state else HiddenContext()
        self._bubbles = BubbleMessages(conversation.composer.code_block_data, self._state, call_ids)
        self._messages = MessageRows(writer, conversation, links.children)
        self._facts: dict[Turn, TurnFacts] = {}
        self._summaries: dict[Turn, Raw] = {}
        self._first_prompt: str | None = None
        self._unreadable_contexts = 0
        prompt = self._hidden.system_prompt or conversation.system_prompt
        self._prompt_hash = hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest() if prompt else None
        entries = conversation.turns[-1].entries if conversation.orphan_error and conversation.turns else []
        self._last_message = entries[-1] if entries else None

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
        """Go through the rows, and the problems that show only now."""
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
        self._add_turns()
        unknown_code, contexts, blobs = self._bubbles.unknown_code, self._unreadable_contexts, self._hidden.missing
        for kind, number_of_them, reason in (
            ("code_without_content", unknown_code, "Left out, since their content is nowhere: {} blocks of code."),
            ("missing_bubbles", gone, "Gone while the conversation was read: {} messages."),
            ("unreadable_context", contexts, "What was sent with a prompt cannot be read: {} times."),
            ("unreadable_state", self._state_flaw, "{}"),
            ("missing_blobs", blobs, "Gone from the agent's own state: {} messages."),
        ):
            if number_of_them:
                yield Problem(conversation.source, kind, reason.format(number_of_them))
        if self._writer.is_full():
            yield from self._writer.take()

    def _take(self, turn: Turn, entry: Entry, found: Bubble | Said, position: int, following: Entry | None) -> None:
        facts = self._facts.get(turn)
        if facts is None:
            facts = self._facts[turn] = TurnFacts(entry.time, entry.is_time_inferred)
        facts.last_at = max(facts.last_at, entry.time)
        said = found if isinstance(found, Said) else self._said(facts, turn, entry, found)
        if entry.part is Part.QUERY and self._first_prompt is None:
            self._first_prompt = said.content or ""
            hidden = {"system_prompt": self._hidden.system_prompt, "injected": self._hidden.injected}
            said.context.update((name, value) for name, value in hidden.items() if value)
        if entry is self._last_message:
            said.metadata["orphan_error"] = self._conversation.orphan_error
        self._messages.add(turn, entry, said, position, following, facts)
        child = self._links.children.get(entry)
        if child is not None:
            facts.spawns = True
            for call_id, call in said.calls:
                params = call.params.encode()
                prompt = (text(field(params, "prompt")) or "")[:_DESCRIPTION_CHARACTERS]
                task = text(field(params, "description")) or prompt
                self._links.calls[child.id] = (call_id, call.status, task or None)

    def _said(self, facts: TurnFacts, turn: Turn, entry: Entry, bubble: Bubble) -> Said:
        if entry.part is Part.SUMMARY:
            self._summaries[turn] = bubble.summary
        _note(facts, entry, bubble)
        request_context = None
        if entry.part is Part.QUERY and self._values is not None:
            request_context = json_value(self._values.get(f"{CONTEXT_PREFIX}{self._conversation.id}:{entry.key}"))
            if request_context is not None and fields_if_object(request_context) is None:
                self._unreadable_contexts += request_context != b"null"
        return self._bubbles.message_of(entry, bubble, request_context)

    def _add_turns(self) -> None:
        conversation, composer = self._conversation, self._conversation.composer
        for facts in self._facts.values():
            facts.model = facts.model or composer.model or conversation.model or self._hidden.model
            facts.mode = facts.mode or composer.mode or conversation.mode
        was_stopped = conversation.was_stopped or composer.was_stopped
        normal = [turn for turn in conversation.turns if not turn.is_compaction]
        stopped = normal[-1] if normal and was_stopped else None
        last_at = conversation.began_at or 0
        gauges = [self._facts[turn].gauge if turn in self._facts else None for turn in conversation.turns]
        model: str | None = composer.model
        for place, turn in enumerate(conversation.turns):
            turn_facts = self._facts.get(turn) or TurnFacts(last_at + 1, is_start_inferred=True, last_at=last_at + 1)
            self._add_turn(turn, turn_facts, is_interrupted=turn is stopped)
            if turn.is_compaction:
                before = next((gauge for gauge in reversed(gauges[:place]) if gauge), None)
                after = next((gauge for gauge in gauges[place + 1 :] if gauge), None)
                self._add_compaction(turn, model, before, after)
            model = turn_facts.model or model
            last_at = max(last_at, turn_facts.last_at)

    def _add_turn(self, turn: Turn, facts: TurnFacts, *, is_interrupted: bool) -> None:
        """Add a turn, its thread and its circumstances."""
        conversation = self._conversation
        granted: dict[str, object] = {}
        if facts.mode or facts.is_agentic is not None:
            granted = {"mode": facts.mode, "is_agentic": facts.is_agentic, "basis": "transcript"}
        self._add(
            "turns",
            id=turn.id,
            parent_turn_id=turn.parent.id if turn.parent else None,
            turn_type="compaction" if turn.is_compaction else "normal",
            started_at=facts.started_at,
            role="worker" if conversation.is_subagent else "manager" if facts.spawns else "unified",
            toolset_name=f"{ORIGIN}:{facts.mode}" if facts.mode else None,
            tools_available=json_text(facts.tools) if facts.tools else None,
            permissions_granted=as_json(granted),
            source_event_id=turn.entries[0].key if turn.entries else None,
            workspace_path=conversation.workspace,
        )
        if facts.is_start_inferred:
            self._mark("turns", turn.id, "started_at", conversation.time_basis)
        self._add(
            "threads",
            turn_id=turn.id,
            persona_id=_PERSONA,
            system_prompt_hash=self._prompt_hash,
            thread_key=f"{ORIGIN}:{turn.key}",
        )
        model = None if turn.is_compaction else facts.model
        self._add(
            "turn_context",
            turn_id=turn.id,
            origin=ORIGIN,
            origin_session_id=turn.owner_id or conversation.id,
            turn_key=turn.key,
            continues_turn_id=turn.continues.id if turn.continues else None,
            is_interrupted=is_interrupted or None,
            git_branch=text(conversation.composer.created_on_branch) or None,
            context_gauge_tokens=facts.gauge,
            ended_at=facts.ended_at,
            stated_model=model,
            stated_provider=provider_of(model),
        )

    def _add_compaction(self, turn: Turn, model: str | None, gauge_before: int | None, gauge_after: int | None) -> None:
        """Add what is known of a compaction."""
        summary = self._summaries.get(turn, turn.summary)
        whole = field(summary, "summary")
        if turn.summary is not ABSENT and text(whole) is None:
            summary = whole
        turns = self._conversation.turns
        before = turns[: turns.index(turn)]
        turn_of = {entry.key: entry.turn for entry in self._conversation.entries}
        through = turn_of.get(text(field(summary, "truncationLastBubbleIdInclusive")) or "")
        kept = turn_of.get(text(field(summary, "clientShouldStartSendingFromInclusiveBubbleId")) or "")
        metadata: dict[str, object] = {
            name: Raw(written.encode())
            for name, raw in fields(summary).items()
            if name != "summary" and is_filled(raw) and (written := json_of(raw))
        }
        if through is None or through not in before:
            through = turn.parent or turn
            metadata["unresolved"] = True
        content = text(field(summary, "summary")) or text(summary) or ""
        if self._hidden.archives:
            metadata["summary_archives"] = self._hidden.archives
        if model is not None:
            metadata["model_inferred"] = True
            self._mark("compactions", turn.id, "model", "model_before")
        if content:
            metadata["summary_tokens_estimated"] = True
            self._mark("compactions", turn.id, "summary_tokens", "characters")
        self._add(
            "compactions",
            turn_id=turn.id,
            summary=content,
            summarized_through_turn_id=through.id,
            first_kept_turn_id=kept.id if kept in before and kept is not None else None,
            compaction_type=text(field(summary, "strategy")) or "summary",
            model=model or "unknown",
            provider=provider_of(model),
            tokens_before=gauge_before,
            tokens_after=gauge_after,
            summary_tokens=-(-len(content) // _CHARACTERS_PER_TOKEN) if content else None,
            metadata_json=as_json(metadata),
        )

    def add_session(self) -> None:
        """Add the session, once it is known from all conversations who started it."""
        conversation = self._conversation
        label, turns = conversation.label, conversation.turns
        spawn = self._links.spawns.get(conversation.id)
        call_id, status, task = self._links.calls.get(conversation.id, (None, "", None))
        created_at = conversation.began_at
        if created_at is None:
            created_at = min(entry.time for entry in conversation.entries)
        last_at = max((facts.last_at for facts in self._facts.values()), default=0)
        self._add(
            "sessions",
            label=label,
            thread_id=turns[-1].id,
            persona_id=_PERSONA,
            is_subagent=int(conversation.is_subagent),
            parent_session_label=spawn.parent.label if spawn else None,
            parent_turn_id=spawn.turn.id if spawn and spawn.turn and call_id is not None else None,
            spawn_tool_call_id=call_id,
            task_description=task,
            task_status=status if status in _TASK_STATUSES else None,
            routing_key=f"ws:{conversation.workspace}" if conversation.workspace else None,
            origin=ORIGIN,
            origin_session_id=conversation.id,
            created_at=created_at,
            updated_at=max(conversation.updated_at or 0, last_at, created_at),
            status="archived" if conversation.is_archived else "active",
        )
        if conversation.time_basis == UNDATED:
            for column, stated in (("created_at", conversation.began_at), ("updated_at", conversation.updated_at)):
                if stated is None:
                    self._mark("sessions", label, column, UNDATED)
        title = conversation.title
        if title is None and self._first_prompt:
            title = self._first_prompt.strip().partition("\n")[0][:_TITLE_CHARACTERS] or None
            self._mark("session_context", label, "title", "first_prompt")
        composer, state = conversation.composer, self._state
        of_composer = count(composer.context_tokens_used), count(composer.context_token_limit)
        of_state = state.tokens if state else (None, None)
        used, limit = (a or b or c for a, b, c in zip(of_composer, conversation.tokens, of_state, strict=True))
        self._add(
            "session_context",
            label=label,
            title=title,
            project=conversation.workspace,
            context_tokens_used=used,
            context_token_limit=limit,
            raw_path=readable(conversation.source.path),
        )
        if not may_be_label(conversation.id):
            self._add(
                "session_aliases", alias=conversation.id, session_label=label, created_at=created_at, reason="manual"
            )
        for turn in turns:
            self._add("session_turns", session_label=label, turn_id=turn.id)
        self._add_costs(created_at)

    def _add_costs(self, time: int) -> None:
        """Add what old versions say a whole conversation has cost; it belongs to no turn."""
        for name, raw in fields(self._conversation.composer.usage_data).items():
            cents = number(field(raw, "costInCents"))
            if cents is None or not 0 < cents < _MOST_CENTS:
                continue
            model = known_model(name)
            self._add(
                "requests",
                id=ulid("req", ORIGIN, f"{self._conversation.id}:usage:{name}"),
                session_label=self._conversation.label,
                requested_at=time,
                model=model,
                provider=provider_of(model),
                reported_cost_usd=round(Decimal(str(cents)) / 100, 12),
                kind="side",
            )


def _note(facts: TurnFacts, entry: Entry, bubble: Bubble) -> None:
    """Keep what a bubble says about its turn."""
    if entry.part is Part.QUERY:
        facts.model = known_model(text(field(bubble.model_info, "modelName"))) or facts.model
        mode = count(bubble.unified_mode)
        facts.mode = _MODES.get(mode) if mode is not None else facts.mode
        numbers = [each for item in items(bubble.supported_tools) if (each := count(item)) is not None]
        facts.tools = tool_names(numbers) or facts.tools
        agentic = flag(bubble.is_agentic)
        facts.is_agentic = agentic if agentic is not None else facts.is_agentic
        facts.gauge = count(field(bubble.context_window_status_at_creation, "tokensUsed")) or facts.gauge
    elif entry.part is Part.ANSWER:
        facts.model = known_model(text(bubble.model_type)) or facts.model
        ends = (moment(field(bubble.timing_info, name)) for name in ("clientEndTime", "clientSettleTime"))
        facts.ended_at = max(filter(None, (*ends, facts.ended_at)), default=None)
