"""An audit in the forms that people read: text, Markdown and HTML."""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from html import escape
from itertools import islice
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from aix.health import Status
from aix.output import Listing, ListingColumn
from aix.output.formats import markdown_lines as table_lines
from aix.output.formats import prose_line
from aix.output.humanise import counted, displayed, local_time, one_line
from aix.output.paragraphs import Paragraph
from aix.output.text import escape_unsafe, to_cell, to_json, to_text
from aix.permissions.audit import Severity
from aix.permissions.audit.findings import Evidence, Finding, State
from aix.permissions.audit.report import REPORT_VERSION, Check, Inventory, Report

INFERRED = "This rests on inference, not on what a log says."
_COLOURS = {Severity.HIGH: "bold red", Severity.MEDIUM: "bold yellow", Severity.LOW: "bold cyan"}
_LONGEST = 300
_ROWS_SHOWN = 200
"""Rows without a judgement in a form for people; JSON has more."""
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
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.HIGH: "error", Severity.MEDIUM: "warning", Severity.LOW: "note"}
_STATES = {
    State.NEW: "new",
    State.OPEN: "unchanged",
    State.RESOLVED: "absent",
    State.UNCHECKED: "unchanged",  # as far as is known
}
_FINGERPRINT = "aixFindingId/v1"
# What a reader of a message takes for a placeholder, and for the middle of a link.
_BRACE = re.compile("[{}]")
_LINK = re.compile(r"(?<!\\)((?:\\\\)*)\]\(")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


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


class _Table(NamedTuple):
    """A section of a page that is a table."""

    title: str
    names: tuple[str, ...]
    rows: Sequence[tuple[str, str, str]]
    note: str = ""


def _findings(report: Report) -> list[tuple[str, Sequence[Finding]]]:
    """Return the sections of findings that have any, each with its title."""
    by_severity = [(f"{severity.capitalize()} severity", report.of_severity(severity)) for severity in Severity]
    sections = [*by_severity, ("Resolved", report.resolved), ("Not checked", report.unchecked)]
    return [(title, findings) for title, findings in sections if findings]


def _tables(report: Report) -> list[_Table]:
    """Return the other sections that have any rows, but for inventories."""
    notices = [(each.title, each.resource, each.message) for each in report.notices]
    note = f"{_ROWS_SHOWN} of {len(notices)}; the JSON form has all." if len(notices) > _ROWS_SHOWN else ""
    checks = [(each.title, str(each.status), each.question) for each in report.checks]
    tables = (
        _Table("To note", ("check", "resource", "reason"), notices[:_ROWS_SHOWN], note),
        _Table("Skipped", ("check", "rows", "reason"), list(skipped(report))),
        _Table("Checks", ("check", "status", "question"), checks),
    )
    return [table for table in tables if table.rows]


def _listed(inventory: Inventory, zone: tzinfo) -> tuple[Listing, str]:
    """Return the first rows of an inventory, and a sentence where there are more."""
    listing = displayed(inventory.columns, islice(inventory.rows, _ROWS_SHOWN), zone)
    has_more = len(inventory.rows) > _ROWS_SHOWN
    return listing, f"These are the first {_ROWS_SHOWN} rows; aix query {inventory.name} has all." if has_more else ""


def markdown_lines(report: Report, zone: tzinfo) -> Iterator[str]:
    """Give the audit as Markdown: text of logs stands in table cells alone, where it can open nothing."""
    yield from ("# Audit", "")
    for line in (subject(report, zone), summary(report), changes(report), *report.notes):
        if line:
            yield from (prose_line(line), "")
    names = ("id", "state", "check", "resource", "reason", "evidence", "details")
    for title, findings in _findings(report):
        yield from _markdown_table(title, names, [_finding_row(each, zone) for each in findings])
    for table in _tables(report):
        yield from _markdown_table(table.title, table.names, table.rows)
        if table.note:
            yield from (table.note, "")
    for inventory in report.inventories:
        listing, note = _listed(inventory, zone)
        yield from (f"## {prose_line(inventory.title)}", "", prose_line(inventory.question), "")
        yield from (*table_lines(listing), "")
        if note:
            yield from (prose_line(note), "")


def _finding_row(finding: Finding, zone: tzinfo) -> tuple[str | None, ...]:
    return (
        finding.id,
        str(finding.state),
        finding.title,
        finding.resource,
        f"{finding.message} {INFERRED}" if finding.is_inferred else finding.message,
        place(finding.evidence) or None,
        "; ".join(f"{name} {value}" for name, value in details(finding, zone)) or None,
    )


def _markdown_table(title: str, names: tuple[str, ...], rows: Sequence[tuple[str | None, ...]]) -> Iterator[str]:
    yield from (f"## {title}", "", *table_lines(Listing(tuple(map(ListingColumn, names)), rows)), "")


def html_lines(report: Report, zone: tzinfo) -> Iterator[str]:
    """Give the audit as one HTML file that runs and loads nothing; text is escaped, acting characters are shown."""
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
    for title, findings in _findings(report):
        yield f"<h2>{title} ({len(findings)})</h2>"
        for finding in findings:
            yield from _article(finding, zone)
    for table in _tables(report):
        yield f"<h2>{table.title}</h2>"
        yield from _html_table(table.names, table.rows, [False] * len(table.names))
        if table.note:
            yield _paragraph(table.note)
    for inventory in report.inventories:
        listing, note = _listed(inventory, zone)
        yield f"<h2>{_text(inventory.title)}</h2>"
        yield _paragraph(inventory.question)
        columns = listing.columns
        yield from _html_table([each.name for each in columns], listing.rows, [each.is_number for each in columns])
        if note:
            yield _paragraph(note)
    yield "</body></html>"


def _article(finding: Finding, zone: tzinfo) -> Iterator[str]:
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


def _html_table(names: Sequence[str], rows: Iterable[Sequence[object]], are_numbers: Sequence[bool]) -> Iterator[str]:
    yield "<table><thead><tr>" + "".join(f"<th>{_text(name)}</th>" for name in names) + "</tr></thead><tbody>"
    classes = [' class="number"' if is_number else "" for is_number in are_numbers]
    for row in rows:
        cells = zip(row, classes, strict=True)
        yield f"<tr>{''.join(f'<td{kind}>{_text(to_cell(value))}</td>' for value, kind in cells)}</tr>"
    yield "</tbody></table>"


def _paragraph(text: str) -> str:
    return f"<p>{_text(text)}</p>"


def _text(text: str) -> str:
    return escape(escape_unsafe(text))


def json_lines(report: Report) -> Iterator[str]:
    """Give one object, each finding, check and row on a line of its own."""
    scalars = {
        "report_version": REPORT_VERSION,
        "aix_version": report.aix_version,
        "ledger": msgspec.structs.asdict(report.ledger),
        "pack": report.pack,
        "filters": report.filters,
        "settings": report.settings,
        "risks": report.risks,
        "baseline": report.baseline,
        "counts": report.counts(),
        "notes": report.notes,
    }
    lists: dict[str, Sequence[object]] = {
        "findings": [_finding_object(each) for each in report.findings],
        "resolved": [_finding_object(each) for each in report.resolved],
        "unchecked": [_finding_object(each) for each in report.unchecked],
        "notices": [msgspec.structs.asdict(each) for each in report.notices],
        "checks": [msgspec.structs.asdict(each) for each in report.checks],
        "inventories": [_inventory_object(each) for each in report.inventories],
    }
    yield "{"
    for name, value in scalars.items():
        yield f"{to_json(name)}: {to_json(value)},"
    for name, items in lists.items():
        yield f"{to_json(name)}: ["
        for number, item in enumerate(items, start=1):
            yield f"  {to_json(item)}{',' if number < len(items) else ''}"
        yield "]" if name == "inventories" else "],"
    yield "}"


def _finding_object(finding: Finding) -> dict[str, object]:
    return msgspec.structs.asdict(finding) | {"evidence": msgspec.structs.asdict(finding.evidence)}


def _inventory_object(inventory: Inventory) -> dict[str, object]:
    names = [column.name for column in inventory.columns]
    return {
        "name": inventory.name,
        "title": inventory.title,
        "question": inventory.question,
        "is_whole": inventory.is_whole,
        "rows": [dict(zip(names, row, strict=True)) for row in inventory.rows],
    }


def sarif_lines(report: Report) -> Iterator[str]:
    """Give one document, on one line."""
    places = {check.name: number for number, check in enumerate(report.checks)}
    findings = (*report.findings, *report.resolved, *report.unchecked)
    run = {
        "tool": {
            "driver": {"name": "AIX", "version": report.aix_version, "rules": [_rule(each) for each in report.checks]}
        },
        "automationDetails": {"id": f"aix-audit/{report.pack}/"},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": _notifications(report)}],
        "results": [_result(each, places, has_baseline=report.baseline is not None) for each in findings],
        "properties": {"ledgerVersion": report.ledger.version, "filters": _bag(report.filters)},
    }
    yield to_json({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(check: Check) -> dict[str, object]:
    return {
        "id": check.name,
        "shortDescription": {"text": _message(check.title)},
        "fullDescription": {"text": _message(check.question)},
        "help": {"text": _message(" ".join([check.why, *check.caveats]))},
        "properties": {"tags": ["security"]},
    }


def _notifications(report: Report) -> list[dict[str, object]]:
    """Say what was not looked at, so that no finding there is not taken for good news."""
    reasons = [f"{name} ({share}): {reason}" for name, share, reason in skipped(report)]
    return [{"level": "note", "message": {"text": _message(text)}} for text in (*reasons, *report.notes)]


def _result(finding: Finding, places: Mapping[str, int], *, has_baseline: bool) -> dict[str, object]:
    text = f"{finding.message} {INFERRED}" if finding.is_inferred else finding.message
    evidence = finding.evidence
    log = _physical(evidence.file, evidence.line)
    settings = _physical(evidence.settings_file, evidence.settings_line)
    named = {
        "resource": finding.resource,
        "isInferred": finding.is_inferred,
        "sessionLabel": evidence.session_label,
        "turnId": evidence.turn_id,
        "callId": evidence.call_id,
        "details": _bag(finding.details),
    }
    return {
        "ruleId": finding.rule,
        **({"ruleIndex": places[finding.rule]} if finding.rule in places else {}),
        "level": _LEVELS[finding.severity],
        "message": {"text": _message(text)},
        # The file that can be changed comes first; the log is what shows it.
        "locations": [{**(settings or log), "logicalLocations": [_logical(finding.resource)]}],
        **({"relatedLocations": [log]} if settings and log else {}),
        "partialFingerprints": {_FINGERPRINT: finding.id},
        **({"baselineState": _STATES[finding.state]} if has_baseline else {}),
        "occurrenceCount": finding.rows,
        "properties": _bag({name: value for name, value in named.items() if value is not None}),
    }


def _logical(resource: str) -> dict[str, object]:
    return {"name": escape_unsafe(resource), "kind": "resource"}


def _physical(path: str | None, line: int | None) -> dict[str, object]:
    if path is None:
        return {}
    region = {} if line is None else {"region": {"startLine": line}}
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(path)}, **region}}


def _uri(path: str) -> str:
    if _DRIVE.match(path):
        return "file:///" + quote(path.replace("\\", "/"), safe="/:")
    return ("file://" if path.startswith("/") else "") + quote(path)


def _message(text: str) -> str:
    """Write text so that a reader of messages shows it as it is: without placeholders and links."""
    plain = _LINK.sub(r"\1\\](", escape_unsafe(text))
    return _BRACE.sub(lambda brace: brace[0] * 2, plain)


def _bag(values: Mapping[str, object]) -> dict[str, object]:
    return {
        escape_unsafe(name): escape_unsafe(value) if isinstance(value, str) else value for name, value in values.items()
    }
