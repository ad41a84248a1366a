"""Rows of the ledger for the entries, turns and sessions of one log."""

from collections.abc import Iterator

from aix.ids import h63, ulid
from aix.importing import RowBuffer, Rows, Source, readable
from aix_importers.common.code_blocks import fenced_blocks
from aix_importers.common.row_writer import may_be_label
from aix_importers.session_log.programs import Programs
from aix_importers.session_log.records import Entry
from aix_importers.session_log.session_settings import Named, SessionSettings
from aix_importers.session_log.turns import Place, Session, Turn


class LogRows:
    """Turns what is known of a log into rows."""

    def __init__(self, source: Source, origin: str, programs: Programs, *, is_usage_inclusive: bool) -> None:
        self._source = source
        self._origin = origin
        self._programs = programs
        self._is_usage_inclusive = is_usage_inclusive
        self._buffer = RowBuffer(source)
        self._settings: dict[str, SessionSettings] = {}

    def take(self, *, everything: bool = False) -> Iterator[Rows]:
        """Give out the rows when there are many, or all of them."""
        if everything or self._buffer.is_full():
            yield from self._buffer.drain()

    def add_message(self, entry: Entry, place: Place, *, copy: int = 0) -> None:
        """Add the message of an entry; a further one of the same uuid is a copy."""
        message_id = ulid("msg", self._origin, entry.uuid)
        time = place.time if entry.time is None else entry.time
        source = self._settings_of(place.session).query_source(entry.principal) if place.is_user else Named(None)
        self._buffer.add(
            "messages",
            copy=copy,
            id=message_id,
            turn_id=place.turn.id,
            role=entry.role,
            content=entry.content,
            source=source.name,
            sequence=0,
            created_at=time,
            metadata_json=entry.metadata_json,
        )
        self._mark("messages", message_id, "source", source.basis, copy)
        self._mark("messages", message_id, "turn_id", "log_order" if place.is_inferred else None, copy)
        self._mark("messages", message_id, "created_at", "neighbour" if entry.time is None else None, copy)
        self._buffer.add(
            "message_facts",
            copy=copy,
            message_id=message_id,
            text_chars=None if entry.content is None else len(entry.content),
            position=place.position,
        )
        if not place.is_user:
            self._add_request(entry, place, message_id, time, copy)
            self._add_code(entry, message_id, copy)

    def _add_request(self, entry: Entry, place: Place, message_id: str, time: int, copy: int) -> None:
        request_id = ulid("req", self._origin, entry.uuid)
        settings = self._settings_of(place.session)
        model, provider = settings.model(entry.model), settings.provider(entry.provider, entry.model)
        usage = entry.usage.exclusive() if self._is_usage_inclusive else entry.usage
        self._buffer.add(
            "requests",
            copy=copy,
            id=request_id,
            turn_id=place.turn.id,
            session_label=self._label(place.session),
            message_id=message_id,
            seq=place.request_seq,
            requested_at=max(0, time - (entry.latency_ms or 0)),
            model=model.name,
            provider=provider.name,
            origin_request_id=entry.request_id,
            input_tokens=usage.input,
            output_tokens=usage.output,
            cache_read_tokens=usage.cache_read,
            cache_write_tokens=usage.cache_write,
            context_tokens=usage.context,
            is_usage_final=True if usage.is_known else None,
            latency_ms=entry.latency_ms,
        )
        self._mark("requests", request_id, "model", model.basis, copy)
        self._mark("requests", request_id, "provider", provider.basis, copy)
        self._mark("requests", request_id, "turn_id", "log_order" if place.is_inferred else None, copy)
        self._mark("requests", request_id, "requested_at", "neighbour" if entry.time is None else None, copy)

    def _add_code(self, entry: Entry, message_id: str, copy: int) -> None:
        for idx, block in enumerate(fenced_blocks(entry.content or "")):
            self._buffer.add(
                "message_codeblocks",
                copy=copy,
                id=h63("message_codeblocks", message_id, idx),
                message_id=message_id,
                idx=idx,
                language=block.language,
                content=block.content,
            )

    def add_turn(self, turn: Turn) -> None:
        """Add a turn, with its thread and its circumstances."""
        settings = self._settings_of(turn.session)
        principal = settings.principal(turn.principal) or settings.principal(turn.later_principal)
        self._buffer.add(
            "turns",
            id=turn.id,
            parent_turn_id=turn.parent and turn.parent.id,
            started_at=turn.started_at,
            role=settings.role,
            toolset_name=settings.toolset_name,
            tools_available=settings.tools_available,
            permissions_granted=settings.permissions_granted(principal),
            source_event_id=turn.source_uuid,
        )
        is_parent_marked = turn.parent is not None and turn.is_parent_inferred
        self._mark("turns", turn.id, "parent_turn_id", "log_order" if is_parent_marked else None)
        self._mark("turns", turn.id, "started_at", "neighbour" if turn.is_start_inferred else None)
        self._buffer.add(
            "threads",
            turn_id=turn.id,
            persona_id=self._persona(settings),
            system_prompt_hash=settings.system_prompt_hash,
            thread_key=f"{self._origin}:{turn.key}",
        )
        self._mark("threads", turn.id, "persona_id", None if settings.owner_id else "no_owner")
        self._buffer.add(
            "turn_context",
            turn_id=turn.id,
            origin=self._origin,
            origin_session_id=turn.session.id,
            turn_key=turn.key,
            principal=principal.id if principal else None,
            on_behalf_of=principal.on_behalf_of if principal else None,
            situation=turn.situation,
        )

    def add_session_turn(self, session: Session, turn: Turn) -> None:
        """Add that a turn, of its own or borrowed, belongs to a session."""
        self._buffer.add("session_turns", session_label=self._label(session), turn_id=turn.id)

    def add_session(self, session: Session) -> None:
        """Add a session, and the branches that its head has left."""
        label, head = self._label(session), session.head
        if head is None:
            return
        settings = self._settings_of(session)
        status = "archived" if settings.is_completed else "active"
        self._add_head(session, label, head, session.created_at, session.updated_at, status)
        if not may_be_label(session.id):
            self._buffer.add(
                "session_aliases",
                alias=session.id,
                session_label=label,
                created_at=session.created_at,
                reason="manual",
            )
        for branch in session.branches:
            name, since = label + branch.suffix, branch.first.started_at
            self._add_head(session, name, branch.head, since, max(since, branch.updated_at), "archived")

    def _add_head(
        self, session: Session, label: str, head: Turn, created_at: int, updated_at: int, status: str
    ) -> None:
        settings = self._settings_of(session)
        self._buffer.add(
            "sessions",
            label=label,
            thread_id=head.id,
            persona_id=self._persona(settings),
            task_description=settings.task_description,
            task_status=settings.task_status,
            routing_key=settings.routing_key,
            origin=self._origin,
            origin_session_id=session.id,
            created_at=created_at,
            updated_at=updated_at,
            status=status,
        )
        self._mark("sessions", label, "persona_id", None if settings.owner_id else "no_owner")
        self._buffer.add("session_context", label=label, raw_path=readable(self._source.path))

    def _mark(self, table: str, row_key: str, column: str, basis: str | None, copy: int = 0) -> None:
        if basis is not None:
            self._buffer.add(
                "inferred_values", copy=copy, table_name=table, row_key=row_key, column_name=column, basis=basis
            )

    def _settings_of(self, session: Session) -> SessionSettings:
        if session.id not in self._settings:
            self._settings[session.id] = SessionSettings(self._programs, session.id, self._source.path)
        return self._settings[session.id]

    def _label(self, session: Session) -> str:
        return f"{self._origin}:{session.id}"

    def _persona(self, settings: SessionSettings) -> str:
        return settings.owner_id or f"{self._origin}-default"
