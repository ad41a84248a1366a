"""An audit as Markdown: text of logs stands in table cells alone, where it can open nothing."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo
from itertools import islice

from aix.output import Listing, ListingColumn
from aix.output.humanise import displayed
from aix.output.line_formats import markdown_lines as table_lines
from aix.output.line_formats import prose_line
from aix.permissions.audit.finding import Finding, Severity
from aix.permissions.audit.report import Inventory, Report
from aix.permissions.audit.wording import INFERRED, changes, details, place, skipped, subject, summary

ROWS_SHOWN = 200
"""Rows without a judgement in a form for people; JSON has more."""


def markdown_lines(report: Report, zone: tzinfo) -> Iterator[str]:
    """Give the audit line by line."""
    yield from ("# Audit", "", prose_line(subject(report, zone)), "", prose_line(summary(report)), "")
    if report.baseline is not None:
        yield from (prose_line(changes(report)), "")
    for note in report.notes:
        yield from (prose_line(note), "")
    for severity in Severity:
        yield from _findings(f"{severity.capitalize()} severity", report.of_severity(severity), zone)
    yield from _findings("Resolved", report.resolved, zone)
    yield from _findings("Not checked", report.unchecked, zone)
    notices = [(each.title, each.resource, each.message) for each in report.notices]
    yield from _section("To note", ("check", "resource", "reason"), notices[:ROWS_SHOWN])
    if len(notices) > ROWS_SHOWN:
        yield from (f"{ROWS_SHOWN} of {len(notices)}; the JSON form has all.", "")
    yield from _section("Skipped", ("check", "rows", "reason"), list(skipped(report)))
    checks = [(each.title, str(each.status), each.question) for each in report.checks]
    yield from _section("Checks", ("check", "status", "question"), checks)
    for inventory in report.inventories:
        yield from _inventory(inventory, zone)


def _findings(title: str, findings: Iterable[Finding], zone: tzinfo) -> Iterator[str]:
    rows = [
        (
            finding.id,
            str(finding.state),
            finding.title,
            finding.resource,
            f"{finding.message} {INFERRED}" if finding.is_inferred else finding.message,
            place(finding.evidence) or None,
            "; ".join(f"{name} {value}" for name, value in details(finding, zone)) or None,
        )
        for finding in findings
    ]
    yield from _section(title, ("id", "state", "check", "resource", "reason", "evidence", "details"), rows)


def _inventory(inventory: Inventory, zone: tzinfo) -> Iterator[str]:
    yield from (f"## {prose_line(inventory.title)}", "", prose_line(inventory.question), "")
    yield from table_lines(displayed(inventory.columns, islice(inventory.rows, ROWS_SHOWN), zone))
    yield ""
    if len(inventory.rows) > ROWS_SHOWN:
        yield from (prose_line(f"These are the first {ROWS_SHOWN} rows; aix query {inventory.name} has all."), "")


def _section(title: str, names: tuple[str, ...], rows: Sequence[tuple[str | None, ...]]) -> Iterator[str]:
    if rows:
        yield from (f"## {title}", "")
        yield from table_lines(Listing(tuple(map(ListingColumn, names)), rows))
        yield ""
