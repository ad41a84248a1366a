"""Rows of turns, compactions and sessions."""

from collections.abc import Iterable, Mapping

from msgspec import Raw, Struct

from aix.importing import readable
from aix_importers.claude_code.copies import Copies
from aix_importers.claude_code.extra_json import json_text
from aix_importers.claude_code.facts import CompactionFacts, ThreadFacts, TurnFacts
from aix_importers.claude_code.message_rows import source_of
from aix_importers.claude_code.records import NOTHING, as_count, decode_object
from aix_importers.claude_code.sessions import Session
from aix_importers.claude_code.threads import SpawnLinks
from aix_importers.claude_code.turns import ORIGIN, Placement, Thread, Turn
from aix_importers.claude_code.usage import Request, provider_of
from aix_importers.common.row_writer import Writer
from aix_importers.common.times import UNDATED

_PERSONA = "claude-code-default"
_CHARACTERS_PER_TOKEN = 4
_TRIGGERS = {"auto": "context_limit", "manual": "manual"}


class CompactMetadata(Struct, gc=False, rename="camel"):
    """Facts that the log notes about a compaction."""

    trigger: str | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None
    duration_ms: float | None = None
    preserved_segment: Raw = NOTHING
    preserved_messages: Raw = NOTHING


class _Preserved(Struct, gc=False, rename="camel"):
    head_uuid: str | None = None
    uuids: list[str] = []


class TurnRows:
    """Makes rows of turns once all their records have been told."""

    def __init__(
        self,
        writer: Writer,
        placement: Placement,
        copies: Copies,
        links: SpawnLinks,
        summarisers: Mapping[Turn, Request],
    ) -> None:
        self._writer = writer
        self._copies = copies
        self._placement = placement
        self._links = links
        self._summarisers = summarisers
        self._spawning_turns = {turn for call in links.label_of if (turn := placement.turn_of_call(call)) is not None}

    def add_turn(self, turn: Turn, facts: TurnFacts) -> None:
        """Add a turn, its thread and its circumstances."""
        source = source_of(turn)
        turn_id, thread = turn.id, turn.thread
        agent_type = self._links.agent_types.get(thread.label)
        toolset = f"claude-code/agent:{agent_type}" if thread.is_subagent and agent_type else "claude-code"
        role = "worker" if thread.is_subagent else "manager" if turn in self._spawning_turns else "unified"
        granted: dict[str, object] = {}
        if facts.mode is not None:
            granted["mode"] = facts.mode
        if facts.allowed_tools:
            granted["allowed_by_command"] = [*facts.allowed_tools]
        if granted:
            granted["basis"] = "transcript"
        self._writer.add(
            source,
            "turns",
            id=turn_id,
            parent_turn_id=turn.parent.id if turn.parent else None,
            turn_type="compaction" if turn.is_compaction else "normal",
            started_at=facts.started_at or 0,
            role=role,
            toolset_name=toolset,
            tools_available=json_text(facts.tools_available) if facts.tools_available else None,
            permissions_granted=json_text(granted) if granted else None,
            source_event_id=turn.uuid,
            workspace_path=facts.cwd,
        )
        start_basis = UNDATED if facts.started_at is None else facts.start_basis
        if start_basis:
            self._writer.mark(source, "turns", turn_id, "started_at", start_basis)
        if thread.label in self._links.asked_types or (thread.is_subagent and agent_type is None):
            self._writer.mark(source, "turns", turn_id, "toolset_name", "spawning_call")
        self._writer.add(source, "threads", turn_id=turn_id, persona_id=_PERSONA, thread_key=f"{ORIGIN}:{turn.key}")
        self._writer.add(
            source,
            "turn_context",
            turn_id=turn_id,
            origin=ORIGIN,
            origin_session_id=turn.session_id or thread.session_id,
            turn_key=turn.key,
            continues_turn_id=turn.continues.id if turn.continues else None,
            is_interrupted=turn.is_interrupted or None,
            git_branch=facts.git_branch or None,
            client_version=facts.version,
            effort=facts.effort,
            thinking=facts.thinking,
            ended_at=facts.ended_at,
        )

    def add_compaction(self, facts: CompactionFacts) -> None:
        """Add what is known of a compaction."""
        turn = facts.turn
        source, turn_id = source_of(turn), turn.id
        noted = decode_object(CompactMetadata, facts.metadata or NOTHING) or CompactMetadata()
        kept = self._first_kept(turn, noted)
        through = (kept.parent or turn) if kept else (turn.parent or turn)
        flags: dict[str, object] = {}
        if facts.metadata:
            flags["compactMetadata"] = facts.metadata
        if through is turn:
            flags["unresolved"] = True
        summariser = self._summarisers.get(turn)
        model = summariser.model if summariser else facts.model_before
        if summariser is None and model is not None:
            flags["model_inferred"] = True
            self._writer.mark(source, "compactions", turn_id, "model", "model_before")
        tokens_after, post_tokens = facts.tokens_after, as_count(noted.post_tokens)
        if tokens_after is None and post_tokens is not None:
            tokens_after = post_tokens
            flags["tokens_after_basis"] = "postTokens"
        tokens_before = as_count(noted.pre_tokens)
        if tokens_before is None and through is not turn:
            tokens_before = facts.tokens_before
            if tokens_before is not None:
                flags["tokens_before_basis"] = "last_context"
        summary_tokens = summariser.output_tokens if summariser else None
        if summary_tokens is None and facts.summary:
            summary_tokens = -(-len(facts.summary) // _CHARACTERS_PER_TOKEN)
            flags["summary_tokens_estimated"] = True
            self._writer.mark(source, "compactions", turn_id, "summary_tokens", "characters")
        self._writer.add(
            source,
            "compactions",
            turn_id=turn_id,
            summary=facts.summary or "",
            summarized_through_turn_id=through.id,
            first_kept_turn_id=kept.id if kept else None,
            compaction_type="summary",
            model=model or "unknown",
            provider=provider_of(model),
            tokens_before=tokens_before,
            tokens_after=tokens_after,
            summary_tokens=summary_tokens,
            summarization_input_tokens=summariser.context_tokens if summariser else None,
            summarization_output_tokens=summariser.output_tokens if summariser else None,
            duration_ms=self._duration(facts, noted, flags, turn_id),
            trigger=_TRIGGERS.get(noted.trigger or ""),
            metadata_json=json_text(flags) if flags else None,
        )

    def _duration(
        self, facts: CompactionFacts, noted: CompactMetadata, flags: dict[str, object], turn_id: str
    ) -> int | None:
        if noted.duration_ms is not None:
            return as_count(noted.duration_ms)
        before = self._copies.time_of(facts.logical_parent or "")
        if facts.time is None or before is None or facts.time < before:
            return None
        flags["duration_upper_bound"] = True
        self._writer.mark(source_of(facts.turn), "compactions", turn_id, "duration_ms", "upper_bound")
        return facts.time - before

    def _first_kept(self, compaction: Turn, noted: CompactMetadata) -> Turn | None:
        """Return the turn before a compaction from which on everything was kept."""
        for raw in (noted.preserved_segment, noted.preserved_messages):
            preserved = decode_object(_Preserved, raw) or _Preserved()
            for uuid in (preserved.head_uuid, *preserved.uuids[:1]):
                turn = self._placement.resolve(uuid) if uuid else None
                if turn is not None and _is_before(turn, compaction):
                    return turn
        return None

    def add_session(
        self,
        session: Session,
        threads: Iterable[ThreadFacts],
        turns: Mapping[Turn, TurnFacts],
        title: str | None,
        aliases: Iterable[str],
    ) -> None:
        """Add a session, its other names, and which turns stand in its log."""
        thread, source = session.thread, session.thread.scan.file.source
        if session.is_archived:
            own = list(_own_turns(session))
        else:
            own = [turn for each in session.threads for turn in each.turns]
        told = [facts for turn in own if (facts := turns.get(turn)) and facts.started_at is not None]
        dated = [facts for facts in told if facts.start_basis != UNDATED]
        starts = [facts.started_at for facts in dated or told if facts.started_at is not None]
        ends = [facts.ended_at for facts in dated or told if facts.ended_at is not None]
        created_at = min(starts, default=0)
        last_at = max((each.last_time for each in session.threads if not session.is_archived), default=-1)
        updated_at = max((*ends, last_at), default=0)
        call = None if session.is_archived else self._links.call_of.get(session.label)
        spawn_turn = self._placement.turn_of_call(call) if call else None
        workspace = _first_folder(session, own, turns)
        origin_id = thread.agent_id or thread.session_id
        self._writer.add(
            source,
            "sessions",
            label=session.label,
            thread_id=session.head.id,
            persona_id=_PERSONA,
            is_subagent=int(thread.is_subagent),
            parent_session_label=f"{ORIGIN}:{thread.session_id}" if thread.is_subagent else None,
            parent_turn_id=spawn_turn.id if spawn_turn else None,
            spawn_tool_call_id=call,
            task_description=self._task_description(thread, call),
            task_status=self._task_status(thread, call),
            routing_key=f"ws:{workspace}" if workspace else None,
            origin=ORIGIN,
            origin_session_id=origin_id,
            created_at=created_at,
            updated_at=max(updated_at, created_at),
            status="archived" if session.is_archived else "active",
        )
        if not dated:
            self._writer.mark(source, "sessions", session.label, "created_at", UNDATED)
            if last_at < 0:
                self._writer.mark(source, "sessions", session.label, "updated_at", UNDATED)
        self._writer.add(
            source,
            "session_context",
            label=session.label,
            title=title,
            project=workspace,
            context_tokens_used=max((facts.most_context_tokens for facts in threads), default=0) or None,
            raw_path=readable(source.path),
        )
        for alias in aliases:
            self._writer.add(
                source,
                "session_aliases",
                alias=alias,
                session_label=session.label,
                created_at=created_at,
                reason="manual",
            )
        if not session.is_archived:
            for turn in dict.fromkeys(own):
                self._writer.add(source, "session_turns", session_label=session.label, turn_id=turn.id)

    def _task_description(self, thread: Thread, call: str | None) -> str | None:
        spawn = self._links.spawns.get(call) if call else None
        beside = self._links.descriptions.get(thread.agent_id or "")
        if spawn is None:
            return beside
        return spawn.description or beside or spawn.beginning or None

    def _task_status(self, thread: Thread, call: str | None) -> str | None:
        if call is None:
            return None
        result = self._links.results.get(call)
        if result is not None and (result.is_async or result.status == "async_launched"):
            ended = self._links.ended.get(thread.agent_id or "")
            return "running" if ended is None else "completed" if ended == "completed" else "failed"
        outcome = self._placement.outcome_of_call(call)
        return {None: "running", False: "completed", True: "failed"}[outcome]


def _is_before(turn: Turn, other: Turn) -> bool:
    at = other.parent
    while at is not None and at is not turn:
        at = at.parent
    return at is turn


def _first_folder(session: Session, turns: Iterable[Turn], facts: Mapping[Turn, TurnFacts]) -> str | None:
    """Return the folder of the first of a session's turns; turns that it copied from another session count last."""
    folders = [(turn, told.cwd) for turn in turns if (told := facts.get(turn)) and told.cwd]
    born = (folder for turn, folder in folders if turn.thread in session.threads)
    return next(born, folders[0][1] if folders else None)


def _own_turns(session: Session) -> Iterable[Turn]:
    turn: Turn | None = session.head
    while turn is not None:
        yield turn
        turn = turn.parent if turn is not session.first_own_turn else None
