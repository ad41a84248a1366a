"""Outcomes of sources that were read, until they are committed: reports, fingerprints, and the rows that are replaced.

Logs grow at the end. A source that begins with what it held when it was last read has only grown, and what it gives
takes the place of what it gave; one that was rewritten, or cut, no longer has all that its rows were read from. Neither
has one that misses a file it had beside it, or has another in its place.
"""

import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import chain
from pathlib import Path

import msgspec

from aix.derived.derived_data import DerivedData
from aix.errors import WorkerDiedError
from aix.merge.merge_rows import Addition, Part, gather
from aix.merge.replacement import ProblemsNotedAgain, ReadTogether, SessionsGivenAgain
from aix.merge.row_batches import Files
from aix.personas.persona_book import PersonaBook
from aix.pipeline.contract import Source
from aix.pipeline.import_log import Entry, Run, write_bookkeeping
from aix.pipeline.plan import Planned, version_of
from aix.pipeline.report import Outcome, Status
from aix.pipeline.ties import reading_of
from aix.pipeline.worker_messages import Began, Delivered, Group, GroupRead, Order, Reading
from aix.prices.table import PriceTable
from aix.store.commit import Change, commit
from aix.store.sources import Fingerprint, SourceTies

_NEVER = 2**63 - 1
Event = Began | GroupRead | Delivered | WorkerDiedError
_EARLY_DEATHS = 3
"""Workers that may die before they begin; when there are more, something is wrong with starting them."""


class Growth(Enum):
    """How what a source holds stands to what it held."""

    NEW = auto()
    GROWN = auto()
    """It begins with what it held, or holds nothing else."""
    REWRITTEN = auto()
    UNKNOWN = auto()
    """A conversation in a container has changed, and nobody can say how."""


def growth_of(before: Fingerprint | None, reading: Reading, *, is_outdated: bool) -> Growth:
    """Compare a source that was read with its last fingerprint."""
    if before is None or (before.failure and not before.content and before.size_bytes < 0):
        return Growth.NEW
    if reading.main_hash is None or before.size_bytes < 0:
        is_same = before.content == reading.content
        return Growth.GROWN if is_same or is_outdated else Growth.UNKNOWN
    has_all = before.content == reading.content or set(before.stamps[1:]) <= set(reading.stamps[1:])
    return Growth.GROWN if has_all and reading.head_hash == before.main_hash else Growth.REWRITTEN


@dataclass
class _Settled:
    """Rows that wait for a commit, with the fingerprints and ties of their sources."""

    deliveries: list[Files] = field(default_factory=list)
    parts: list[Files] = field(default_factory=list)
    """Further rows, which are joined after those of the deliveries, one after the other."""
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


@dataclass(frozen=True)
class _Settlement:
    """Settles what was read in one run."""

    _run: Run
    _known: Known
    _record: Callable[[Outcome], None]

    def settle(self, group: Group, readings: Sequence[Reading], settled: _Settled) -> tuple[Group, ...]:
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

    def _settle_one(self, reading: Reading, growth: Growth, settled: _Settled) -> bool:
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
        counts = (labels, reading.problems, reading.notes, planned.size_bytes)
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


class Batch:
    """The sources of one run that were read and wait for their commit."""

    def __init__(
        self,
        ledger: Path,
        folders: Iterator[Path],
        run: Run,
        known: Known,
        record: Callable[[Outcome], None],
        prices: PriceTable | None = None,
        personas: PersonaBook | None = None,
    ) -> None:
        self._ledger = ledger
        self._folders = folders
        self._run = run
        self._known = known
        self._derived = DerivedData(prices, personas, has_catalog=False)
        self._settlement = _Settlement(run, known, record)
        self._at: dict[Path, int] = {}
        """By the folder of an order: which group a worker is at."""
        self._read: dict[Path, list[GroupRead]] = {}
        self._has_committed = False
        self._early_deaths = 0
        self._waiting: list[_Settled] = []
        self.waiting_bytes = 0
        """How large the deliveries are that wait to be committed."""
        self.contents: dict[str, str] = {}
        """By id, the hash of what was read of each source."""
        self.ties: dict[str, SourceTies] = {}

    def take(self, order: Order, event: Event) -> Sequence[Group]:
        """Take in what a worker says; returns groups that must be given to another worker."""
        again: list[Group] = []
        match event:
            case Began(number):
                self._at[order.folder] = number
            case GroupRead():
                self._read.setdefault(order.folder, []).append(event)
            case Delivered(rows, problems, parts):
                settled = _Settled([files for files in (rows, problems) if files], list(parts))
                for read in self._read.pop(order.folder):
                    again += self._settlement.settle(order.groups[read.number], read.readings, settled)
                self._put(settled)
            case WorkerDiedError():
                return self._handle_worker_death(order, event)
        return again

    @property
    def waiting_sources(self) -> set[str]:
        """The ids of the sources that wait to be committed."""
        return {source for settled in self._waiting for source in settled.fingerprints}

    def drop(self, ids: Collection[str]) -> None:
        """Let go of what waits of these sources, which will be read again."""
        if ids:
            sources = {each.id: each.name for each in self._known.planned.values() if each.id in ids}
            for settled in self._waiting:
                settled.drop(sources)

    def commit(self, *, is_last: bool = False, finished: Collection[str] = ()) -> None:
        """Commit what waits; the last commit of a run says when it ended, and which unfinished runs are finished."""
        waiting, self._waiting = [settled for settled in self._waiting if settled.entries], []
        self.waiting_bytes = 0
        if waiting or (is_last and self._has_committed):
            self._commit(waiting, is_last=is_last, finished=finished)
        elif finished:
            commit(self._ledger, Change(finished=finished, derived=self._derived))

    def _commit(self, amount: Sequence[_Settled], *, is_last: bool, finished: Collection[str]) -> None:
        self._has_committed = True
        entries = [entry for settled in amount for entry in settled.entries]
        finished_at = max(time.time_ns() // 10**6, self._run.started_at) if is_last else None
        notes = write_bookkeeping(next(self._folders), self._run, entries, finished_at)
        parts = [Part(files, settled.left_out) for settled in amount for files in settled.deliveries]
        gathered = next(self._folders)
        rows = gather([*parts, Part(notes)], gathered)
        later = [Part(files, settled.left_out) for settled in amount for files in settled.parts]
        portions = [gather([part], gathered / f"part-{number}") for number, part in enumerate(later)]
        fingerprints = {source: each for settled in amount for source, each in settled.fingerprints.items()}
        known = {entry.planned.name for entry in entries if entry.planned.is_known}
        together = [each for settled in amount for each in settled.together if not known.isdisjoint(each.since)]
        since = {name: time for settled in amount for name, time in settled.problems_since.items()}
        change = Change(
            leaves=[ProblemsNotedAgain(since), SessionsGivenAgain(together, [*rows, *chain(*portions)])],
            adds=Addition(rows, portions),
            fingerprints=fingerprints,
            ties={source: each for settled in amount for source, each in settled.ties.items()},
            finished=finished,
            derived=self._derived,
        )
        commit(self._ledger, change)
        self._known.fingerprints.update(fingerprints)
        self._known.committed.update(fingerprints)
        done = (*(part.files for part in (*parts, *later)), notes)
        for folder in {gathered, *(path.parent for files in done for path in files.values())}:
            shutil.rmtree(folder, ignore_errors=True)

    def _put(self, settled: _Settled) -> None:
        if settled.entries:
            self._waiting.append(settled)
            self.waiting_bytes += sum(
                path.stat().st_size for files in (*settled.deliveries, *settled.parts) for path in files.values()
            )
            self.ties.update(settled.ties)
            self.contents.update((source, each.content) for source, each in settled.fingerprints.items())

    def _handle_worker_death(self, order: Order, death: WorkerDiedError) -> list[Group]:
        """The group at which a worker died has failed; those before it must be read again, their rows are lost."""
        self._read.pop(order.folder, None)
        at = self._at.get(order.folder)
        if at is None:
            self._early_deaths += 1
            if self._early_deaths > _EARLY_DEATHS:
                raise death
            return list(order.groups)
        group = order.groups[at]
        failed = [
            Reading(source, self._known.planned[source].stamps, failure=f"{death} while it was read")
            for source in group.sources
        ]
        settled = _Settled()
        parts = self._settlement.settle(group, failed, settled)
        self._put(settled)
        return [*parts, *(group for number, group in enumerate(order.groups) if number != at)]
