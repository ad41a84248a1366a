"""Carrying out a plan: workers read what has changed, and then, together, what turns out to be tied.

Workers go on reading while what was read is committed. A set of tied sources is never committed before it was read as a
whole: where reading shows that a source is tied to others, it waits until all of them were read together. So a run that
dies leaves nothing that a later one would have to put right.

Little is read without worker processes, which take longer to start than to read. Where reading ends the whole process,
a mark stays in its staging folder, and the next run gives these sources to a worker, whose death costs nothing else.
"""

import os
import platform
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import msgspec

from aix.ids import ulid
from aix.personas.persona_book import PersonaBook
from aix.pipeline.connected_sources import ConnectedSources
from aix.pipeline.contract import Importer, Source
from aix.pipeline.extraction import carry_out
from aix.pipeline.freshness import most_bytes
from aix.pipeline.import_log import Run
from aix.pipeline.plan import Planned, State, source_name
from aix.pipeline.read_outcomes import Batch, Event, Known
from aix.pipeline.report import OutcomeRecorder
from aix.pipeline.worker_messages import Began, Group, Order
from aix.prices.table import PriceTable
from aix.schema import TABLES
from aix.store.engine import engine
from aix.store.locks import abandoned_folders, staging_folder
from aix.store.manifest import is_ledger, read_latest
from aix.store.sources import Fingerprints
from aix.store.stored_files import read_note
from aix.store.views import view_select
from aix.workers import map_in_workers

if TYPE_CHECKING:
    from aix.pipeline.run import Settings

_MARK = "reading.json"
_DECODER = msgspec.json.Decoder(set[str])
_LARGE_BYTES = 6 * 2**20
_ORDER_BYTES = 32 * 2**20
_ORDER_GROUPS = 800
_ORDERS_PER_WORKER = 4
"""So that no worker is left with nothing to do while another has much."""
_COMMIT_BYTES = 32 * 2**20
"""How large deliveries may become that wait to be committed, while others are read."""
_ORDERS_AHEAD = 4
"""Orders per worker that are given out before what came of them is looked at."""
_LITTLE_BYTES = 8 * 2**20
"""How much is read in this process sooner than a worker process starts."""
_FEW_SOURCES = 16
"""How many sources of unknown size, such as conversations in a database, count as little."""


def carry_out_plan(
    ledger: Path,
    plan: Sequence[Planned],
    fingerprints: Fingerprints,
    importers: Sequence[Importer],
    started_at: int,
    settings: "Settings",
    prices: PriceTable,
    personas: PersonaBook | None,
    recorder: OutcomeRecorder,
) -> bool:
    """Read what must be read, and commit it; the recorder hears of each source that was read, maybe more than once.

    False says that nothing was done, because what must be read together is more than the settings allow.
    """
    known = Known({each.source: each for each in plan}, dict(fingerprints))
    started_at = max(started_at, _latest_start(ledger) + 1)
    run = Run(ulid("run", uuid4().hex), started_at, settings.argv, settings.machine, platform.node() or None)
    tied = ConnectedSources(ledger, plan, known, importers, run.machine)
    with staging_folder(ledger) as staging:
        folders = (staging / str(number) for number in count())
        groups = tied.first_groups()
        if settings.at_most and not settings.at_most.covers(
            sum(len(group.sources) for group in groups),
            most_bytes(known.planned[source] for group in groups for source in group.sources),
        ):
            return False
        marks = [folder / _MARK for folder in abandoned_folders(ledger)]
        names_by_mark = {mark: read_note(mark, _DECODER.decode) or set() for mark in marks}
        crashed = set().union(*names_by_mark.values())
        read: set[Source] = set()
        batch = Batch(ledger, folders, run, known, recorder.record, prices, personas)
        while True:
            blank = Order((), staging, ledger, run.id, run.machine, settings.strict, settings.keep_raw)
            jobs = _jobs(settings.jobs, groups, known, crashed)
            read.update(source for group in groups for source in group.sources)
            _read_all(batch, tied, groups, blank, folders, jobs)
            left = tied.sets_left(batch.contents, batch.ties)
            again = tied.read_along(left)
            batch.drop(again)
            if not known.committed.isdisjoint(again):
                batch.commit(is_last=True)
                # What a source gave in this round is noted apart from what it gave in the one before.
                started_at = max(time.time_ns() // 10**6, run.started_at + 1)
                run = replace(run, id=ulid("run", uuid4().hex), started_at=started_at)
                batch = Batch(ledger, folders, run, known, recorder.record, prices, personas)
            if not left:
                break
            groups = tied.groups_of(left)
            recorder.expect(sum(len(group.sources) for group in groups), sum(group.size_bytes for group in groups))
        batch.commit(is_last=True, finished=tied.left_undone)
        names_read = {known.planned[source].name for source in read}
        for mark, names in names_by_mark.items():
            if names & names_read:
                mark.unlink(missing_ok=True)
    return True


def _jobs(asked: int | None, groups: Sequence[Group], known: Known, crashed: set[str]) -> int:
    """Return how many worker processes read these groups, given the sources during which an earlier run ended."""
    if asked is not None:
        return asked
    planned = [known.planned[source] for group in groups for source in group.sources]
    of_unknown_size = sum(not each.size_bytes for each in planned)
    is_little = sum(each.size_bytes for each in planned) <= _LITTLE_BYTES and of_unknown_size <= _FEW_SOURCES
    # A source that failed may have ended a worker: it does not get the chance to end this process.
    is_safe = not any(each.state is State.RETRY or each.name in crashed for each in planned)
    return 0 if is_little and is_safe else os.cpu_count() or 1


def _latest_start(ledger: Path) -> int:
    """Return when the last run started: clocks are set back, and those of other machines are ahead.

    What a source gave is told from what others gave by when it was given, so that every run must be later than those
    before it.
    """
    if not is_ledger(ledger):
        return 0
    with engine(ledger) as connection:
        connection.execute(f"create view runs as {view_select(TABLES['import_runs'], ledger, read_latest(ledger))}")
        [(latest,)] = connection.execute("select coalesce(max(started_at), 0) from runs").fetchall()
    return int(latest)


def _read_all(
    batch: Batch, tied: ConnectedSources, groups: Sequence[Group], blank: Order, folders: Iterator[Path], jobs: int
) -> None:
    """Read groups, and commit what was read whenever much of it waits."""

    def order(portion: Iterable[Group]) -> Order:
        return replace(blank, groups=tuple(portion), folder=next(folders))

    orders = [order(portion) for portion in _portions(groups, jobs)]
    while orders:
        rest: list[Order] = []
        with closing(_carry_out_all(orders, jobs)) as events:
            for given, event in events:
                if again := batch.take(given, event):
                    rest.append(order(again))
                if batch.waiting_bytes > _COMMIT_BYTES:
                    batch.drop(tied.hold_back(batch.contents, batch.ties, batch.waiting_sources))
                    batch.commit()
        orders = rest


def _portions(groups: Sequence[Group], workers: int) -> Iterator[list[Group]]:
    """Divide groups into what a worker gets at a time: a large one alone, which goes first, small ones together."""
    small: list[Group] = []
    size = 0
    parts = max(workers, 1) * _ORDERS_PER_WORKER
    most_bytes = min(sum(group.size_bytes for group in groups) // parts, _ORDER_BYTES)
    most_groups = min(len(groups) // parts + 1, _ORDER_GROUPS)
    for group in sorted(groups, key=lambda each: -each.size_bytes if each.size_bytes >= _LARGE_BYTES else 0):
        if group.size_bytes >= _LARGE_BYTES:
            yield [group]
            continue
        if len(small) >= most_groups or (small and size + group.size_bytes > most_bytes):
            yield small
            small, size = [], 0
        small.append(group)
        size += group.size_bytes
    if small:
        yield small


def _carry_out_all(orders: Sequence[Order], jobs: int) -> Generator[tuple[Order, Event], None, None]:
    if jobs:
        workers = min(jobs, len(orders))
        yield from map_in_workers(carry_out, orders, workers, _ORDERS_AHEAD * workers)
    else:
        yield from ((order, event) for order in orders for event in _carry_out_here(order))


def _carry_out_here(order: Order) -> Iterator[Event]:
    """Carry out an order in this process, and mark what is being read; where that cannot be, there is no mark."""
    for event in carry_out(order):
        if isinstance(event, Began):
            names = [source_name(source, order.machine) for source in order.groups[event.number].sources]
            with suppress(OSError):
                (order.folder.parent / _MARK).write_bytes(msgspec.json.encode(names))
        yield event
