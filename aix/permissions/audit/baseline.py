"""Changes since an earlier run, whose JSON report is the baseline of this one."""

from pathlib import Path

import msgspec

from aix.errors import ReportFileError
from aix.health import Status
from aix.permissions.audit.finding import Finding, State
from aix.permissions.audit.report import REPORT_VERSION, Report


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
    stored = _read(path)
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


def _read(path: Path) -> _Stored:
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
