"""An audit as one HTML file that runs nothing and loads nothing; all text is escaped, acting characters are shown."""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo
from html import escape
from itertools import islice

from aix.output.humanise import displayed
from aix.output.text import escape_unsafe, to_cell
from aix.permissions.audit.finding import Finding, Severity
from aix.permissions.audit.markdown import ROWS_SHOWN
from aix.permissions.audit.report import Inventory, Report
from aix.permissions.audit.wording import INFERRED, changes, details, place, skipped, subject, summary

_STYLE = """
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
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_POLICY = f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'"


def html_lines(report: Report, zone: tzinfo) -> Iterator[str]:
    """Give the audit line by line."""
    yield "<!DOCTYPE html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>Audit</title><style>{_STYLE}</style></head><body>"
    yield "<h1>Audit</h1>"
    yield _paragraph(subject(report, zone))
    yield f"<p><strong>{_text(summary(report))}</strong></p>"
    for line in (changes(report), *report.notes):
        if line:
            yield _paragraph(line)
    for severity in Severity:
        yield from _findings(f"{severity.capitalize()} severity", report.of_severity(severity), zone)
    yield from _findings("Resolved", report.resolved, zone)
    yield from _findings("Not checked", report.unchecked, zone)
    notices = [(each.title, each.resource, each.message) for each in report.notices]
    yield from _section("To note", ("check", "resource", "reason"), notices[:ROWS_SHOWN])
    if len(notices) > ROWS_SHOWN:
        yield _paragraph(f"{ROWS_SHOWN} of {len(notices)}; the JSON form has all.")
    yield from _section("Skipped", ("check", "rows", "reason"), list(skipped(report)))
    checks = [(each.title, str(each.status), each.question) for each in report.checks]
    yield from _section("Checks", ("check", "status", "question"), checks)
    for inventory in report.inventories:
        yield from _inventory(inventory, zone)
    yield "</body></html>"


def _findings(title: str, findings: Sequence[Finding], zone: tzinfo) -> Iterator[str]:
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


def _inventory(inventory: Inventory, zone: tzinfo) -> Iterator[str]:
    listing = displayed(inventory.columns, islice(inventory.rows, ROWS_SHOWN), zone)
    yield f"<h2>{_text(inventory.title)}</h2>"
    yield _paragraph(inventory.question)
    names = [column.name for column in listing.columns]
    yield from _table(names, listing.rows, [column.is_number for column in listing.columns])
    if len(inventory.rows) > ROWS_SHOWN:
        yield _paragraph(f"These are the first {ROWS_SHOWN} rows; aix query {inventory.name} has all.")


def _section(title: str, names: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
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
