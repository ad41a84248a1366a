"""All that one audit says, whatever form it is written in."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from aix.health import Status
from aix.output import ListingColumn
from aix.permissions.audit.finding import Finding, Severity, State

REPORT_VERSION = 1
"""Goes up when a program that reads the JSON form has to change."""


class LedgerState(msgspec.Struct, frozen=True):
    """Which rows were looked at."""

    version: int
    last_run_id: str | None = None
    last_run_at: int | None = None


class Check(msgspec.Struct, frozen=True):
    """Outcome of one audit query."""

    name: str
    title: str
    question: str
    why: str
    caveats: tuple[str, ...]
    status: Status
    rows: dict[str, int]
    """How many rows have each status."""
    skipped: tuple[str, ...] = ()
    """Why rows were skipped, each reason once, whatever numbers it holds."""


class Notice(msgspec.Struct, frozen=True):
    """A row that says `info`."""

    rule: str
    title: str
    resource: str
    message: str


class Inventory(msgspec.Struct, frozen=True):
    """The rows of a query that judges nothing."""

    name: str
    title: str
    question: str
    columns: tuple[ListingColumn, ...]
    rows: Sequence[Sequence[object]]
    """The first of them, where there are many."""
    is_whole: bool


class Report(msgspec.Struct, frozen=True):
    """One audit of one version of a ledger."""

    aix_version: str
    ledger: LedgerState
    pack: str
    filters: dict[str, str]
    settings: tuple[str, ...]
    checks: tuple[Check, ...]
    findings: tuple[Finding, ...]
    notices: tuple[Notice, ...]
    inventories: tuple[Inventory, ...]
    risks: str | None = None
    """The file of risks that was added to those that AIX knows."""
    skipped: frozenset[tuple[str, str]] = frozenset()
    """Rule and resource of every row that was skipped."""
    baseline: str | None = None
    resolved: tuple[Finding, ...] = ()
    unchecked: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    """Remarks for the reader about the whole report, each a sentence."""

    def of_severity(self, severity: Severity) -> list[Finding]:
        """Return the findings of that severity, in their order."""
        return [finding for finding in self.findings if finding.severity is severity]

    def counts(self) -> dict[str, int]:
        """Count findings by severity, checks by status, and what became of findings since the baseline."""
        by_severity = Counter(finding.severity for finding in self.findings)
        by_status = Counter(check.status for check in self.checks)
        by_state = Counter(finding.state for finding in self.findings)
        return {
            "findings": len(self.findings),
            **{str(severity): by_severity[severity] for severity in Severity},
            "new": by_state[State.NEW],
            "open": by_state[State.OPEN],
            "resolved": len(self.resolved),
            "unchecked": len(self.unchecked),
            **{f"checks_{status}": by_status[status] for status in Status},
        }

    def reaches(self, least: Severity) -> bool:
        """Whether there is a finding at least that severe; with a baseline, one that is new."""
        failing = [finding for finding in self.findings if self.baseline is None or finding.state is State.NEW]
        return any(finding.severity.rank <= least.rank for finding in failing)
