"""How far a ledger is behind the logs: whether the rest is cheap to import, and which logs their tool deletes soon.

A command that reads the ledger may bring it up to date first. It reads only what costs next to nothing, only what
somebody imported from before, and nothing that a person has to look at.

A note beside the ledger has the importers whose default places were imported as a whole: a new folder there is wanted.
Without the note, which can be deleted at any time, only new sources in folders that are known are.
"""

import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from aix.pipeline.contract import Retention
from aix.pipeline.discovery import Walk
from aix.pipeline.plan import Planned, State
from aix.store.durable import write_note
from aix.store.sources import Fingerprints
from aix.store.stored_files import read_note

_PLACES_FILE = "default_places.json"
_PLACES_DECODER = msgspec.json.Decoder(set[str])
_DAY_NS = 86_400 * 10**9
_DANGEROUS_SHARE = 0.8
"""Of the time that a tool keeps a log: from then on, the log counts as nearly deleted."""


class Amount(msgspec.Struct, frozen=True):
    """A number of sources, and their size."""

    sources: int
    size_bytes: int

    def covers(self, sources: int, size_bytes: int) -> bool:
        """Whether so many sources of that size are not more than this."""
        return sources <= self.sources and size_bytes <= self.size_bytes


class CheapPlan(msgspec.Struct, frozen=True):
    """A plan without the sources that no command imports by itself."""

    plan: list[Planned]
    waiting: int
    """Sources that have changed and are too many or too large, or need another look; the plan leaves them alone."""
    is_whole: bool
    """Whether the plan reads everything that `aix import` would read."""


def note_default_places(ledger: Path, importers: Iterable[str]) -> None:
    """Note that somebody imported everything in the default places of these importers."""
    noted = imported_default_places(ledger)
    if not noted.issuperset(importers):
        write_note(ledger, _PLACES_FILE, msgspec.json.encode(sorted(noted.union(importers))))


def imported_default_places(ledger: Path) -> set[str]:
    """Return the importers whose default places somebody imported as a whole."""
    return read_note(ledger / _PLACES_FILE, _PLACES_DECODER.decode) or set()


def most_bytes(sources: Iterable[Planned]) -> int:
    """Return how much reading these sources can be at most: a conversation in a database can be all of the database."""
    sources = list(sources)
    return sum(each.size_bytes for each in sources) + sum(map(_bytes_of_container, _containers(sources)))


def _containers(sources: Iterable[Planned]) -> set[str]:
    return {each.source.path for each in sources if each.source.stamp}


def _bytes_of_container(path: str) -> int:
    """Return the size of a file and of those beside it that have its name and more, such as a log of writes."""
    folder, name = os.path.split(path)
    with suppress(OSError), os.scandir(folder) as entries:
        return sum(entry.stat().st_size for entry in entries if entry.name.startswith(name))
    return 0


def cheap_plan(plan: Sequence[Planned], known: Fingerprints, most: Amount, whole_places: set[str]) -> CheapPlan:
    """Return a plan that reads what has changed if that is not more than `most`.

    Sources of an importer of which the ledger has none are left alone: nobody asked for them. So are new sources,
    unless `whole_places` has their importer or there are known sources in a folder above them, and sources that
    failed and have not changed since. What has changed in a database that is larger than `most` waits. Where another
    version of an importer is installed, or the importer has other options, all of its sources wait for `aix import`.
    """
    importers = {each.claim.importer.name for each in plan if each.is_known}
    to_read = [each for each in plan if each.state.must_be_read]
    folders = {os.path.dirname(each.source.path) for each in plan if each.is_known}  # noqa: PTH120 - of many sources
    wanted = [
        each
        for each in to_read
        if each.claim.importer.name in importers
        and not _failed_as_it_is(each, known)
        and (each.state is not State.NEW or each.claim.importer.name in whole_places or _is_below(each, folders))
    ]
    large = {path for path in _containers(wanted) if _bytes_of_container(path) > most.size_bytes}
    small = [each for each in wanted if not (each.source.stamp and each.source.path in large)]
    ids = {each.id for each in small}
    groups = {each.source.group for each in small if each.source.group}
    read_along = [each for each in plan if each.id in ids or each.source.group in groups]
    is_cheap = most.covers(len(read_along), most_bytes(read_along))
    if not is_cheap or any(each.state is State.OUTDATED for each in wanted):
        return CheapPlan([], len(wanted), is_whole=False)
    left_alone = [
        each if each.id in ids or not each.state.must_be_read else msgspec.structs.replace(each, state=State.UNCHANGED)
        for each in plan
    ]
    return CheapPlan(left_alone, len(wanted) - len(small), is_whole=len(small) == len(to_read))


def _is_below(planned: Planned, folders: set[str]) -> bool:
    return any(str(folder) in folders for folder in Path(planned.source.path).parents)


def _failed_as_it_is(planned: Planned, known: Fingerprints) -> bool:
    return planned.state is State.RETRY and known[planned.id].stamps == planned.stamps


class NearDeletion(msgspec.Struct, frozen=True):
    """Logs that their tool deletes soon."""

    retention: Retention
    logs: int
    oldest_days: int
    """Whole days since the last change of the one that has not changed for longest."""


def near_deletion(walks: Iterable[Walk], sources: Sequence[Planned]) -> list[NearDeletion]:
    """Return by place the logs among these sources that their tool deletes soon, given where tools keep their logs."""
    found = []
    for walk in walks:
        ages = [age for each in sources if each.source.path in walk.stamps and (age := _age_days(each)) is not None]
        retention = _retention(walk) if ages else None
        if retention is not None:
            old = [age for age in ages if age >= _DANGEROUS_SHARE * retention.days]
            found += [NearDeletion(retention, len(old), int(max(old)))] if old else []
    return found


def _retention(walk: Walk) -> Retention | None:
    """Return how long the logs of a default place are kept; only one importer looks there."""
    try:
        retention = walk.importers[0].retention(Path(walk.place))
    except Exception:  # a plugin may fail in any way, and this is only a hint
        return None
    return retention if isinstance(retention, Retention) and retention.days > 0 else None


def _age_days(planned: Planned) -> float | None:
    """Return the days since a source changed; None when it is not known by the time of a file."""
    if planned.source.stamp or not planned.stamps:
        return None
    changed_ns = int(planned.stamps[0].split(":")[1])
    return max(0.0, (time.time_ns() - changed_ns) / _DAY_NS)
