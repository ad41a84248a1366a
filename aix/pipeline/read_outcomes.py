"""Outcomes of sources that were read: their reports and fingerprints, and the rows that their rows replace."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from aix.merge.replacement import ReadTogether
from aix.merge.row_batches import Files
from aix.pipeline.contract import Source
from aix.pipeline.growth import Growth, growth_of
from aix.pipeline.import_log import Entry, Run
from aix.pipeline.plan import Planned, version_of
from aix.pipeline.report import Outcome, Status
from aix.pipeline.source_graph import reading_of
from aix.pipeline.worker_messages import Group, Reading
from aix.store.fingerprints import Fingerprint
from aix.store.source_ties import SourceTies

_NEVER = 2**63 - 1


@dataclass
class Settled:
    """Rows that wait for a commit, with the fingerprints and ties of their sources."""

    deliveries: list[Files] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    fingerprints: dict[str, Fingerprint] = field(default_factory=dict)
    ties: dict[str, SourceTies] = field(default_factory=dict)
    together: list[ReadTogether] = field(default_factory=list)
    problems_since: dict[str, int] = field(default_factory=dict)
    """By the name of a source that still holds what it held: since when its problems are noted again."""
    left_out: set[str] = field(default_factory=set)
    """Names of sources whose rows are in the deliveries and are not committed."""

    def drop(self, sources: Mapping[str, str]) -> None:
        """Take out all that is known of these sources, given with their names by id, and leave their rows out."""
        self.left_out.update(sources.values())
        self.entries = [entry for entry in self.entries if entry.planned.id not in sources]
        for source, name in sources.items():
            self.fingerprints.pop(source, None)
            self.ties.pop(source, None)
            self.problems_since.pop(name, None)
        self.together = [rest for each in self.together if (rest := each.without(self.left_out)).since]


@dataclass
class Known:
    """The plan and the fingerprints of all sources while a run goes on."""

    planned: dict[Source, Planned]
    fingerprints: dict[str, Fingerprint]
    """As the ledger has them."""
    committed: set[str] = field(default_factory=set)
    """Sources that were read and committed while the run goes on."""
    tied: set[str] = field(default_factory=set)
    """Sources of which the ledger has ties."""
    setbacks: dict[Source, str] = field(default_factory=dict)
    """Why sources could not be read together with those they are tied to."""


class Settlement:
    """Settles what was read in one run."""

    def __init__(self, run: Run, known: Known, record: Callable[[Outcome], None]) -> None:
        self._run = run
        self._known = known
        self._record = record

    def settle(self, group: Group, readings: Sequence[Reading], settled: Settled) -> tuple[Group, ...]:
        """Note what became of sources that were read together; returns what must be read by itself instead."""
        failure = next((reading.failure for reading in readings if reading.failure), "")
        if failure and group.parts:
            reason = f"it could not be read with the sources it is tied to: {failure}"
            self._known.setbacks.update((source, reason) for part in group.parts for source in part.sources)
            settled.left_out.update(self._known.planned[source].name for source in group.sources)
            return group.parts
        growths = {reading.source: self._growth(reading) for reading in readings}
        news = [reading for reading in readings if self._settle_one(reading, growths[reading.source], settled)]
        if news and not failure:
            settled.ties.update(self._ties(readings))
            if group.is_whole:
                settled.together.append(self._together(readings, growths))
        return ()

    def _growth(self, reading: Reading) -> Growth:
        planned = self._known.planned[reading.source]
        return growth_of(self._known.fingerprints.get(planned.id), reading, is_outdated=planned.replaces)

    def _settle_one(self, reading: Reading, growth: Growth, settled: Settled) -> bool:
        """Note what became of a source, and return whether that is worth a version of the ledger."""
        planned = self._known.planned[reading.source]
        before = self._known.fingerprints.get(planned.id)
        failure = reading.failure or self._known.setbacks.get(reading.source, "")
        status = _status(planned, failure)
        reason = failure or ("" if reading.content else "it changed while it was read")
        if status is Status.SKIPPED:
            reason = "unchanged, and read with its group"
        labels = len(set(reading.labels))
        importer = planned.claim.importer
        counts = (labels, reading.problems, planned.size_bytes)
        self._record(Outcome(planned.name, importer.name, status, reason, *counts, unread=reading.unread))
        now = self._fingerprint(planned, reading, growth, failure)
        if reading.failure:  # what the ledger has of it is still what the reading before gave
            last = before or msgspec.structs.replace(now, content="", size_bytes=-1)
            stamps = (*(reading.stamps or ("",))[:1], *last.stamps[1:])  # of sidecars, as they were when they gave rows
            now = msgspec.structs.replace(last, stamps=stamps, failure=failure)
        if failure and now == before:
            return False
        settled.entries.append(Entry(planned, reading, status, failure))
        settled.fingerprints[planned.id] = now
        if growth is Growth.GROWN and not reading.failure:
            settled.problems_since[planned.name] = now.since
        return True

    def _fingerprint(self, planned: Planned, reading: Reading, growth: Growth, failure: str) -> Fingerprint:
        importer = planned.claim.importer
        return Fingerprint(
            importer.name,
            version_of(importer),
            reading.stamps,
            reading.content,
            failure,
            reading.size_bytes,
            "" if reading.main_hash in (None, reading.content) else str(reading.main_hash),
            self._since(planned, growth),
        )

    def _since(self, planned: Planned, growth: Growth) -> int:
        before = self._known.fingerprints.get(planned.id)
        if before is None or growth in (Growth.NEW, Growth.REWRITTEN):
            return self._run.started_at
        return before.since or self._run.started_at

    def _ties(self, readings: Sequence[Reading]) -> dict[str, SourceTies]:
        ids = {reading.source: self._known.planned[reading.source].id for reading in readings}
        if all(reading.ties is None for reading in readings):
            return {source: SourceTies() for source in ids.values() if source in self._known.tied}
        read_with = reading_of({ids[reading.source]: reading.content for reading in readings})
        return {ids[reading.source]: SourceTies(read_with, reading.ties or b"") for reading in readings}

    def _together(self, readings: Sequence[Reading], growths: Mapping[Source, Growth]) -> ReadTogether:
        planned = {reading.source: self._known.planned[reading.source] for reading in readings}
        since = {
            planned[source].name: _NEVER if growth is Growth.UNKNOWN else self._since(planned[source], growth)
            for source, growth in growths.items()
        }
        holds_all = all(_holds_all(planned[source], growth) for source, growth in growths.items())
        again = {label for reading in readings if planned[reading.source].replaces for label in reading.labels}
        return ReadTogether(since, again if holds_all else ())


def _holds_all(planned: Planned, growth: Growth) -> bool:
    """Whether a source that is read with one to be replaced lets it: nothing of it is lost in this very run."""
    if growth is Growth.GROWN:
        return planned.replaces or not planned.state.must_be_read
    return growth is Growth.NEW


def _status(planned: Planned, failure: str) -> Status:
    if failure:
        return Status.FAILED
    if not planned.state.must_be_read:
        return Status.SKIPPED
    return Status.UPSERTED if planned.is_known else Status.IMPORTED
