"""An audit as JSON: what programs read, and the baseline of later runs."""

from collections.abc import Iterator, Sequence

import msgspec

from aix.output.text import to_json
from aix.permissions.audit.finding import Finding
from aix.permissions.audit.report import REPORT_VERSION, Inventory, Report


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
        "findings": [_finding(each) for each in report.findings],
        "resolved": [_finding(each) for each in report.resolved],
        "unchecked": [_finding(each) for each in report.unchecked],
        "notices": [msgspec.structs.asdict(each) for each in report.notices],
        "checks": [msgspec.structs.asdict(each) for each in report.checks],
        "inventories": [_inventory(each) for each in report.inventories],
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


def _finding(finding: Finding) -> dict[str, object]:
    return msgspec.structs.asdict(finding) | {"evidence": msgspec.structs.asdict(finding.evidence)}


def _inventory(inventory: Inventory) -> dict[str, object]:
    names = [column.name for column in inventory.columns]
    return {
        "name": inventory.name,
        "title": inventory.title,
        "question": inventory.question,
        "is_whole": inventory.is_whole,
        "rows": [dict(zip(names, row, strict=True)) for row in inventory.rows],
    }
