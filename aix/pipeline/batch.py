"""Sources that were read and are not committed yet."""

import shutil
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from aix.derived.derived_data import DerivedData
from aix.errors import WorkerDiedError
from aix.merge.combine_batches import Part, gather
from aix.merge.merge_rows import Addition
from aix.merge.replacement import ProblemsNotedAgain, SessionsGivenAgain
from aix.pipeline.import_log import Run, write_bookkeeping
from aix.pipeline.read_outcomes import Known, Settled, Settlement
from aix.pipeline.report import Outcome
from aix.pipeline.worker_messages import Began, Delivered, Group, GroupRead, Order, Reading
from aix.prices.table import PriceTable
from aix.store.commit import Change, commit
from aix.store.source_ties import SourceTies

Event = Began | GroupRead | Delivered | WorkerDiedError

_EARLY_DEATHS = 3
"""Workers that may die before they begin; when there are more, something is wrong with starting them."""


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
    ) -> None:
        self._ledger = ledger
        self._folders = folders
        self._run = run
        self._known = known
        self._derived = DerivedData(prices, has_catalog=False)
        self._settlement = Settlement(run, known, record)
        self._at: dict[Path, int] = {}
        """By the folder of an order: which group a worker is at."""
        self._read: dict[Path, list[GroupRead]] = {}
        self._has_committed = False
        self._early_deaths = 0
        self._waiting: list[Settled] = []
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
            case Delivered(rows, problems):
                settled = Settled([files for files in (rows, problems) if files])
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

    def _commit(self, amount: Sequence[Settled], *, is_last: bool, finished: Collection[str]) -> None:
        self._has_committed = True
        entries = [entry for settled in amount for entry in settled.entries]
        finished_at = max(time.time_ns() // 10**6, self._run.started_at) if is_last else None
        notes = write_bookkeeping(next(self._folders), self._run, entries, finished_at)
        parts = [Part(files, settled.left_out) for settled in amount for files in settled.deliveries]
        gathered = next(self._folders)
        rows = gather([*parts, Part(notes)], gathered)
        fingerprints = {source: each for settled in amount for source, each in settled.fingerprints.items()}
        known = {entry.planned.name for entry in entries if entry.planned.is_known}
        together = [each for settled in amount for each in settled.together if not known.isdisjoint(each.since)]
        since = {name: time for settled in amount for name, time in settled.problems_since.items()}
        change = Change(
            leaves=[ProblemsNotedAgain(since), SessionsGivenAgain(together, rows)],
            adds=Addition(rows),
            fingerprints=fingerprints,
            ties={source: each for settled in amount for source, each in settled.ties.items()},
            finished=finished,
            derived=self._derived,
        )
        commit(self._ledger, change)
        self._known.fingerprints.update(fingerprints)
        self._known.committed.update(fingerprints)
        done = (*(part.files for part in parts), notes)
        for folder in {gathered, *(path.parent for files in done for path in files.values())}:
            shutil.rmtree(folder, ignore_errors=True)

    def _put(self, settled: Settled) -> None:
        if settled.entries:
            self._waiting.append(settled)
            self.waiting_bytes += sum(path.stat().st_size for files in settled.deliveries for path in files.values())
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
        settled = Settled()
        parts = self._settlement.settle(group, failed, settled)
        self._put(settled)
        return [*parts, *(group for number, group in enumerate(order.groups) if number != at)]
