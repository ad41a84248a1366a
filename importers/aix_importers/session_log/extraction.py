"""From the bytes of a log, or of a file of programs, to rows and problems."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from aix.importing import Problem, RowBuffer, Rows, Source, readable
from aix_importers.common.json_records import Record, RecordReader
from aix_importers.common.json_text import compact_json
from aix_importers.common.program_event_kinds import PROGRAM_EVENT_KINDS
from aix_importers.common.row_writer import MOST_COPIES, add_rules
from aix_importers.common.secrets import is_secret_text, without_secrets
from aix_importers.session_log.persona_rules import SCOPE, persona_rules
from aix_importers.session_log.program_events import ProgramEvent, event_kind, faults_of_credentials, read_event
from aix_importers.session_log.program_files import programs_in, read_programs
from aix_importers.session_log.programs import Program, Programs, read_program
from aix_importers.session_log.records import Entry, UnusableEntryError, read_entry
from aix_importers.session_log.rows import LogRows
from aix_importers.session_log.turns import Place, Placement


def extract_log(source: Source, origin: str, *, is_usage_inclusive: bool) -> Iterator[Rows | Problem]:
    """Go through the rows and problems of a log."""
    programs = Programs(program for path in source.sidecars for program in programs_in(path))
    rows = LogRows(source, origin, programs, is_usage_inclusive=is_usage_inclusive)
    with Path(source.path).open("rb") as file:
        yield from _LogExtraction(source, origin, rows).run(file)


def extract_programs(source: Source, origin: str) -> Iterator[Rows | Problem]:
    """Go through the rows and problems of a file of programs and their events."""
    rows = _ProgramRows(source, origin)
    for record in read_programs(source.path, source):
        match record:
            case Problem():
                yield record
            case Program():
                rows.add_program(record)
            case ProgramEvent():
                rows.add_event(record)
        yield from rows.take()
    yield from rows.take(everything=True)


class _ProgramRows:
    """Turns the programs and events of a file into rows."""

    def __init__(self, source: Source, origin: str) -> None:
        self._source = source
        self._origin = origin
        self._buffer = RowBuffer(source)
        self._seen_at = Path(source.path).stat().st_mtime_ns // 10**6
        self._copies: dict[str, int] = {}
        self._event_count = 0

    def take(self, *, everything: bool = False) -> Iterator[Rows]:
        """Give out the rows when there are many, or all of them."""
        if everything or self._buffer.is_full():
            yield from self._buffer.drain()

    def add_program(self, program: Program) -> None:
        """Add a program and its rules; a further one of the same id is a copy."""
        copy = self._copies[program.id] = self._copies.get(program.id, -1) + 1
        self._buffer.add(
            "programs",
            copy=min(copy, MOST_COPIES),
            id=program.id,
            program_type=program.type,
            lifecycle=program.lifecycle,
            config_json=compact_json(program.config) if program.config else None,
            # Of several lines about one program in a file, the later one is newer.
            updated_at=self._seen_at + copy if program.modified_at is None else program.modified_at,
        )
        rules, file = persona_rules(program.config) or (), f"{readable(self._source.path)}#{program.id}"
        add_rules(self._buffer, rules, origin=self._origin, scope=SCOPE, file=file, seen_at=self._seen_at)

    def add_event(self, event: ProgramEvent) -> None:
        """Add an event."""
        principal = event.principal
        self._buffer.add(
            "program_events",
            event_id=event.id,
            claimed_event_id=event.claimed_id,
            kind=event.kind,
            program_id=event.program_id,
            occurred_at=event.time,
            position=self._event_count,
            principal_type=principal.type if principal else None,
            principal=principal.id if principal else None,
            on_behalf_of=compact_json(principal.chain) if principal and principal.chain else None,
            payload_json=event.payload_json,
        )
        self._event_count += 1


class _LogExtraction:
    """Reads one log."""

    def __init__(self, source: Source, origin: str, rows: LogRows) -> None:
        self._source = source
        self._placement = Placement(origin)
        self._rows = rows
        self._program_rows = _ProgramRows(source, origin)
        self._copies: dict[str, set[bytes]] = {}
        self._orphans: list[tuple[Record, str, str]] = []
        self._last_session_id: str | None = None

    def run(self, file: BinaryIO) -> Iterator[Rows | Problem]:
        """Go through the rows and problems of the log."""
        # Entries before the first time take that time; a second look at them costs less than keeping them.
        clock = self._first_time(file)
        for record in RecordReader(self._source, file):
            if isinstance(record, Problem):
                yield _without_secret_sample(record)
                continue
            try:
                if found := self._program_or_event(record.value):
                    yield from self._take_program(record, found)
                    continue
                entry = read_entry(record.value)
            except UnusableEntryError as error:
                yield self._problem(record, error.kind, error.reason)
                continue
            except RecursionError:
                yield self._problem(record, "too_deep", "The entry is nested too deeply to be kept.")
                continue
            if clock is None:
                yield self._problem(record, "no_time", "No entry of the log has a usable timestamp.")
                continue
            clock = clock if entry.time is None else entry.time
            yield from self._take(record, entry, clock)
            yield from self._rows.take()
        yield from self._unknown_parents()
        yield from self._turns_and_sessions()
        yield from self._program_rows.take(everything=True)

    @staticmethod
    def _program_or_event(value: Mapping[str, object]) -> Program | ProgramEvent | None:
        """Read a program or an event that stands between the entries."""
        has_message = isinstance(value.get("message"), dict)
        if has_message and "uuid" in value:
            return None
        kind = event_kind(value)
        if kind is None:
            return None if has_message else read_program(value)
        return read_event(value) if kind in PROGRAM_EVENT_KINDS else None

    def _take_program(self, record: Record, found: Program | ProgramEvent) -> Iterator[Rows | Problem]:
        if isinstance(found, Program):
            self._program_rows.add_program(found)
        else:
            self._program_rows.add_event(found)
        for kind, reason in found.faults:
            yield Problem(self._source, kind, reason, record.line, record.byte_offset)
        yield from self._program_rows.take()

    def _first_time(self, file: BinaryIO) -> int | None:
        for record in RecordReader(self._source, file):
            if isinstance(record, Problem):
                continue
            try:
                time = read_entry(record.value).time
            except (UnusableEntryError, RecursionError):
                continue
            if time is not None:
                return time
        return None

    def _take(self, record: Record, entry: Entry, clock: int) -> Iterator[Problem]:
        if entry.wrong:
            names = ", ".join(entry.wrong)
            yield self._problem(record, "wrong_type", f"Not usable, and kept only as metadata: {names}.")
        for kind, reason in faults_of_credentials(entry.left_out):
            yield self._problem(record, kind, reason)
        for kind, reason in entry.principal.faults if entry.principal else ():
            yield self._problem(record, kind, reason)
        earlier = self._placement.find(entry.uuid)
        if earlier is not None:
            yield self._repetition(record, entry, earlier, clock)
            return
        session_id = entry.session_id or self._last_session_id
        if session_id is None:
            yield self._problem(record, "no_session", "The entry has no sessionId, and no entry before it has one.")
            return
        if entry.session_id is None:
            yield self._problem(record, "no_session", "The entry has no sessionId; that of the entry before was taken.")
        if entry.time is None:
            yield self._problem(record, "no_timestamp", "The entry has no usable timestamp; a neighbour's was taken.")
        if entry.parent_uuid is not None and entry.parent_uuid not in self._placement:
            self._orphans.append((record, entry.uuid, entry.parent_uuid))
        self._last_session_id = session_id
        place = self._placement.add(entry, session_id, clock, is_time_inferred=entry.time is None)
        self._rows.add_message(entry, place)

    def _repetition(self, record: Record, entry: Entry, earlier: Place, clock: int) -> Problem:
        if (entry.role == "user") is not earlier.is_user:
            reason = "An earlier entry has the same uuid and another role; this one was skipped."
            return self._problem(record, "duplicate_uuid", reason)
        if entry.session_id is not None and entry.session_id != earlier.session.id:
            self._placement.borrow(entry.uuid, entry.session_id, clock)
            self._last_session_id = entry.session_id
        copies = self._copies.setdefault(entry.uuid, set())
        if entry.digest == earlier.digest or entry.digest in copies:
            return self._problem(record, "duplicate_uuid", "The entry stands in the log a second time.")
        if len(copies) == MOST_COPIES:
            reason = f"{MOST_COPIES + 1} earlier entries have the same uuid and say other things; it was skipped."
            return self._problem(record, "duplicate_uuid", reason)
        copies.add(entry.digest)
        self._rows.add_message(entry, earlier, copy=len(copies))
        reason = "An earlier entry has the same uuid and says something else; what they say together was kept."
        return self._problem(record, "duplicate_uuid", reason)

    def _unknown_parents(self) -> Iterator[Problem]:
        for record, uuid, parent in self._orphans:
            if parent == uuid:
                where = "is the entry itself"
            elif parent in self._placement:
                where = "comes later in the log: the entries are out of order, or form a cycle"
            else:
                where = "is not in the log"
            reason = f"The parent of the entry {where}; the entry was placed by the order of the log."
            yield self._problem(record, "unknown_parent", reason)

    def _turns_and_sessions(self) -> Iterator[Rows]:
        for session in self._placement.sessions.values():
            for turn in session.turns:
                if turn.session is session:
                    self._rows.add_turn(turn)
                self._rows.add_session_turn(session, turn)
                yield from self._rows.take()
            self._rows.add_session(session)
            yield from self._rows.take()
        yield from self._rows.take(everything=True)

    def _problem(self, record: Record, kind: str, reason: str) -> Problem:
        return Problem(self._source, kind, reason, record.line, record.byte_offset, _plain_sample(record))


def _without_secret_sample(problem: Problem) -> Problem:
    if not is_secret_text(problem.sample):
        return problem
    return Problem(problem.source, problem.kind, problem.reason, problem.line, problem.byte_offset)


def _plain_sample(record: Record) -> str | None:
    """Return the sample of a record, unless it may hold a credential."""
    places: list[str] = []
    try:
        without_secrets({name: value for name, value in record.value.items() if name != "message"}, places.append)
    except RecursionError:
        return None
    return None if places or is_secret_text(record.sample) else record.sample
