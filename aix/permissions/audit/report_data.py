"""An audit in the forms that programs read: JSON, the baseline of later runs, and SARIF 2.1.0."""

import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote

import msgspec

from aix.output.text import escape_unsafe, to_json
from aix.permissions.audit.findings import Finding, Severity, State
from aix.permissions.audit.report import REPORT_VERSION, Check, Inventory, Report
from aix.permissions.audit.report_forms import INFERRED, skipped

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
