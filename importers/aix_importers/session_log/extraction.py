"""From the bytes of a log, or of a file of programs, to rows and problems."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from aix.importing import Problem, RowBuffer, Rows, Source, readable
from aix_importers.common.json_text import compact_json
from aix_importers.common.row_writer import add_rules
from aix_importers.session_log.programs import SCOPE, Program, Programs, persona_rules, read_programs
from aix_importers.session_log.records import Entry, Record, RecordReader, UnusableEntryError, read_entry
from aix_importers.session_log.rows import LogRows
from aix_importers.session_log.turns import Place, Placement

_MOST_COPIES = 16
"""Of entries with one uuid: each copy is a source of its own for the join, whose effort grows with their number."""


def extract_log(source: Source, origin: str, *, is_usage_inclusive: bool) -> Iterator[Rows | Problem]:
    """Go through the rows and problems of a log."""
    programs = Programs(
        program for path in source.sidecars for program in read_programs(path, source) if isinstance(program, Program)
    )
    rows = LogRows(source, origin, programs, is_usage_inclusive=is_usage_inclusive)
    with Path(source.path).open("rb") as file:
        yield from _LogExtraction(source, origin, rows).run(file)


def extract_programs(source: Source, origin: str) -> Iterator[Rows | Problem]:
    """Go through the rows and problems of a file of programs."""
    buffer = RowBuffer(source)
    seen_at = Path(source.path).stat().st_mtime_ns // 10**6
    for program in read_programs(source.path, source):
        if isinstance(program, Problem):
            yield program
            continue
        config = compact_json(program.config) if program.config else None
        buffer.add(
            "programs", id=program.id, program_type=program.type, lifecycle=program.lifecycle, config_json=config
        )
        rules, file = persona_rules(program.config) or (), f"{readable(source.path)}#{program.id}"
        add_rules(buffer, rules, origin=origin, scope=SCOPE, file=file, seen_at=seen_at)
        if buffer.is_full():
            yield from buffer.drain()
    yield from buffer.drain()


class _LogExtraction:
    """Reads one log."""

    def __init__(self, source: Source, origin: str, rows: LogRows) -> None:
        self._source = source
        self._placement = Placement(origin)
        self._rows = rows
        self._copies: dict[str, set[bytes]] = {}
        self._orphans: list[tuple[Record, str, str]] = []
        self._last_session_id: str | None = None

    def run(self, file: BinaryIO) -> Iterator[Rows | Problem]:
        """Go through the rows and problems of the log."""
        # Entries before the first time take that time; a second look at them costs less than keeping them.
        clock = self._first_time(file)
        for record in RecordReader(self._source, file):
            if isinstance(record, Problem):
                yield record
                continue
            try:
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
        if len(copies) == _MOST_COPIES:
            reason = f"{_MOST_COPIES + 1} earlier entries have the same uuid and say other things; it was skipped."
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
        return Problem(self._source, kind, reason, record.line, record.byte_offset, record.sample)
