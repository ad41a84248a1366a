"""The sentences that all forms for people share."""

from collections.abc import Iterator
from datetime import tzinfo

from aix.health import Status
from aix.output import ListingColumn
from aix.output.humanise import counted, displayed, local_time
from aix.output.text import to_text
from aix.permissions.audit.finding import Evidence, Finding, Severity
from aix.permissions.audit.report import Report

INFERRED = "This rests on inference, not on what a log says."


def subject(report: Report, zone: tzinfo) -> str:
    """Say what was looked at."""
    imported = report.ledger.last_run_at
    when = f", last imported into at {local_time(imported, zone)}" if imported is not None else ""
    filters = [
        f"{name} {value}" for name, value in (*report.filters.items(), *(("settings", s) for s in report.settings))
    ]
    only = f"; only {', '.join(filters)}" if filters else ""
    added = f"; with the risks of {report.risks}" if report.risks else ""
    return f"Pack {report.pack} on version {report.ledger.version} of the ledger{when}{only}{added}."


def summary(report: Report) -> str:
    """Count what was found and what was checked."""
    counts = report.counts()
    severities = ", ".join(f"{counts[severity]} {severity}" for severity in Severity if counts[severity])
    found = f"{counted(counts['findings'], 'finding')}{': ' if severities else ''}{severities}"
    checks = [f"{counted(counts[f'checks_{Status.OK}'], 'check')} ok"]
    checks += [f"{counts[f'checks_{Status.INFO}']} to note"] if counts[f"checks_{Status.INFO}"] else []
    checks += [f"{counts[f'checks_{Status.SKIP}']} skipped"] if counts[f"checks_{Status.SKIP}"] else []
    return f"{found}; {', '.join(checks)}."


def changes(report: Report) -> str:
    """Count what became of findings since the baseline; empty without one."""
    if report.baseline is None:
        return ""
    counts = report.counts()
    words = ["new", "open", "resolved", *(["unchecked"] if report.unchecked else [])]
    return f"Since {report.baseline}: {', '.join(f'{counts[word]} {word}' for word in words)}."


def skipped(report: Report) -> Iterator[tuple[str, str, str]]:
    """Give the name of each query that skipped something, how much of its rows that is, and why."""
    for check in report.checks:
        share = f"{check.rows[Status.SKIP]} of {sum(check.rows.values())}"
        for reason in check.skipped:
            yield check.name, share, reason


def place(evidence: Evidence) -> str:
    """Say where a finding shows; empty where nothing is known."""
    names = (("session", evidence.session_label), ("turn", evidence.turn_id), ("call", evidence.call_id))
    parts = [f"{name} {value}" for name, value in names if value]
    files = ((evidence.file, evidence.line), (evidence.settings_file, evidence.settings_line))
    parts += [path if line is None else f"{path}:{line}" for path, line in files if path]
    return ", ".join(parts)


def details(finding: Finding, zone: tzinfo) -> list[tuple[str, str]]:
    """Return the dimensions of a finding by name, written for people; what is NULL is left out."""
    given = {name: value for name, value in finding.details.items() if value is not None}
    columns = tuple(ListingColumn(name, _type(value)) for name, value in given.items())
    [values] = displayed(columns, [tuple(given.values())], zone).rows
    return [(name, to_text(value)) for name, value in zip(given, values, strict=True)]


def _type(value: object) -> str:
    if isinstance(value, bool | str):
        return "VARCHAR"
    return "BIGINT" if isinstance(value, int) else "DOUBLE"
