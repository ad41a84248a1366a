"""A report as Markdown and as JSON."""

import re
from collections.abc import Iterator
from datetime import tzinfo

from msgspec.structs import asdict

from aix.output.formats import document_lines, escape_markdown, prose_line
from aix.output.formats import markdown_lines as table_lines
from aix.output.humanise import counted
from aix.output.text import escape_unsafe
from aix.reports.presentation import about_filters, command_of, nothing_words, scope, shown_figure, shown_rows, title
from aix.reports.report import REPORT_VERSION, Report, ReportSection


def markdown_lines(report: Report, zone: tzinfo) -> Iterator[str]:
    """Give the report as Markdown: text of logs stands in table cells alone, where it can open nothing."""
    yield from (f"# {prose_line(title(report))}", "", prose_line(scope(report, zone)), "")
    if report.definition.words:
        yield from (_words(report.definition.words), "")
    for figure in report.figures:
        behind = f" (`{figure.definition.next}`)" if figure.definition.next else ""
        note = f" {about_filters(figure.unfiltered)}" if figure.unfiltered else ""
        yield f"- {prose_line(figure.definition.label)}: **{prose_line(shown_figure(figure, zone))}**{behind}{note}"
    if report.figures:
        yield ""
    for section in report.sections:
        yield from (f"## {prose_line(section.definition.title)}", "")
        if section.definition.words:
            yield from (_words(section.definition.words), "")
        if section.unfiltered:
            yield from (about_filters(section.unfiltered), "")
        yield from _table(section, report, zone)


def _words(written: str) -> str:
    """Write sentences of a report; its quotations in backticks stay code."""
    parts = re.split("`([^`]+)`", escape_unsafe(" ".join(written.split())))
    return "".join(f"`{part}`" if place % 2 else escape_markdown(part) for place, part in enumerate(parts))


def _table(section: ReportSection, report: Report, zone: tzinfo) -> Iterator[str]:
    if not section.rows.values:
        yield from (prose_line(nothing_words(section)), "")
        return
    yield from table_lines(shown_rows(section, report, zone))
    more = len(section.rows.values) - section.definition.limit
    rest = f"{counted(more, 'row')} more. " if more > 0 else ""
    yield from ("", f"{rest}From `{escape_unsafe(command_of(section, report))}`.", "")


def json_lines(report: Report) -> Iterator[str]:
    """Give one object: figures and sections with exact values, each on a line of its own."""
    scalars = {
        "report_version": REPORT_VERSION,
        "aix_version": report.aix_version,
        "report": report.name,
        "title": title(report),
        "ledger_version": report.ledger_version,
        "filters": dict(report.filters),
        "timezone": report.timezone,
        "data_until": report.data_until,
    }
    figures = [
        {"label": each.definition.label, "query": each.definition.query, "value": each.value} for each in report.figures
    ]
    sections = [_section(each) for each in report.sections]
    yield from document_lines(scalars, {"figures": figures, "sections": sections})


def _section(section: ReportSection) -> dict[str, object]:
    names = section.rows.names
    definition = section.definition
    return {
        "title": definition.title,
        "query": section.query.name,
        "parameters": definition.parameters,
        "where": definition.where,
        "chart": asdict(definition.chart) if definition.chart else None,
        "rows": [dict(zip(names, row, strict=True)) for row in section.rows.values],
    }
