"""From transcripts that share records, and from settings files, to rows.

Transcripts are read once for places, and once for what is said.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from aix.ids import ulid
from aix.importing import Problem, RowBuffer, Rows, Source, Ties, readable
from aix_importers.claude_code.classification import Kind, said
from aix_importers.claude_code.copies import Copies, read_record
from aix_importers.claude_code.discovery import FileKind, source_file
from aix_importers.claude_code.facts import OpenMessage, TurnFacts
from aix_importers.claude_code.first_pass import FirstPass
from aix_importers.claude_code.message_rows import MessageRows, source_of
from aix_importers.claude_code.records import Block, Message, Record, as_count, decode_blocks, decode_message
from aix_importers.claude_code.scan import Entry, Scan, take_tie_numbers
from aix_importers.claude_code.second_pass import SecondPass
from aix_importers.claude_code.sessions import aliases_of, sessions_of, titles_of
from aix_importers.claude_code.settings import read_rules, scope_of
from aix_importers.claude_code.sidecars import SpilledResults, agent_meta, indexed_titles
from aix_importers.claude_code.threads import link_subagents, threads_of
from aix_importers.claude_code.turn_rows import TurnRows
from aix_importers.claude_code.turns import ORIGIN, Placement, Thread, Turn
from aix_importers.claude_code.usage import Request, Requests
from aix_importers.common.row_writer import Writer, add_rules
from aix_importers.common.times import UNDATED

_KEPT_BYTES = 8 * 2**20
"""Transcripts of no more than that are kept in memory between the two readings."""
_SUMMARISER_MILLISECONDS = 30_000


def extract_transcripts(sources: Sequence[Source]) -> Iterator[Rows | Problem | Ties]:
    """Go through the rows and problems of transcripts that may share records."""
    requests = Requests()
    first_pass = FirstPass(requests)
    scans = []
    is_small = sum(Path(source.path).stat().st_size for source in sources) <= _KEPT_BYTES
    for source in sources:
        scan = Scan(source_file(source))
        scan.kept = [] if is_small else None
        yield from first_pass.scan(scan)
        yield Ties(source, take_tie_numbers(scan))
        scans.append(scan)
    scans.sort(key=lambda scan: scan.order)
    yield from _Extraction(scans, requests).rows()


class _Extraction:
    def __init__(self, scans: list[Scan], requests: Requests) -> None:
        self._scans = scans
        self._requests = requests
        self._threads = threads_of(scans)
        conversations = (scan for scan in scans if scan.is_conversation)
        calls = (call for scan in conversations for entry in scan.calls() for call in entry)
        self._placement = Placement(calls, _text_of)
        for thread in self._threads:
            self._placement.place(thread)
        self._placement.finish()
        self._copies = Copies(scans)
        self._links = link_subagents(scans, self._threads, self._placement, agent_meta(scans))
        for thread in self._threads:
            thread.forget_entries()
        for scan in scans:
            scan.forget_records()
        self._writer = Writer()

    def rows(self) -> Iterator[Rows | Problem]:
        denied = {call for scan in self._scans for call in scan.denied_calls}
        rows = MessageRows(self._writer, self._links.label_of, self._threads, denied, SpilledResults(self._scans))
        second_pass = SecondPass(self._scans, self._placement, self._copies, self._requests, rows)
        rebuilt = [thread for thread in self._threads if thread.call_id is not None]
        main_threads = {
            thread.scan: thread
            for thread in self._threads
            if thread.call_id is None and thread.is_subagent is (thread.scan.file.kind is FileKind.AGENT)
        }
        shown = {(thread.scan, thread.agent_id or "") for thread in rebuilt}
        shown |= {(scan, thread.agent_id or "") for thread in self._threads for scan in thread.borrowed.values()}
        yield from second_pass.run(main_threads, shown)
        for thread in rebuilt:
            self._add_last_answer(rows, thread, second_pass.turns)
        summarisers = self._add_other_requests(rows, second_pass)
        self._add_unseen_children(rows)
        turn_rows = TurnRows(self._writer, self._placement, self._copies, self._links, summarisers)
        for turn in self._placement.turns:
            turn_rows.add_turn(turn, second_pass.turns[turn])
            if self._writer.is_full():
                yield from self._writer.take()
        for turn in self._placement.turns:
            if turn.is_compaction:
                turn_rows.add_compaction(second_pass.compactions[turn])
                if self._writer.is_full():
                    yield from self._writer.take()
        sessions = sessions_of(self._threads, self._placement)
        titles = titles_of(self._scans, self._placement, sessions, indexed_titles(self._scans))
        aliases = aliases_of(sessions)
        for session in sessions:
            told = [second_pass.threads[thread] for thread in session.threads]
            names = aliases.get(session.label, ())
            turn_rows.add_session(session, told, second_pass.turns, titles.get(session.label), names)
            if self._writer.is_full():
                yield from self._writer.take()
        yield from self._problems(second_pass)
        yield from self._writer.take()
        for thread in self._threads:  # turns and threads name each other, and would outlast this
            thread.turns.clear()
            thread.latest = None

    def _add_last_answer(self, rows: MessageRows, thread: Thread, turns: dict[Turn, TurnFacts]) -> None:
        """Add the answer that a subagent ended with, which only the result of the call shows."""
        call_id, turn = thread.call_id or "", thread.latest
        result = self._links.results.get(call_id)
        if result is None or turn is None or not result.content:
            return
        facts = turns[turn]
        time = max(facts.ended_at or 0, facts.started_at or 0)
        message = OpenMessage(
            f"{call_id}:result", turn, "assistant", None, time, facts.start_basis or "neighbour", facts.messages
        )
        blocks = decode_blocks(result.content)
        if not blocks:
            return
        facts.messages += 1
        message.add(Record(), Message(content=result.content), blocks)
        message.metadata["from_result_of"] = call_id
        rows.add_message(message)

    def _add_other_requests(self, rows: MessageRows, second_pass: SecondPass) -> dict[Turn, Request]:
        """Add requests that gave no message of a conversation; return those that wrote a summary, by compaction."""
        by_file: dict[Source, list[Request]] = {}
        for request in self._requests:
            by_file.setdefault(request.file.source, []).append(request)
        summarisers: dict[Turn, Request] = {}
        for scan in self._scans:
            found = by_file.get(scan.file.source, [])
            is_compaction = scan.file.kind is FileKind.COMPACTION
            turn = self._summarised_turn(scan, second_pass) if is_compaction else None
            for seq, request in enumerate(found):
                rows.add_request_row(
                    scan.file.source,
                    request,
                    "compaction" if is_compaction else "side",
                    turn_id=turn.id if turn else None,
                    session_label=turn.thread.label if turn else None,
                    seq=seq if turn else None,
                    time=scan.first_time or 0,
                    time_basis=UNDATED if scan.first_time is None else "neighbour",
                )
                if turn is not None:
                    summarisers[turn] = request
        return summarisers

    def _summarised_turn(self, scan: Scan, second_pass: SecondPass) -> Turn | None:
        """Return the compaction that a summarising call belongs to: the one of its session that ended with it."""
        near = [
            (abs(facts.time - scan.last_time), turn)
            for turn, facts in second_pass.compactions.items()
            if turn.thread.session_id == scan.session_id and facts.time is not None and scan.last_time is not None
        ]
        distance, turn = min(near, key=lambda each: each[0], default=(0, None))
        return turn if distance <= _SUMMARISER_MILLISECONDS else None

    def _add_unseen_children(self, rows: MessageRows) -> None:
        """Keep the only figure that is known of subagents whose own records are nowhere."""
        seen = {thread.agent_id for thread in self._threads if thread.agent_id}
        for call, result in self._links.results.items():
            tokens, turn = as_count(result.total_tokens), self._placement.turn_of_call(call)
            if tokens is None or turn is None or call not in self._links.spawns:
                continue
            if call in self._links.label_of or result.agent_id in seen:
                continue
            source, request_id = source_of(turn), ulid("req", ORIGIN, f"{call}:unseen")
            time = self._copies.time_of(result.uuid)
            self._writer.add(
                source,
                "requests",
                id=request_id,
                session_label=rows.birthplace(turn),
                requested_at=time if time is not None else turn.thread.scan.first_time or 0,
                context_tokens=tokens,
                kind="side",
            )
            self._writer.mark(source, "requests", request_id, "context_tokens", "total_tokens_of_last_message")
            if time is None:
                self._writer.mark(source, "requests", request_id, "requested_at", "neighbour")

    def _problems(self, second_pass: SecondPass) -> Iterator[Problem]:
        placement = self._placement
        with_turns = {thread.scan for thread in self._threads if thread.turns}
        # Commands of the client, and what stands beside messages, are expected where no model was asked.
        without_turn = [
            (thread, entry)
            for thread, entry in placement.without_turn
            if thread.scan in with_turns or entry.kind not in (Kind.LOCAL, Kind.META)
        ]
        for kind, records, reason in (
            (
                "replayed",
                placement.replayed.values(),
                "The record says again, under another uuid, what is known; it counts once.",
            ),
            (
                "held_back",
                placement.held_back,
                "The record belongs to a conversation that is not here, and was left out.",
            ),
            (
                "no_turn",
                without_turn,
                "The record follows no prompt and no answer that is here, and was left out.",
            ),
        ):
            for thread, entry in records:
                yield Problem(thread.scan_of(entry).file.source, kind, reason, entry.line, entry.byte_offset)
        for scan, entry in self._copies.differing:
            reason = "Another copy of the record, which says something else, was taken."
            yield Problem(scan.file.source, "copies_differ", reason, entry.line, entry.byte_offset)
        for place in second_pass.without_message:
            if place.scan in with_turns:
                reason = "The record stands beside a conversation without prompts, and was left out."
                yield Problem(place.scan.file.source, "no_message", reason, place.line, place.byte_offset)
        for place in second_pass.without_call:
            reason = "The record that makes the call was not taken, and so the result was left out."
            yield Problem(place.scan.file.source, "no_call", reason, place.line, place.byte_offset)
        for scan in self._scans:
            if scan.is_conversation and scan not in with_turns:
                yield Problem(scan.file.source, "no_model_activity", "The file holds no conversation with a model.")


def _text_of(thread: Thread, entry: Entry) -> str:
    record = read_record(thread.scan_of(entry), entry.byte_offset, entry.uuid)
    if record is None:
        return ""
    blocks: list[Block] = decode_blocks(decode_message(record.message).content)
    return said(blocks)


def extract_settings(source: Source) -> Iterator[Rows | Problem]:
    """Go through the rules of a settings file; they are known to stand there since it was last written."""
    path = Path(source.path)
    seen_at = path.stat().st_mtime_ns // 10**6
    reports: list[str] = []
    try:
        rules = read_rules(readable(source.path), path.read_bytes(), reports.append)
    except ValueError as error:
        yield Problem(source, "unreadable_settings", str(error))
        return
    for report in reports:
        yield Problem(source, "unusable_rule", report)
    buffer = RowBuffer(source)
    scope, file = scope_of(source.path), readable(source.path)
    add_rules(buffer, rules, origin=ORIGIN, scope=scope, file=file, seen_at=seen_at)
    yield from buffer.drain()
