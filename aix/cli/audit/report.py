"""The report of `aix audit`."""

from collections.abc import Mapping
from pathlib import Path
from zoneinfo import ZoneInfo

from aix.cli.stdout import emit_lines, emit_paragraphs
from aix.permissions.audit.baseline import compare
from aix.permissions.audit.html import html_lines
from aix.permissions.audit.json_form import json_lines
from aix.permissions.audit.markdown import markdown_lines
from aix.permissions.audit.report import Report
from aix.permissions.audit.run import audit, open_for_audit
from aix.permissions.audit.sarif import sarif_lines
from aix.permissions.audit.text import paragraphs
from aix.query.values import TIMEZONE


def make_report(
    ledger: Path,
    pack: str,
    parameters: Mapping[str, object],
    settings: tuple[Path, ...],
    risks: Path | None,
    baseline: Path | None,
    zone: ZoneInfo,
    *,
    with_inventories: bool = True,
) -> Report:
    """Audit a ledger, and compare with an earlier report where there is one."""
    filters = {name: value for name, value in parameters.items() if name != TIMEZONE}
    origin = None if "origin" not in filters else str(filters["origin"])
    with open_for_audit(ledger, settings, risks, origin) as opened:
        report = audit(opened, pack, filters, zone.key, settings, risks, with_inventories=with_inventories)
    return report if baseline is None else compare(report, baseline)


def write_report(report: Report, form: str, path: Path | None, zone: ZoneInfo) -> None:
    """Write a report to the file, or to stdout when no file is given."""
    match form:
        case "json":
            emit_lines(json_lines(report), path)
        case "markdown":
            emit_lines(markdown_lines(report, zone), path)
        case "html":
            emit_lines(html_lines(report, zone), path)
        case "sarif":
            emit_lines(sarif_lines(report), path)
        case _:
            emit_paragraphs(paragraphs(report), path)
