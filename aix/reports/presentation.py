"""Rows and numbers of a report as people read them, the same in every form."""

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from shlex import quote

from msgspec.structs import replace

from aix.output import Listing
from aix.output.humanise import displayed, local_time, one_line, project_names
from aix.output.text import to_cell
from aix.query.result_table import result_table
from aix.reports.definition import FINDINGS
from aix.reports.report import Report, ReportFigure, ReportSection, Row, Rows

_PROJECT = "project"
_LONGEST_HEADING = 80
_LONGEST_TEXT = 200
"""Characters of a title, path or sentence in a table."""


def shown_rows(section: ReportSection, report: Report, zone: tzinfo, rows: Rows | None = None) -> Listing:
    """Return the rows of a section's table, or others with its columns, as people read them."""
    chosen = rows or Rows(section.rows.columns, section.rows.values[: section.definition.limit])
    names = section_columns(section)
    taken = chosen.taken(names)
    if _PROJECT in names:
        everywhere = [row[section.rows.names.index(_PROJECT)] for row in section.rows.values]
        taken = _with_short_projects(taken, names.index(_PROJECT), project_names(filter(None, everywhere)))
    # In the order that the report names, not in that of the query's header; a filter moves no column to the end.
    query = replace(section.query, shown=tuple(names), parameters=())
    table = result_table(query, taken.columns, taken.values, zone, lambda: report.session_names)
    return replace(table, rows=[tuple(map(_shortened, row)) for row in table.rows])


def section_columns(section: ReportSection) -> list[str]:
    """Return the columns of a section's table, in their order."""
    definition = section.definition
    if definition.columns:
        return list(definition.columns)
    if definition.group:
        return section.rows.names
    return list(section.query.shown) or section.rows.names


def shown_figure(figure: ReportFigure, zone: tzinfo) -> str:
    """Return the number of a figure as people read it."""
    [(written,)] = displayed((figure.column,), [(figure.value,)], zone).rows
    return to_cell(written)


def about_filters(unfiltered: Sequence[str]) -> str:
    """Say that filters of a report do not narrow down a part of it; empty where all do.

    >>> about_filters(("model", "tag"))
    'Not narrowed down by model and tag: its query has no such filter.'
    """
    return f"Not narrowed down by {' and '.join(unfiltered)}: its query has no such filter." if unfiltered else ""


def command_of(section: ReportSection, report: Report) -> str:
    """Return the command that gives the rows a section is made of."""
    if section.query.name == FINDINGS.name:
        return "aix audit"
    filters = [(f"--{name}", value) for name, value in report.filters.items() if name not in section.unfiltered]
    values = [("--param", f"{name}={_plain(value)}") for name, value in section.definition.parameters.items()]
    options = [f"{option} {quote(str(value))}" for option, value in (*filters, *values)]
    return " ".join(["aix query", section.query.name, *options])


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def nothing_words(section: ReportSection) -> str:
    """Say why a section has no rows."""
    if section.definition.where:
        return "No row has the values that this section asks for."
    return section.query.empty or "Nothing to show."


def title(report: Report) -> str:
    """Return the heading of a report; one that is narrowed down to a session has its title."""
    if report.session_title is None:
        return report.definition.title
    return f"{report.definition.title}: {one_line(report.session_title, _LONGEST_HEADING)}"


def scope(report: Report, zone: tzinfo) -> str:
    """Say what a report is about: its filters, and the time up to which there is data."""
    narrowed = [f"{name} {value}" for name, value in report.filters.items()]
    until = [f"data up to {local_time(report.data_until, zone)}"] if report.data_until is not None else []
    return " · ".join([*(narrowed or ["the whole ledger"]), *until])


def _shortened(value: object) -> object:
    return one_line(value, _LONGEST_TEXT) if isinstance(value, str) and len(value) > _LONGEST_TEXT else value


def _with_short_projects(rows: Rows, place: int, names: Mapping[str, str]) -> Rows:
    def short(row: Row) -> Row:
        return (*row[:place], names.get(row[place], row[place]), *row[place + 1 :])

    return Rows(rows.columns, [short(row) for row in rows.values])
