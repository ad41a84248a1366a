"""Carrying out a plan: workers read, and what they deliver is committed, a bounded amount at a time."""

import shutil
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import msgspec

from aix.errors import WorkerDiedError
from aix.importing.bookkeeping import Entry, Run, write_bookkeeping
from aix.importing.contract import Source
from aix.importing.extraction import carry_out
from aix.importing.orders import Began, Delivered, Group, GroupRead, Order, Reading
from aix.importing.plan import Planned, version_of
from aix.importing.report import Outcome, Status
from aix.ledger.addition import Preparation, add
from aix.ledger.delivery import Files
from aix.ledger.fingerprints import Fingerprint, Fingerprints
from aix.ledger.replacement import replacement
from aix.ledger.staging import staging_folder
from aix.workers import map_in_workers

Event = Began | GroupRead | Delivered | WorkerDiedError

_LARGE_BYTES = 4 * 2**20
_ORDER_BYTES = 8 * 2**20
_ORDER_GROUPS = 400
_COMMIT_BYTES = 96 * 2**20
_COMMIT_DELIVERIES = 24
"""Every file that a commit joins needs memory of its own while DuckDB reads them side by side."""
_EARLY_DEATHS = 3
"""Workers that may die before they begin; when there are more, something is wrong with starting them."""


@dataclass(frozen=True)
class Manner:
    """How sources are read."""

    jobs: int
    """Worker processes; 0 reads in this process, which is easier to debug and saves the start of others."""
    strict: bool = False
    keep_raw: bool = False


def carry_out_plan(
    ledger: Path,
    plan: Sequence[Planned],
    known: Fingerprints,
    run: Run,
    manner: Manner,
    tell: Callable[[Outcome], None],
) -> None:
    """Read what must be read, and commit it; `tell` hears of each source that was read."""
    with staging_folder(ledger) as staging:
        folders = (staging / str(number) for number in count())
        batch = _Batch(ledger, folders, plan, known, run, tell)

        def order(groups: Iterable[Group]) -> Order:
            return Order(tuple(groups), next(folders), ledger, run.id, run.machine, manner.strict, manner.keep_raw)

        orders = [order(groups) for groups in _portions(_groups(plan))]
        while orders:
            left_over: list[Order] = []
            with closing(_carry_out_all(orders, manner.jobs)) as events:
                for given, event in events:
                    rest = batch.take(given, event)
                    if rest:
                        left_over.append(order(rest))
            orders = left_over
        batch.commit(is_last=True)


def _carry_out_all(orders: Sequence[Order], jobs: int) -> Generator[tuple[Order, Event], None, None]:
    if jobs:
        yield from map_in_workers(carry_out, orders, min(jobs, len(orders)))
    else:
        yield from ((order, event) for order in orders for event in carry_out(order))


def _groups(plan: Sequence[Planned]) -> list[Group]:
    """Return the groups of which a source must be read; the others of the group are read along."""
    by_name: dict[tuple[str, str], list[Planned]] = {}
    for each in plan:
        importer = each.claim.importer.name
        by_name.setdefault((importer, each.source.group or each.source.name), []).append(each)
    return [
        Group(
            importer,
            dict(members[0].claim.importer.options),
            tuple(each.source for each in members),
            sum(each.size_bytes for each in members),
        )
        for (importer, _), members in by_name.items()
        if any(each.state.must_be_read for each in members)
    ]


def _portions(groups: Sequence[Group]) -> Iterator[list[Group]]:
    """Divide groups into what a worker gets at a time: a large one alone, which goes first, small ones together."""
    small: list[Group] = []
    size = 0
    for group in sorted(groups, key=lambda each: -each.size_bytes if each.size_bytes >= _LARGE_BYTES else 0):
        if group.size_bytes >= _LARGE_BYTES:
            yield [group]
            continue
        if len(small) >= _ORDER_GROUPS or size + group.size_bytes > _ORDER_BYTES:
            yield small
            small, size = [], 0
        small.append(group)
        size += group.size_bytes
    if small:
        yield small


class _Batch:
    """What was read and is not committed yet."""

    def __init__(
        self,
        ledger: Path,
        folders: Iterator[Path],
        plan: Sequence[Planned],
        known: Fingerprints,
        run: Run,
        tell: Callable[[Outcome], None],
    ) -> None:
        self._ledger = ledger
        self._folders = folders
        self._planned: Mapping[Source, Planned] = {each.source: each for each in plan}
        self._known = known
        self._run = run
        self._tell = tell
        self._at: dict[Path, int] = {}
        """By the folder of an order: which group a worker is at."""
        self._read: dict[Path, list[GroupRead]] = {}
        self._entries: list[Entry] = []
        self._has_committed = False
        self._early_deaths = 0
        self._deliveries: list[Files] = []
        self._fingerprints: dict[str, Fingerprint] = {}

    def take(self, order: Order, event: Event) -> list[Group]:
        """Take in what a worker says; returns groups that must be given to another worker."""
        match event:
            case Began(number):
                self._at[order.folder] = number
            case GroupRead():
                self._read.setdefault(order.folder, []).append(event)
            case Delivered(rows, problems):
                readings = [reading for group in self._read.pop(order.folder) for reading in group.readings]
                news = [reading for reading in readings if self._settle(reading)]
                if news:
                    self._deliveries += [files for files in (rows, problems) if files]
                if len(self._deliveries) >= _COMMIT_DELIVERIES or _size(self._deliveries) > _COMMIT_BYTES:
                    self.commit(is_last=False)
            case WorkerDiedError():
                return self._mourn(order, event)
        return []

    def commit(self, *, is_last: bool) -> None:
        """Commit what was read since the last commit."""
        if not self._entries and not (is_last and self._has_committed):
            return
        self._has_committed = True
        finished_at = time.time_ns() // 10**6 if is_last else None
        notes = write_bookkeeping(next(self._folders), self._run, self._entries, finished_at)
        add(self._ledger, [*self._deliveries, notes], self._fingerprints, self._replacement())
        for folder in {path.parent for files in (*self._deliveries, notes) for path in files.values()}:
            shutil.rmtree(folder, ignore_errors=True)
        self._entries, self._deliveries, self._fingerprints = [], [], {}

    def _replacement(self) -> Preparation | None:
        """Return what removes the rows that an earlier reading of outdated sources gave."""
        groups: dict[str, list[Entry]] = {}
        for entry in self._entries:
            groups.setdefault(entry.planned.source.group or entry.planned.name, []).append(entry)
        sources_of = {
            label: {entry.planned.name for entry in entries}
            for entries in groups.values()
            if all(entry.planned.replaces and not entry.reading.failure for entry in entries)
            for label in {label for entry in entries for label in entry.reading.labels}
        }
        return replacement(self._ledger, sources_of) if sources_of else None

    def _mourn(self, order: Order, death: WorkerDiedError) -> list[Group]:
        """The group at which a worker died has failed; those before it must be read again, their rows are lost."""
        self._read.pop(order.folder, None)
        at = self._at.get(order.folder)
        if at is None:
            self._early_deaths += 1
            if self._early_deaths > _EARLY_DEATHS:
                raise death
            return list(order.groups)
        for source in order.groups[at].sources:
            self._settle(Reading(source, self._planned[source].stamps, failure=f"{death} while it was read"))
        return [group for number, group in enumerate(order.groups) if number != at]

    def _settle(self, reading: Reading) -> bool:
        """Note what became of a source, and return whether that is worth a version of the ledger."""
        planned = self._planned[reading.source]
        before = self._known.get(planned.id)
        importer = planned.claim.importer
        status = Status.UPSERTED if planned.is_known else Status.IMPORTED
        if reading.failure:
            status = Status.FAILED
        elif not planned.state.must_be_read:
            status = Status.SKIPPED
        reason = reading.failure or ("" if reading.content else "it changed while it was read")
        if status is Status.SKIPPED:
            reason = "unchanged, and read with its group"
        labels = len(set(reading.labels))
        self._tell(Outcome(planned.name, importer.name, status, reason, labels, reading.problems, planned.size_bytes))
        now = Fingerprint(importer.name, version_of(importer), reading.stamps, reading.content, reading.failure)
        if reading.failure:  # what the ledger has of it is still what the reading before gave
            last = before or msgspec.structs.replace(now, content="")
            now = msgspec.structs.replace(last, stamps=reading.stamps, failure=reading.failure)
        if reading.failure and now == before:
            return False
        self._entries.append(Entry(planned, reading, status))
        self._fingerprints[planned.id] = now
        return True


def _size(deliveries: Sequence[Files]) -> int:
    return sum(path.stat().st_size for files in deliveries for path in files.values())
