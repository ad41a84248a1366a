"""An audit in the forms that people read: text, Markdown and HTML."""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo
from html import escape
from itertools import islice

from aix.health import Status
from aix.output import Listing, ListingColumn
from aix.output.humanise import counted, displayed, local_time, one_line
from aix.output.line_formats import markdown_lines as table_lines
from aix.output.line_formats import prose_line
from aix.output.paragraphs import Paragraph
from aix.output.text import escape_unsafe, to_cell, to_text
from aix.permissions.audit.findings import Evidence, Finding, Severity
from aix.permissions.audit.report import Inventory, Report

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


_COLOURS = {Severity.HIGH: "bold red", Severity.MEDIUM: "bold yellow", Severity.LOW: "bold cyan"}
_LONGEST = 300


def paragraphs(report: Report) -> Iterator[Paragraph]:
    """Give the audit paragraph by paragraph."""
    for severity in Severity:
        found = report.of_severity(severity)
        if found:
            yield Paragraph(f"{severity} ({len(found)})", _COLOURS[severity])
            yield from _finding_paragraphs(found, _COLOURS[severity], with_state=report.baseline is not None)
    for title, gone in (("resolved", report.resolved), ("unchecked", report.unchecked)):
        if gone:
            yield Paragraph(f"{title} ({len(gone)})", "bold green" if title == "resolved" else "bold")
            yield from _finding_paragraphs(gone, "bold", with_state=False)
    for name, share, reason in skipped(report):
        yield Paragraph(f"{name} ({share}): {one_line(reason, _LONGEST)}", "dim", mark="skipped  ")
    for note in report.notes:
        yield Paragraph(note, "dim", mark="note     ")
    if report.baseline is not None:
        yield Paragraph(changes(report))
    yield Paragraph(summary(report), "bold")


def _finding_paragraphs(findings: Iterable[Finding], style: str, *, with_state: bool) -> Iterator[Paragraph]:
    for finding in findings:
        state = f"{finding.state:<4}  " if with_state else ""
        mark = f"  {finding.id}  {state}"
        margin = " " * len(mark)
        yield Paragraph(f"{finding.title}: {one_line(finding.resource, _LONGEST)}", style, mark=mark)
        yield Paragraph(one_line(finding.message, _LONGEST), mark=margin)
        if finding.is_inferred:
            yield Paragraph(INFERRED, mark=margin)
        if place(finding.evidence):
            yield Paragraph(place(finding.evidence), "dim", mark=margin)
    yield Paragraph()


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
        yield from _markdown_findings(f"{severity.capitalize()} severity", report.of_severity(severity), zone)
    yield from _markdown_findings("Resolved", report.resolved, zone)
    yield from _markdown_findings("Not checked", report.unchecked, zone)
    notices = [(each.title, each.resource, each.message) for each in report.notices]
    yield from _markdown_section("To note", ("check", "resource", "reason"), notices[:ROWS_SHOWN])
    if len(notices) > ROWS_SHOWN:
        yield from (f"{ROWS_SHOWN} of {len(notices)}; the JSON form has all.", "")
    yield from _markdown_section("Skipped", ("check", "rows", "reason"), list(skipped(report)))
    checks = [(each.title, str(each.status), each.question) for each in report.checks]
    yield from _markdown_section("Checks", ("check", "status", "question"), checks)
    for inventory in report.inventories:
        yield from _markdown_inventory(inventory, zone)


def _markdown_findings(title: str, findings: Iterable[Finding], zone: tzinfo) -> Iterator[str]:
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
    yield from _markdown_section(title, ("id", "state", "check", "resource", "reason", "evidence", "details"), rows)


def _markdown_inventory(inventory: Inventory, zone: tzinfo) -> Iterator[str]:
    yield from (f"## {prose_line(inventory.title)}", "", prose_line(inventory.question), "")
    yield from table_lines(displayed(inventory.columns, islice(inventory.rows, ROWS_SHOWN), zone))
    yield ""
    if len(inventory.rows) > ROWS_SHOWN:
        yield from (prose_line(f"These are the first {ROWS_SHOWN} rows; aix query {inventory.name} has all."), "")


def _markdown_section(title: str, names: tuple[str, ...], rows: Sequence[tuple[str | None, ...]]) -> Iterator[str]:
    if rows:
        yield from (f"## {title}", "")
        yield from table_lines(Listing(tuple(map(ListingColumn, names)), rows))
        yield ""


_STYLE_SHEET = """
:root { color-scheme: light dark; --line: #8886; --high: #c62828; --medium: #b26a00; --low: #00708a; }
@media (prefers-color-scheme: dark) { :root { --high: #ff8a80; --medium: #ffcc80; --low: #80deea; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
article { border: 1px solid var(--line); border-left-width: 6px; border-radius: 4px; }
article { padding: .2rem 1rem; margin: 1rem 0; }
.high { border-left-color: var(--high); } .medium { border-left-color: var(--medium); }
.low { border-left-color: var(--low); }
h2 { margin-top: 2.5rem; } h3 { margin: .6rem 0 .2rem; } p { margin: .4rem 0; }
code { font-family: ui-monospace, monospace; overflow-wrap: anywhere; white-space: pre-wrap; }
small { opacity: .75; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .5rem; text-align: left; vertical-align: top; }
td { overflow-wrap: anywhere; } .number { text-align: right; white-space: nowrap; }
@media print { body { max-width: none; margin: 0; font-size: 10pt; } article, tr { break-inside: avoid; } }
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE_SHEET.encode()).digest()).decode()
_POLICY = f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'"


def html_lines(report: Report, zone: tzinfo) -> Iterator[str]:
    """Give the audit line by line."""
    yield "<!DOCTYPE html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>Audit</title><style>{_STYLE_SHEET}</style></head><body>"
    yield "<h1>Audit</h1>"
    yield _paragraph(subject(report, zone))
    yield f"<p><strong>{_text(summary(report))}</strong></p>"
    for line in (changes(report), *report.notes):
        if line:
            yield _paragraph(line)
    for severity in Severity:
        yield from _html_findings(f"{severity.capitalize()} severity", report.of_severity(severity), zone)
    yield from _html_findings("Resolved", report.resolved, zone)
    yield from _html_findings("Not checked", report.unchecked, zone)
    notices = [(each.title, each.resource, each.message) for each in report.notices]
    yield from _html_section("To note", ("check", "resource", "reason"), notices[:ROWS_SHOWN])
    if len(notices) > ROWS_SHOWN:
        yield _paragraph(f"{ROWS_SHOWN} of {len(notices)}; the JSON form has all.")
    yield from _html_section("Skipped", ("check", "rows", "reason"), list(skipped(report)))
    checks = [(each.title, str(each.status), each.question) for each in report.checks]
    yield from _html_section("Checks", ("check", "status", "question"), checks)
    for inventory in report.inventories:
        yield from _html_inventory(inventory, zone)
    yield "</body></html>"


def _html_findings(title: str, findings: Sequence[Finding], zone: tzinfo) -> Iterator[str]:
    if findings:
        yield f"<h2>{title} ({len(findings)})</h2>"
    for finding in findings:
        yield f'<article class="{finding.severity}">'
        yield f"<h3>{_text(finding.title)}</h3>"
        yield f"<p><code>{_text(finding.resource)}</code></p>"
        yield _paragraph(finding.message)
        if finding.is_inferred:
            yield _paragraph(INFERRED)
        if place(finding.evidence):
            yield f"<p><small>{_text(place(finding.evidence))}</small></p>"
        shown = [f"{name} {value}" for name, value in details(finding, zone)]
        yield f"<p><small>{_text(' · '.join([finding.id, finding.state, finding.rule, *shown]))}</small></p>"
        yield "</article>"


def _html_inventory(inventory: Inventory, zone: tzinfo) -> Iterator[str]:
    listing = displayed(inventory.columns, islice(inventory.rows, ROWS_SHOWN), zone)
    yield f"<h2>{_text(inventory.title)}</h2>"
    yield _paragraph(inventory.question)
    names = [column.name for column in listing.columns]
    yield from _table(names, listing.rows, [column.is_number for column in listing.columns])
    if len(inventory.rows) > ROWS_SHOWN:
        yield _paragraph(f"These are the first {ROWS_SHOWN} rows; aix query {inventory.name} has all.")


def _html_section(title: str, names: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    if rows:
        yield f"<h2>{title}</h2>"
        yield from _table(names, rows, [False] * len(names))


def _table(names: Sequence[str], rows: Iterable[Sequence[object]], are_numbers: Sequence[bool]) -> Iterator[str]:
    yield "<table><thead><tr>" + "".join(f"<th>{_text(name)}</th>" for name in names) + "</tr></thead><tbody>"
    for row in rows:
        cells = zip(row, are_numbers, strict=True)
        yield f"<tr>{''.join(_cell(value, is_number=is_number) for value, is_number in cells)}</tr>"
    yield "</tbody></table>"


def _cell(value: object, *, is_number: bool) -> str:
    attribute = ' class="number"' if is_number else ""
    return f"<td{attribute}>{_text(to_cell(value))}</td>"


def _paragraph(text: str) -> str:
    return f"<p>{_text(text)}</p>"


def _text(text: str) -> str:
    return escape(escape_unsafe(text))
