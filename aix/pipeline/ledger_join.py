"""Joining other ledgers, and reporting what in them contradicts the rows that are there."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aix.merge.ledger_merge import Version, count_new_rows, find_contradictions, join_ledger
from aix.paths import check_ledger_path
from aix.pipeline.report import Outcome, Report, Status, Watcher
from aix.prices.table import PriceTable
from aix.reading.summary import note_summary
from aix.store.manifest import EMPTY, PRICE_TABLES, Manifest, count_rows, is_ledger, read_latest

if TYPE_CHECKING:
    from aix.pipeline.run import Settings

_IMPORTER = "ledger"
"""Stands in an outcome where other sources have the name of their importer."""


def join_ledgers(ledger: Path, others: Sequence[Path], settings: "Settings", watcher: Watcher) -> Report:
    """Join other ledgers into this one, each after its rows were compared with those that are there.

    With `strict`, nothing of a ledger is joined that contradicts a row; with `dry_run`, nothing of any.
    """
    started = time.monotonic()
    prices, personas = PriceTable(settings.prices), settings.persona_book()
    prices.check()
    report = Report()
    report.before = report.after = read_latest(ledger) if is_ledger(ledger) else None
    own = [] if report.before is None else [Version(ledger, report.before)]
    for other in others:
        theirs = Version(other, read_latest(check_ledger_path(other)))
        found = find_contradictions(own, theirs) if own else []
        report.contradictions += found
        for contradiction in found:
            watcher.contradict(contradiction)
        rows = sum(contradiction.rows for contradiction in found)
        if rows and settings.strict:
            reason = f"it contradicts {rows} {'row' if rows == 1 else 'rows'} of this ledger"
            report.outcomes.append(Outcome(str(other), _IMPORTER, Status.FAILED, reason))
            continue
        report.outcomes.append(Outcome(str(other), _IMPORTER, Status.IMPORTED))
        if settings.dry_run:
            for name, count in count_new_rows(own, theirs).items():
                report.new_rows[name] = report.new_rows.get(name, 0) + count
            own.append(theirs)
            continue
        report.after = join_ledger(ledger, other, keep_raw=settings.keep_raw, prices=prices, personas=personas)
        own = [Version(ledger, report.after)]
    if report.after is not None and not settings.dry_run:
        report.new_rows = _gained(report.before, report.after)
        note_summary(ledger)
    report.seconds = time.monotonic() - started
    return report


def _gained(before: Manifest | None, after: Manifest) -> dict[str, int]:
    return {
        name: count_rows(after, name) - count_rows(before or EMPTY, name)
        for name in after.tables
        if name not in PRICE_TABLES
    }
