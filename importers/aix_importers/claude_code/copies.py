"""Records that stand in the log several times: the same uuid, in several files or twice in one.

Copies may have a new time, and the text of one may have been redacted: the earliest time counts, and the best text.
"""

from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

from aix_importers.claude_code.classification import Kind, decode_progress
from aix_importers.claude_code.reading import Located, TranscriptReader
from aix_importers.claude_code.records import Record, decode_message
from aix_importers.claude_code.scan import NO_TIME, Entry, Scan

_MARKS = (b"[REDACTED", b"XXXX")


class Copies:
    """The copy of a record that counts, of several; scans must come in their order."""

    def __init__(self, scans: Sequence[Scan]) -> None:
        self.differing: list[tuple[Scan, Entry]] = []
        """Copies that say something else than the one that counts."""
        self._places = _Places(scans)
        self._first: dict[str, tuple[Scan, Entry]] = {}
        self._times: dict[str, int] = {}
        self._others: dict[str, list[tuple[Scan, Entry]]] = {}
        repeated = self._places.take_repeated()
        if repeated:
            for scan, entry in _records(scans):
                if entry.uuid in repeated:
                    self._add(scan, entry)
        self._best: dict[str, tuple[Scan, Entry]] = {}
        for uuid, others in self._others.items():
            self._choose(uuid, others)
        self._others = {}

    def is_first(self, uuid: str, scan: Scan, byte_offset: int) -> bool:
        """Whether this is the copy of a record in whose place the record is taken."""
        if uuid in self._places:
            return self._places.is_at(uuid, scan, byte_offset)
        first = self._first.get(uuid)
        return first is not None and first[0] is scan and first[1].byte_offset == byte_offset

    def time_of(self, uuid: str) -> int | None:
        """Return the earliest time that a copy of a record has."""
        if uuid in self._places:
            return self._places.time_of(uuid)
        if uuid in self._times:
            return self._times[uuid]
        first = self._first.get(uuid)
        return first[1].time if first else None

    def best(self, uuid: str) -> Record | None:
        """Return the copy that says most, when it is not the first."""
        found = self._best.get(uuid)
        return read_record(found[0], found[1].byte_offset, uuid) if found else None

    def _add(self, scan: Scan, entry: Entry) -> None:
        known = self._first.setdefault(entry.uuid, (scan, entry))
        if known[1] is entry:
            return
        if known[1].kind is Kind.LOCAL and entry.kind not in (Kind.LOCAL, Kind.META):
            self._first[entry.uuid] = scan, entry
            (scan, entry), known = known, (scan, entry)
        if entry.time is not None:
            before = self.time_of(entry.uuid)
            self._times[entry.uuid] = entry.time if before is None else min(before, entry.time)
        if entry.digest != known[1].digest:
            self._others.setdefault(entry.uuid, []).append((scan, entry))

    def _choose(self, uuid: str, others: list[tuple[Scan, Entry]]) -> None:
        first = self._first[uuid]
        by_digest = {entry.digest: (scan, entry) for scan, entry in reversed([first, *others])}
        # One that makes other calls is another record, whatever it is called.
        alike = [copy for copy in by_digest.values() if _structure(copy[1]) == _structure(first[1])]
        best = min(alike, key=lambda copy: _rank(copy[0], copy[1], uuid))
        self.differing += [copy for copy in by_digest.values() if copy is not best]
        if best[1] is not first[1]:
            self._best[uuid] = best


class _Places:
    """Where records stand of which there is one copy only, as nearly all; in columns, since there are many."""

    def __init__(self, scans: Sequence[Scan]) -> None:
        self._scans = scans
        self._numbers: dict[str, int] = {}
        self._files, self._offsets, self._times = array("I"), array("q"), array("q")
        self._repeated: set[str] = set()
        file_numbers = {scan: number for number, scan in enumerate(scans)}
        for scan, entry in _records(scans):
            if self._numbers.setdefault(entry.uuid, len(self._files)) < len(self._files):
                self._repeated.add(entry.uuid)
                continue
            self._files.append(file_numbers[scan])
            self._offsets.append(entry.byte_offset)
            self._times.append(NO_TIME if entry.time is None else entry.time)

    def __contains__(self, uuid: str) -> bool:
        return uuid in self._numbers

    def take_repeated(self) -> set[str]:
        """Return, once, the records of which there are several copies."""
        for uuid in self._repeated:
            del self._numbers[uuid]
        repeated, self._repeated = self._repeated, set()
        return repeated

    def is_at(self, uuid: str, scan: Scan, byte_offset: int) -> bool:
        number = self._numbers[uuid]
        return self._offsets[number] == byte_offset and self._scans[self._files[number]] is scan

    def time_of(self, uuid: str) -> int | None:
        time = self._times[self._numbers[uuid]]
        return None if time == NO_TIME else time


def _records(scans: Sequence[Scan]) -> Iterator[tuple[Scan, Entry]]:
    """Go through records in the order in which they count: those of conversations, of progress in them, and others."""
    conversations = [scan for scan in scans if scan.is_conversation]
    for scan in conversations:
        yield from ((scan, entry) for entry in scan.records())
    for scan in conversations:
        yield from ((scan, entry) for entry in scan.shown_records())
    for scan in scans:
        if not scan.is_conversation:
            yield from ((scan, entry) for entry in scan.records())


def _structure(entry: Entry) -> tuple[object, ...]:
    return entry.kind, entry.calls, entry.results_of


def read_record(scan: Scan, byte_offset: int, uuid: str) -> Record | None:
    """Read a record again, at its place in the file."""
    with Path(scan.file.source.path).open("rb") as file:
        file.seek(byte_offset)
        for located in TranscriptReader(scan.file.source, file, from_here=True):
            if isinstance(located, Located):
                found = _find(located.record, uuid)
                if found is not None:
                    return found
                if located.byte_offset > byte_offset:
                    return None
    return None


def _find(record: Record, uuid: str) -> Record | None:
    if record.uuid == uuid:
        return record
    progress = decode_progress(record) if record.data else None
    nested = progress.record if progress else None
    return nested if nested and nested.uuid == uuid else None


def _rank(scan: Scan, entry: Entry, uuid: str) -> tuple[int, int, str]:
    record = read_record(scan, entry.byte_offset, uuid)
    content = bytes(decode_message(record.message).content) if record else b""
    return sum(content.count(mark) for mark in _MARKS), -len(content), scan.file.source.path
