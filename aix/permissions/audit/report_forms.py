"""An audit as Markdown, JSON and SARIF, and the tables of its forms for people."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from itertools import islice
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from aix.health import Status
from aix.output import Listing, ListingColumn
from aix.output.formats import document_lines, prose_line
from aix.output.formats import markdown_lines as table_lines
from aix.output.humanise import displayed
from aix.output.text import escape_unsafe, to_json
from aix.permissions.audit import Severity
from aix.permissions.audit.findings import Finding, State
from aix.permissions.audit.report import REPORT_VERSION, Check, Inventory, Report
from aix.permissions.audit.report_text import (
    INFERRED,
    changes,
    details,
    filled_by_worst,
    place,
    share_skipped,
    skipped,
    subject,
    summary,
)

_ROWS_SHOWN = 200
"""Rows without a judgement in a form for people; JSON has more."""
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.HIGH: "error", Severity.MEDIUM: "warning", Severity.LOW: "note"}
_STATES = {
    State.NEW: "new",
    State.OPEN: "unchanged",
    State.RESOLVED: "absent",
    State.UNCHECKED: "unchanged",  # as far as is known
}
_STATUSES = {Status.ALARM: "findings", Status.INFO: "to note", Status.OK: "ok", Status.SKIP: "could not judge"}
_FINGERPRINT = "aixFindingId/v1"
# What a reader of a message takes for a placeholder, and for the middle of a link.
_BRACE = re.compile("[{}]")
_LINK = re.compile(r"(?<!\\)((?:\\\\)*)\]\(")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


class Table(NamedTuple):
    """A section of a page that is a table."""

    title: str
    names: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""


def _findings(report: Report) -> list[tuple[str, Sequence[Finding]]]:
    """Return the sections of findings that have any, each with its title."""
    by_severity = [(f"{severity.capitalize()} severity", report.of_severity(severity)) for severity in Severity]
    sections = [*by_severity, ("Resolved", report.resolved), ("Not checked", report.unchecked)]
    return [(title, findings) for title, findings in sections if findings]


def tables(report: Report) -> list[Table]:
    """Return the other sections that have any rows, but for inventories."""
    notices = [(each.title, each.resource, each.message) for each in report.notices]
    note = f"{_ROWS_SHOWN} of {len(notices)}; the JSON form has all." if len(notices) > _ROWS_SHOWN else ""
    checks = [
        (each.title, _STATUSES[each.status], each.question, filled_by_worst(each, report) or "–")
        for each in report.checks
    ]
    found = (
        Table("To note", ("check", "resource", "reason"), notices[:_ROWS_SHOWN], note),
        Table("Not fully judged", ("check", "not judged", "reason"), list(skipped(report))),
        Table("Checks", ("check", "status", "question", "next step"), checks),
    )
    return [table for table in found if table.rows]


def first_rows(inventory: Inventory, zone: tzinfo) -> tuple[Listing, str]:
    """Return the first rows of an inventory, and a sentence where there are more."""
    listing = displayed(inventory.columns, islice(inventory.rows, _ROWS_SHOWN), zone)
    has_more = len(inventory.rows) > _ROWS_SHOWN
    return listing, f"These are the first {_ROWS_SHOWN} rows; aix query {inventory.name} has all." if has_more else ""


def markdown_lines(report: Report, zone: tzinfo) -> Iterator[str]:
    """Give the audit as Markdown: text of logs stands in table cells alone, where it can open nothing."""
    yield from (f"# {prose_line(subject(report, zone))}", "")
    for line in (summary(report), changes(report), *report.notes):
        if line:
            yield from (prose_line(line), "")
    names = ("id", "state", "check", "resource", "reason", "evidence", "details")
    for title, findings in _findings(report):
        yield from _markdown_table(title, names, [_finding_row(report, each, zone) for each in findings])
    for table in tables(report):
        yield from _markdown_table(table.title, table.names, table.rows)
        if table.note:
            yield from (table.note, "")
    for inventory in report.inventories:
        listing, note = first_rows(inventory, zone)
        yield from (f"## {prose_line(inventory.title)}", "", prose_line(inventory.question), "")
        yield from (*table_lines(listing), "")
        if note:
            yield from (prose_line(note), "")


def _finding_row(report: Report, finding: Finding, zone: tzinfo) -> tuple[str | None, ...]:
    return (
        finding.id,
        str(finding.state),
        finding.title,
        finding.resource,
        f"{finding.message} {INFERRED}" if finding.is_inferred else finding.message,
        place(report, finding) or None,
        "; ".join(f"{name} {value}" for name, value in details(finding, zone)) or None,
    )


def _markdown_table(title: str, names: tuple[str, ...], rows: Sequence[tuple[str | None, ...]]) -> Iterator[str]:
    yield from (f"## {title}", "", *table_lines(Listing(tuple(map(ListingColumn, names)), rows)), "")


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
        "findings": [finding_object(each) for each in report.findings],
        "resolved": [finding_object(each) for each in report.resolved],
        "unchecked": [finding_object(each) for each in report.unchecked],
        "notices": [msgspec.structs.asdict(each) for each in report.notices],
        "checks": [msgspec.structs.asdict(each) for each in report.checks],
        "inventories": [_inventory_object(each) for each in report.inventories],
    }
    yield from document_lines(scalars, lists)


def finding_object(finding: Finding) -> dict[str, object]:
    """Return a finding as JSON has it."""
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
        "help": {"text": _message(" ".join(filter(None, [check.why, check.remedy, *check.caveats])))},
        "properties": {"tags": ["security"]},
    }


def _notifications(report: Report) -> list[dict[str, object]]:
    """Say what was not looked at, so that no finding there is not taken for good news."""
    reasons = [
        f"{check.name} ({share_skipped(check)}): {reason}" for check in report.incomplete for reason in check.skipped
    ]
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
