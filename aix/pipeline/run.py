"""The import run: discover, compare with what is known, read what has changed, commit.

    report = import_histories(Path("ledger"), [Path("logs")])

Until something has to be read, nothing heavy is imported: a run that finds no change is over in a moment.
"""

import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import msgspec

from aix.derived.cache_key import are_views_kept
from aix.errors import PlaceError
from aix.paths import absolute_path, check_ledger_path
from aix.personas.persona_book import PersonaBook, read_personas
from aix.pipeline.contract import Importer, Source
from aix.pipeline.discovery import (
    Discovery,
    Refusal,
    Refused,
    Walk,
    discover,
    walk_default,
    walk_given,
)
from aix.pipeline.freshness import Amount, cheap_plan, imported_default_places, near_deletion, note_default_places
from aix.pipeline.plan import Planned, make_plan, owner_by, version_of
from aix.pipeline.registry import Options, load_importers
from aix.pipeline.report import Outcome, OutcomeRecorder, Report, Status, Watcher
from aix.pipeline.unchanged_cache import note_quiet, note_touched, recall_quiet, state_of, with_touched
from aix.prices.table import PriceTable
from aix.store.locks import without_waiting
from aix.store.manifest import Manifest, is_ledger, read_latest
from aix.store.sources import Fingerprint, Fingerprints, read_fingerprints


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How to run.

    >>> Settings(jobs=2, strict=True).dry_run
    False
    """

    jobs: int | None = None
    """Worker processes: one per processor unless said otherwise, and none for a few megabytes; 0 reads in this one."""
    strict: bool = False
    """Whether a source with any problem, or a ledger that contradicts this one, fails as a whole."""
    dry_run: bool = False
    reparse: bool = False
    """Whether to read everything again, and replace what it gave before."""
    keep_raw: bool = False
    machine: str | None = None
    importer: str | None = None
    """The only importer to use."""
    options: Options = msgspec.field(default_factory=dict)
    at_most: Amount | None = None
    """Read nothing when more than this has changed, nor while another process writes; `cheap_plan` says what else."""
    prices: Path | None = None
    """The user's own file of prices, which are taken before those that come with AIX."""
    personas: Path | None = None
    """The user's file of personas."""
    keeps_personas: bool = False
    """Whether the ledger keeps its personas where no file is named; else they are removed then."""
    argv: Sequence[str] = ()

    def persona_book(self) -> PersonaBook | None:
        """Read the user's file of personas; None leaves those of the ledger as they are."""
        return None if self.personas is None and self.keeps_personas else read_personas(self.personas)


class Survey(msgspec.Struct, frozen=True):
    """The sources that were found, each compared with the ledger."""

    found: Discovery
    known: Fingerprints
    plan: list[Planned]

    @property
    def count(self) -> int:
        """How many sources there are, and files that look like some and are skipped."""
        return len(self.plan) + sum(not refusal.kind.is_failure for refusal in self.found.refusals)

    @property
    def sessions_by_tool(self) -> dict[str, int]:
        """About how many sessions the sources of each tool hold, by the name that people know the tool by."""
        importers = {each.claim.importer.name: each.claim.importer for each in self.plan}
        sources: dict[str, list[Source]] = {name: [] for name in sorted(importers)}
        for each in self.plan:
            sources[each.claim.importer.name].append(each.source)
        counts = {name: importers[name].count_sessions(found) for name, found in sources.items()}
        return {importers[name].tool or importers[name].origin: count for name, count in counts.items() if count}

    @property
    def is_self_contained(self) -> bool:
        """Whether all files of all sources lie where it was looked."""
        return all(path in self.found.stamps for each in self.plan for path in each.source.files)


def survey(ledger: Path, places: Sequence[Path] | None, settings: Settings) -> Survey:
    """Find sources in these places, or where the tools keep their logs, and compare them with what is known."""
    return _survey(ledger, _go_through(places, settings), settings)


class _Ground(msgspec.Struct, frozen=True):
    """The places of a run, gone through, and the importers that look at them."""

    walks: list[Walk]
    importers: list[Importer]
    refusals: list[Refusal]
    are_given: bool

    def state(self, settings: Settings) -> str | None:
        """Return what stands for everything that the survey of these places depends on."""
        if self.refusals:
            return None
        readers = [f"{importer.name} {version_of(importer)}" for importer in self.importers]
        return state_of(self.walks, [*readers, f"machine {settings.machine}", f"given {self.are_given}"])


def _go_through(places: Sequence[Path] | None, settings: Settings) -> _Ground:
    importers, broken = load_importers(settings.options, settings.importer)
    refusals = [Refusal(f"importer {each.name}", Refused.CRASH, each.problem) for each in broken]
    if places is None:
        walks, crashes = walk_default(importers)
        return _Ground(walks, importers, [*refusals, *crashes], are_given=False)
    walks = walk_given([str(absolute_path(place)) for place in places], importers)
    return _Ground(walks, importers, refusals, are_given=True)


def _survey(ledger: Path, ground: _Ground, settings: Settings) -> Survey:
    known: dict[str, Fingerprint] = {}
    if is_ledger(ledger):
        known = with_touched(ledger, read_fingerprints(ledger, read_latest(ledger).fingerprints))
    found = discover(ground.walks, owner_by(ground.importers, known, settings.machine), are_given=ground.are_given)
    found.refusals[:0] = ground.refusals
    return Survey(found, known, make_plan(found, known, machine=settings.machine, reparse=settings.reparse))


def import_histories(
    ledger: Path,
    places: Sequence[Path] | None = None,
    settings: Settings | None = None,
    watcher: Watcher | None = None,
) -> Report:
    """Import what is new or has changed in these places, or where the tools keep their logs; or join other ledgers."""
    settings, watcher = settings or Settings(), watcher or Watcher()
    check_ledger_path(ledger)
    if others := [place for place in places or () if is_ledger(place)]:
        from aix.pipeline.ledger_join import join_ledgers

        if len(others) < len(places or ()):
            raise PlaceError(str(others[0]), "it is a ledger", "import ledgers and histories one after the other")
        return join_ledgers(ledger, others, settings, watcher)
    started = time.monotonic()
    started_at = time.time_ns() // 10**6
    prices, personas = PriceTable(settings.prices), settings.persona_book()
    ground = _go_through(places, settings)
    report = Report()
    report.before = report.after = read_latest(ledger) if is_ledger(ledger) else None
    if settings.at_most and (
        report.before is None or report.before.unfinished or not _is_up_to_date(report.before, prices, personas)
    ):
        report.needs_full_run = report.before is not None
        report.has_other_personas = report.before is not None and not _has_personas(report.before, personas)
        return report
    state = None if settings.reparse else ground.state(settings)
    quiet = None
    if report.before is None or report.before.prices != prices.digest:
        prices.check()  # before anything is read: what cannot be priced as asked is not imported
    elif state and not report.before.unfinished and _is_up_to_date(report.before, prices, personas):
        quiet = recall_quiet(ledger, report.before.version, state)
    if quiet is None:
        surveyed = _survey(ledger, ground, settings)
        to_read = [each for each in surveyed.plan if each.state.must_be_read]
        report.near_deletion = [] if ground.are_given else near_deletion(ground.walks, to_read)
        is_whole = True
        if settings.at_most:
            cheap = cheap_plan(surveyed.plan, surveyed.known, settings.at_most, imported_default_places(ledger))
            report.waiting, is_whole = cheap.waiting, cheap.is_whole
            surveyed = msgspec.structs.replace(surveyed, plan=cheap.plan)
        _import(ledger, surveyed, ground.importers, settings, prices, personas, started_at, report, watcher)
        is_settled = is_whole and surveyed.is_self_contained and _is_settled(report)
        if state and report.after and is_settled and not settings.dry_run:
            note_quiet(ledger, report.after.version, state, surveyed.count)
    else:
        report.unchanged = quiet
    # The names of sources of another machine are not those that a command looks for.
    if report.after and not (ground.are_given or settings.at_most or settings.dry_run or settings.machine):
        note_default_places(ledger, [importer.name for importer in ground.importers])
    report.seconds = time.monotonic() - started
    return report


def _import(
    ledger: Path,
    surveyed: Survey,
    importers: Sequence[Importer],
    settings: Settings,
    prices: PriceTable,
    personas: PersonaBook | None,
    started_at: int,
    report: Report,
    watcher: Watcher,
) -> None:
    report.refusals, report.empty_places = surveyed.found.refusals, surveyed.found.empty_places
    to_read = [each for each in surveyed.plan if each.state.must_be_read]
    _note_unread(surveyed, settings, report)
    if settings.dry_run:
        return
    note_touched(ledger, surveyed.plan, surveyed.known)
    is_unfinished = report.before is not None and bool(report.before.unfinished)
    if not to_read and not is_unfinished and _is_up_to_date(report.before, prices, personas):
        return
    from aix.derived.catalog import refresh_catalog
    from aix.reading.summary import note_summary
    from aix.store.engine import one_engine
    from aix.thread_pool import map_in_threads

    # A run that must not take long does not wait for other writers.
    with one_engine(ledger), without_waiting(ledger) if settings.at_most else nullcontext(True) as is_free:
        if not is_free:
            report.is_busy = True
            return
        try:
            if to_read or is_unfinished:
                watcher.begin(len(to_read), sum(each.size_bytes for each in to_read))
                from aix.pipeline.scheduler import carry_out_plan

                recorder = OutcomeRecorder(report, watcher)
                if not carry_out_plan(
                    ledger, surveyed.plan, surveyed.known, importers, started_at, settings, prices, personas, recorder
                ):
                    report.waiting += len(to_read)
                    return
            report.after = _renewed(ledger, prices, personas)
        except BaseException:
            refresh_catalog(ledger)
            raise
        # Both follow from the newest version alone, and most of either is done by DuckDB.
        map_in_threads(lambda follow: follow(ledger), (note_summary, refresh_catalog))


def _renewed(ledger: Path, prices: PriceTable, personas: PersonaBook | None) -> Manifest | None:
    """Return the newest version, its prices and kept views renewed where no other commit was there to do it."""
    newest = read_latest(ledger) if is_ledger(ledger) else None
    if _is_up_to_date(newest, prices, personas):
        return newest
    from aix.derived.derived_data import renew

    return renew(ledger, prices, personas, has_catalog=False)


def _is_up_to_date(version: Manifest | None, prices: PriceTable, personas: PersonaBook | None) -> bool:
    """Whether the prices, personas and derived tables of a version are those of this AIX."""
    if version is None:
        return True
    return version.prices == prices.digest and _has_personas(version, personas) and are_views_kept(version)


def _has_personas(version: Manifest, personas: PersonaBook | None) -> bool:
    """Whether a version has the personas of this file; without a file, those that it has are right."""
    return personas is None or version.personas == personas.digest


def _is_settled(report: Report) -> bool:
    """Whether the ledger has everything of what was found, as it was when it was looked at."""
    if report.failures or report.waiting or report.is_busy or (report.after is not None and report.after.unfinished):
        return False
    return not any(outcome.reason for outcome in report.outcomes if outcome.status is not Status.SKIPPED)


def _note_unread(surveyed: Survey, settings: Settings, report: Report) -> None:
    groups_to_read = {each.source.group for each in surveyed.plan if each.source.group and each.state.must_be_read}
    for each in surveyed.plan:
        name, importer = each.name, each.claim.importer.name
        if each.source.group in groups_to_read and not settings.dry_run:
            continue  # it is reported when its group has been read
        if not each.state.must_be_read:
            report.outcomes.append(Outcome(name, importer, Status.SKIPPED, "unchanged"))
        elif settings.dry_run:
            status = Status.UPSERTED if each.is_known else Status.IMPORTED
            report.outcomes.append(Outcome(name, importer, status, str(each.state), size_bytes=each.size_bytes))
    for refusal in surveyed.found.refusals:
        if not refusal.kind.is_failure:
            report.outcomes.append(Outcome(refusal.path, "", Status.SKIPPED, refusal.reason))
