"""An audit as text: by severity, coloured and wrapped on a terminal, plain elsewhere."""

from collections.abc import Iterable, Iterator

from aix.output.humanise import one_line
from aix.output.paragraphs import Paragraph
from aix.permissions.audit.finding import Finding, Severity
from aix.permissions.audit.report import Report
from aix.permissions.audit.wording import INFERRED, changes, place, skipped, summary

_STYLES = {Severity.HIGH: "bold red", Severity.MEDIUM: "bold yellow", Severity.LOW: "bold cyan"}
_LONGEST = 300


def paragraphs(report: Report) -> Iterator[Paragraph]:
    """Give the audit paragraph by paragraph."""
    for severity in Severity:
        found = report.of_severity(severity)
        if found:
            yield Paragraph(f"{severity} ({len(found)})", _STYLES[severity])
            yield from _findings(found, _STYLES[severity], with_state=report.baseline is not None)
    for title, gone in (("resolved", report.resolved), ("unchecked", report.unchecked)):
        if gone:
            yield Paragraph(f"{title} ({len(gone)})", "bold green" if title == "resolved" else "bold")
            yield from _findings(gone, "bold", with_state=False)
    for name, share, reason in skipped(report):
        yield Paragraph(f"{name} ({share}): {one_line(reason, _LONGEST)}", "dim", mark="skipped  ")
    for note in report.notes:
        yield Paragraph(note, "dim", mark="note     ")
    if report.baseline is not None:
        yield Paragraph(changes(report))
    yield Paragraph(summary(report), "bold")


def _findings(findings: Iterable[Finding], style: str, *, with_state: bool) -> Iterator[Paragraph]:
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
