"""The import run: discover, compare with what is known, read what has changed, commit.

    report = import_histories(Path("ledger"), [Path("logs")])

Until something has to be read, nothing heavy is imported: a run that finds no change is over in a moment.
"""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aix.ids import ulid
from aix.importing.contract import Importer, readable
from aix.importing.discovery import Discovery, Refusal, Refused, discover, discover_by_default
from aix.importing.plan import Planned, make_plan, source_id
from aix.importing.registry import Options, load_importers
from aix.importing.report import Outcome, Report, Status
from aix.importing.touched import note_touched, with_touched
from aix.ledger.fingerprints import Fingerprint, Fingerprints, read_fingerprints
from aix.ledger.manifest import is_ledger, read_latest


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How to run."""

    jobs: int | None = None
    """Worker processes: one per processor unless said otherwise; 0 reads in this process."""
    strict: bool = False
    """Whether a source with any problem fails as a whole."""
    dry_run: bool = False
    reparse: bool = False
    """Whether to read everything again, and replace what it gave before."""
    keep_raw: bool = False
    machine: str | None = None
    importer: str | None = None
    """The only importer to use."""
    options: Options = field(default_factory=dict)
    argv: Sequence[str] = ()


@dataclass(frozen=True)
class Survey:
    """What was found, and how each source stands to what the ledger knows."""

    found: Discovery
    known: Fingerprints
    plan: list[Planned]


class Watcher:
    """Hears how a run goes on; this one does nothing with it."""

    def begin(self, sources: int, size_bytes: int) -> None:
        """So much has to be read."""

    def advance(self, outcome: Outcome) -> None:
        """One source has been read."""


def survey(ledger: Path, places: Sequence[Path] | None, settings: Settings) -> Survey:
    """Find sources in these places, or where the tools keep their logs, and compare them with what is known."""
    importers, broken = load_importers(settings.options, settings.importer)
    known: dict[str, Fingerprint] = {}
    if is_ledger(ledger):
        known = with_touched(ledger, read_fingerprints(ledger, read_latest(ledger)))
    found = _discover(places, importers, known, settings.machine)
    found.refusals[:0] = [Refusal(f"importer {each.name}", Refused.CRASH, each.problem) for each in broken]
    return Survey(found, known, make_plan(found, known, machine=settings.machine, reparse=settings.reparse))


def import_histories(
    ledger: Path,
    places: Sequence[Path] | None = None,
    settings: Settings | None = None,
    watcher: Watcher | None = None,
) -> Report:
    """Import what is new or has changed in these places, or where the tools keep their logs."""
    settings, watcher = settings or Settings(), watcher or Watcher()
    started = time.monotonic()
    started_at = time.time_ns() // 10**6
    surveyed = survey(ledger, places, settings)
    report = Report(refusals=surveyed.found.refusals, empty_places=surveyed.found.empty_places)
    report.before = report.after = read_latest(ledger) if is_ledger(ledger) else None
    _note_unread(surveyed, settings, report)
    to_read = [each for each in surveyed.plan if each.state.must_be_read]
    if not settings.dry_run:
        note_touched(ledger, surveyed.plan, surveyed.known)
        if to_read:
            watcher.begin(len(to_read), sum(each.size_bytes for each in to_read))
            _read(ledger, surveyed, settings, started_at, _teller(report, watcher))
            report.after = read_latest(ledger) if is_ledger(ledger) else None
    report.seconds = time.monotonic() - started
    return report


def _teller(report: Report, watcher: Watcher) -> Callable[[Outcome], None]:
    def tell(outcome: Outcome) -> None:
        if outcome.status is not Status.SKIPPED:  # read only for the sake of its group: reported already
            report.outcomes.append(outcome)
            watcher.advance(outcome)

    return tell


def _discover(
    places: Sequence[Path] | None, importers: Sequence[Importer], known: Fingerprints, machine: str | None
) -> Discovery:
    prefix = f"{machine}:" if machine else ""

    def owner(path: str, stamp: str) -> str | None:
        entry = known.get(source_id(prefix + readable(path))) if known else None
        is_same = entry is not None and entry.stamps[:1] == (stamp,) and not entry.failure
        return entry.importer if entry is not None and is_same else None

    if places is None:
        return discover_by_default(importers, owner)
    return discover([str(place.absolute()) for place in places], importers, owner)


def _note_unread(surveyed: Survey, settings: Settings, report: Report) -> None:
    for each in surveyed.plan:
        name, importer = each.name, each.claim.importer.name
        if not each.state.must_be_read:
            report.outcomes.append(Outcome(name, importer, Status.SKIPPED, "unchanged"))
        elif settings.dry_run:
            status = Status.UPSERTED if each.is_known else Status.IMPORTED
            report.outcomes.append(Outcome(name, importer, status, str(each.state), size_bytes=each.size_bytes))
    for refusal in surveyed.found.refusals:
        if not refusal.kind.is_failure:
            report.outcomes.append(Outcome(refusal.path, "", Status.SKIPPED, refusal.reason))


def _read(ledger: Path, surveyed: Survey, settings: Settings, started_at: int, tell: Callable[[Outcome], None]) -> None:
    import platform
    from uuid import uuid4

    from aix.importing.batch import Manner, carry_out_plan
    from aix.importing.bookkeeping import Run

    run = Run(ulid("run", uuid4().hex), started_at, settings.argv, settings.machine, platform.node() or None)
    jobs = (os.cpu_count() or 1) if settings.jobs is None else settings.jobs
    manner = Manner(jobs, settings.strict, settings.keep_raw)
    carry_out_plan(ledger, surveyed.plan, surveyed.known, run, manner, tell)
