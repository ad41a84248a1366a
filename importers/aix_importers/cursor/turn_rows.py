"""Rows of turns, compactions and sessions."""

import hashlib
import re
from decimal import Decimal

from msgspec import Raw

from aix.ids import ulid
from aix.importing import readable
from aix_importers.common.row_writer import Writer
from aix_importers.common.times import UNDATED
from aix_importers.cursor.conversation import Conversation, Turn
from aix_importers.cursor.links import Spawn
from aix_importers.cursor.messages import as_json
from aix_importers.cursor.records import ORIGIN, known_model, provider_of
from aix_importers.cursor.turns import TurnFacts
from aix_importers.cursor.values import field, fields, is_filled, json_of, json_text, number, text

PERSONA = "cursor-default"
_CHARACTERS_PER_TOKEN = 4
_LOOKS_LIKE_A_LABEL = re.compile("[a-z][a-z0-9-]*:")
_TASK_STATUSES = {"completed": "completed", "failed": "failed", "running": "running", "pending": "pending"}
_MOST_CENTS = 10**15
_TITLE_CHARACTERS = 80


class TurnRows:
    """Makes rows of the turns of one conversation."""

    def __init__(self, writer: Writer, conversation: Conversation, system_prompt: str | None) -> None:
        self._writer = writer
        self._conversation = conversation
        self._source = conversation.source
        self._prompt_hash = (
            hashlib.sha256(system_prompt.encode("utf-8", "replace")).hexdigest() if system_prompt else None
        )

    def add_turn(self, turn: Turn, facts: TurnFacts, *, is_interrupted: bool) -> None:
        """Add a turn, its thread and its circumstances."""
        conversation = self._conversation
        role = "worker" if conversation.is_subagent else "manager" if facts.spawns else "unified"
        granted: dict[str, object] = {}
        if facts.mode or facts.is_agentic is not None:
            granted = {"mode": facts.mode, "is_agentic": facts.is_agentic, "basis": "transcript"}
        self._writer.add(
            self._source,
            "turns",
            id=turn.id,
            parent_turn_id=turn.parent.id if turn.parent else None,
            turn_type="compaction" if turn.is_compaction else "normal",
            started_at=facts.started_at,
            role=role,
            toolset_name=f"{ORIGIN}:{facts.mode}" if facts.mode else None,
            tools_available=json_text(facts.tools) if facts.tools else None,
            permissions_granted=as_json(granted),
            source_event_id=turn.entries[0].key if turn.entries else None,
            workspace_path=conversation.workspace,
        )
        if facts.is_start_inferred:
            self._writer.mark(self._source, "turns", turn.id, "started_at", conversation.time_basis)
        self._writer.add(
            self._source,
            "threads",
            turn_id=turn.id,
            persona_id=PERSONA,
            system_prompt_hash=self._prompt_hash,
            thread_key=f"{ORIGIN}:{turn.key}",
        )
        self._writer.add(
            self._source,
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
            stated_model=None if turn.is_compaction else facts.model,
            stated_provider=None if turn.is_compaction else provider_of(facts.model),
        )

    def add_compaction(
        self,
        turn: Turn,
        summary: Raw,
        model: str | None,
        tokens: tuple[int | None, int | None],
        archives: list[str],
    ) -> None:
        """Add what is known of a compaction; `tokens` are the gauges before and after it."""
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
        written = text(field(summary, "summary")) or text(summary) or ""
        if archives:
            metadata["summary_archives"] = archives
        if model is not None:
            metadata["model_inferred"] = True
            self._writer.mark(self._source, "compactions", turn.id, "model", "model_before")
        if written:
            metadata["summary_tokens_estimated"] = True
            self._writer.mark(self._source, "compactions", turn.id, "summary_tokens", "characters")
        self._writer.add(
            self._source,
            "compactions",
            turn_id=turn.id,
            summary=written,
            summarized_through_turn_id=through.id,
            first_kept_turn_id=kept.id if kept in before and kept is not None else None,
            compaction_type=text(field(summary, "strategy")) or "summary",
            model=model or "unknown",
            provider=provider_of(model),
            tokens_before=tokens[0],
            tokens_after=tokens[1],
            summary_tokens=-(-len(written) // _CHARACTERS_PER_TOKEN) if written else None,
            metadata_json=as_json(metadata),
        )

    def add_session(
        self,
        spawn: Spawn | None,
        spawn_call: tuple[str, str, str | None] | None,
        tokens: tuple[int | None, int | None],
        last_at: int,
        first_prompt: str | None,
    ) -> None:
        """Add the session; `spawn_call` is the id, the status and the task of the call that started it."""
        conversation = self._conversation
        turns = conversation.turns
        created_at = conversation.began_at
        if created_at is None:
            created_at = min(entry.time for entry in conversation.entries)
        updated_at = max(conversation.updated_at or 0, last_at, created_at)
        label = conversation.label
        self._writer.add(
            self._source,
            "sessions",
            label=label,
            thread_id=turns[-1].id,
            persona_id=PERSONA,
            is_subagent=int(conversation.is_subagent),
            parent_session_label=spawn.parent.label if spawn else None,
            parent_turn_id=spawn.turn.id if spawn and spawn.turn and spawn_call else None,
            spawn_tool_call_id=spawn_call[0] if spawn_call else None,
            task_description=spawn_call[2] if spawn_call else None,
            task_status=_TASK_STATUSES.get(spawn_call[1]) if spawn_call else None,
            routing_key=f"ws:{conversation.workspace}" if conversation.workspace else None,
            origin=ORIGIN,
            origin_session_id=conversation.id,
            created_at=created_at,
            updated_at=updated_at,
            status="archived" if conversation.is_archived else "active",
        )
        if conversation.time_basis == UNDATED:
            for column, stated in (("created_at", conversation.began_at), ("updated_at", conversation.updated_at)):
                if stated is None:
                    self._writer.mark(self._source, "sessions", label, column, UNDATED)
        title = conversation.title
        if title is None and first_prompt:
            title = first_prompt.strip().partition("\n")[0][:_TITLE_CHARACTERS] or None
            self._writer.mark(self._source, "session_context", label, "title", "first_prompt")
        self._writer.add(
            self._source,
            "session_context",
            label=label,
            title=title,
            project=conversation.workspace,
            context_tokens_used=tokens[0],
            context_token_limit=tokens[1],
            raw_path=readable(self._source.path),
        )
        if not _LOOKS_LIKE_A_LABEL.match(conversation.id):
            self._writer.add(
                self._source,
                "session_aliases",
                alias=conversation.id,
                session_label=label,
                created_at=created_at,
                reason="manual",
            )
        for turn in turns:
            self._writer.add(self._source, "session_turns", session_label=label, turn_id=turn.id)
        self._add_costs(created_at)

    def _add_costs(self, time: int) -> None:
        """Add what old versions say a whole conversation has cost; it belongs to no turn."""
        for name, raw in fields(self._conversation.composer.usage_data).items():
            cents = number(field(raw, "costInCents"))
            if cents is None or not 0 < cents < _MOST_CENTS:
                continue
            model = known_model(name)
            self._writer.add(
                self._source,
                "requests",
                id=ulid("req", ORIGIN, f"{self._conversation.id}:usage:{name}"),
                session_label=self._conversation.label,
                requested_at=time,
                model=model,
                provider=provider_of(model),
                reported_cost_usd=round(Decimal(str(cents)) / 100, 12),
                kind="side",
            )
