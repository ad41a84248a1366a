"""All that one audit says, and the changes since an earlier report."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from aix.errors import ReportFileError
from aix.health import Status
from aix.output import ListingColumn
from aix.output.humanise import counted
from aix.permissions.audit import Severity
from aix.permissions.audit.findings import Finding, State

REPORT_VERSION = 1
"""Goes up when a program that reads the JSON form has to change."""


class LedgerState(msgspec.Struct, frozen=True):
    """The version of the ledger that the audit read, and its last import."""

    version: int
    last_run_id: str | None = None
    last_run_at: int | None = None
    sessions: int | None = None
    """Sessions that were looked at, without subagents; None where that was not counted."""
    data_until: int | None = None
    """When the newest turn of them began, in Unix ms."""
    subagents: int = 0
    """Sessions that other sessions spawned, which were looked at as well."""


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
    remedy: str = ""
    """The advice for findings of it."""
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
    names: dict[str, str] = {}
    """Short names of the sessions and calls of findings, as other commands take them."""
    other_packs: tuple[str, ...] = ()
    """Packs whose audits have something to judge in this ledger, too."""
    missing_tables: tuple[str, ...] = ()
    """The tables without which no check can find anything, where the ledger has no rows of them."""

    @property
    def incomplete(self) -> list[Check]:
        """The checks that could not judge everything."""
        return [check for check in self.checks if check.rows.get(Status.SKIP)]

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
            "checks_incomplete": len(self.incomplete),
        }

    def at_least(self, least: Severity) -> "Report":
        """Return the report without the findings that are less severe, which a note counts."""

        def severe(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
            return tuple(each for each in findings if each.severity.rank <= least.rank)

        found = severe(self.findings)
        hidden = len(self.findings) - len(found)
        notes = [f"Not shown: {counted(hidden, 'finding')} below {least} severity."] if hidden else []
        return msgspec.structs.replace(
            self,
            findings=found,
            resolved=severe(self.resolved),
            unchecked=severe(self.unchecked),
            filters={**self.filters, "severity": str(least)},
            notes=(*self.notes, *notes),
        )

    def reaches(self, least: Severity) -> bool:
        """Whether there is a finding at least that severe; with a baseline, one that is new."""
        failing = [finding for finding in self.findings if self.baseline is None or finding.state is State.NEW]
        return any(finding.severity.rank <= least.rank for finding in failing)


class _Version(msgspec.Struct):
    report_version: int


class _Stored(msgspec.Struct):
    pack: str
    filters: dict[str, str]
    settings: tuple[str, ...]
    findings: tuple[Finding, ...]
    risks: str | None = None
    unchecked: tuple[Finding, ...] = ()
    """Findings where that run did not look; they are still known."""


def compare(report: Report, path: Path) -> Report:
    """Say of each finding whether it is new, and which of the baseline's are gone.

    A finding of the baseline is resolved only where this run looked: with the same pack, filters, settings and risks,
    by a query that is still there and did not skip its resource.
    """
    stored = _stored_report(path)
    known = {finding.id: finding for finding in (*stored.unchecked, *stored.findings)}
    ids = {finding.id for finding in report.findings}
    gone = [finding for finding in known.values() if finding.id not in ids]
    differing = _differing(report, stored)
    is_looked_at = {finding.id: not differing and _looks_at(report, finding) for finding in gone}
    notes = (
        [f"The baseline was made with other {' and '.join(differing)}, so no finding of it counts as resolved."]
        if differing
        else []
    )
    return msgspec.structs.replace(
        report,
        baseline=str(path),
        findings=tuple(
            msgspec.structs.replace(finding, state=_state(finding, known.get(finding.id)))
            for finding in report.findings
        ),
        resolved=_with_state([finding for finding in gone if is_looked_at[finding.id]], State.RESOLVED),
        unchecked=_with_state([finding for finding in gone if not is_looked_at[finding.id]], State.UNCHECKED),
        notes=(*report.notes, *notes),
    )


def _stored_report(path: Path) -> _Stored:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ReportFileError(path, f"cannot be read: {error.strerror or error}") from error
    try:
        version = msgspec.json.decode(content, type=_Version).report_version
        if version != REPORT_VERSION:
            raise ReportFileError(path, f"has report version {version}; this AIX compares with {REPORT_VERSION}")
        return msgspec.json.decode(content, type=_Stored)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ReportFileError(path, f"is no report of an audit: {error}") from error


def _differing(report: Report, stored: _Stored) -> list[str]:
    same = {
        "pack": report.pack == stored.pack,
        "filters": report.filters == stored.filters,
        "settings": report.settings == stored.settings,
        "risks": report.risks == stored.risks,
    }
    return [what for what, is_same in same.items() if not is_same]


def _looks_at(report: Report, finding: Finding) -> bool:
    status = next((check.status for check in report.checks if check.name == finding.rule), Status.SKIP)
    return status is not Status.SKIP and (finding.rule, finding.resource) not in report.skipped


def _state(finding: Finding, before: Finding | None) -> State:
    return State.NEW if before is None or finding.severity.rank < before.severity.rank else State.OPEN


def _with_state(findings: list[Finding], state: State) -> tuple[Finding, ...]:
    changed = (msgspec.structs.replace(finding, state=state) for finding in findings)
    return tuple(sorted(changed, key=lambda finding: finding.order))
