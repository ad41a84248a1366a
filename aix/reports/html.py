"""A report as one HTML page that stands alone: charts, tables, and filters that work without the ledger.

Everything is there without scripts but for the charts and the filters: every figure and table is written here, and the
script of the page draws charts of the same rows, and writes figures and tables again when a filter is set.
"""

from collections.abc import Iterable, Iterator
from datetime import tzinfo
from functools import cache
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from aix.output import ListingColumn
from aix.output.html import BASE_STYLE, embedded_json, head, marked, policy, slug, source_hash, table, text
from aix.output.humanise import counted, number_kind
from aix.output.text import NULL, to_cell
from aix.query.result_table import is_unknown_named
from aix.reports.definition import FINDINGS
from aix.reports.presentation import (
    about_filters,
    command_of,
    nothing_words,
    scope,
    section_columns,
    shown_figure,
    shown_rows,
    title,
)
from aix.reports.report import FILTERS, Report, ReportSection, Rows

_PAGE = Path(__file__).parent / "page"
_SCRIPTS = ("rows.js", "charts.js", "page.js")
"""The parts of the page's script, each of which builds on those before it."""
_ALL_DATA = "all data"
_UNKNOWN = "unknown"
# The style sheet that the library of charts puts into every chart; its text depends on its version alone.
_CHART_STYLE = """\
:where(.plot) {
  --plot-background: white;
  display: block;
  height: auto;
  height: intrinsic;
  max-width: 100%;
}
:where(.plot text),
:where(.plot tspan) {
  white-space: pre;
}"""
_WHAT_CHARTS_SHOW = {
    "bars": "Bars: {y} by {x}",
    "ranking": "Bars: {x} by {y}",
    "line": "Line: {y} by {x}",
    "calendar": "Calendar: {y} of each day",
    "span": "Lines from {x} to {to}, by {y}",
    "tree": "Tree of {y}",
    "heat": "Table of colours: {color} by {x} and {y}",
}


def html_lines(report: Report, zone: tzinfo) -> Iterator[str]:
    """Give the report as one page."""
    data = _Data()
    style, library = BASE_STYLE + _page_file("page.css"), _page_file("plot.min.js")
    script = f"(() => {{\n{''.join(map(_page_file, _SCRIPTS))}}})();"
    body = list(_body(report, data, zone))
    yield head(title(report), policy([style], [library, script], [source_hash(_CHART_STYLE)]), style)
    yield from body
    yield f'<script type="application/json" id="data">{embedded_json(data.page())}</script>'
    yield f"<script>{library}</script><script>{script}</script></body></html>"


@cache
def _page_file(name: str) -> str:
    return (_PAGE / name).read_text("utf-8")


class _Data:
    """The rows and descriptions that the script of the page gets."""

    def __init__(self) -> None:
        self._tables: list[dict[str, Any]] = []
        self._places: dict[str, int] = {}
        self.figures: list[dict[str, object] | None] = []
        self.sections: list[dict[str, object] | None] = []

    def add_table(self, key: str, rows: Rows, names: Iterable[str] = ()) -> int:
        """Keep rows, and return their place; those of one key have the same rows, and perhaps other columns.

        The values of some columns are names, whatever their type: groups, and the lines of a chart.
        """
        place = self._places.setdefault(key, len(self._tables))
        if place == len(self._tables):
            self._tables.append({"rows": len(rows.values), "columns": {}})
        columns = self._tables[place]["columns"]
        for index, column in enumerate(rows.columns):
            if column.name not in columns:
                columns[column.name] = _encoded(
                    column, [row[index] for row in rows.values], is_name=column.name in names
                )
        return place

    def label(self, place: int, name: str, labels: dict[Any, str]) -> None:
        """Keep the words in which people read the values of a column."""
        column = self._tables[place]["columns"].get(name)
        if column is not None and "words" in column and "shown" not in column:
            column["shown"] = [labels.get(word, to_cell(word)) for word in column["words"]]

    def page(self) -> dict[str, object]:
        """Return all of it."""
        return {"tables": self._tables, "figures": self.figures, "sections": self.sections}


def _encoded(column: ListingColumn, values: list[Any], *, is_name: bool) -> dict[str, object]:
    """Return a column: numbers as they are, names as places in a list of words."""
    if column.type == "BOOLEAN" and not is_name:
        return {"kind": "flag", "values": values}
    if column.is_number and not is_name:
        return {"kind": number_kind(column), "values": values}
    words: dict[Any, int] = {}
    codes = [None if value is None else words.setdefault(value, len(words)) for value in values]
    kind = "day" if column.type == "DATE" or column.name == "day" else "text"
    return {"kind": kind, "words": [str(word) for word in words], "codes": codes}


def _body(report: Report, data: _Data, zone: tzinfo) -> Iterator[str]:
    yield f'<header><h1>{text(title(report))}</h1><p class="faint">{text(scope(report, zone))}</p>'
    if report.definition.words:
        yield f"<p>{marked(report.definition.words)}</p>"
    yield from (*_figures(report, data, zone), "</header>")
    sections = [(f"{slug(each.definition.title)}-{number}", each) for number, each in enumerate(report.sections)]
    if len(sections) > 1:
        yield '<nav aria-label="Contents"><ul>'
        yield from (f'<li><a href="#{name}">{text(each.definition.title)}</a></li>' for name, each in sections)
        yield "</ul></nav>"
    if report.has_filters:
        yield from _filters()
    yield "<main>"
    for name, section in sections:
        yield from _section(name, section, report, data, zone)
    yield "</main>"
    yield f'<footer class="faint"><p>Made by AIX {text(report.aix_version)} of version {report.ledger_version} of the '
    yield "ledger. Money is computed at list prices, whatever was paid.</p></footer>"


def _figures(report: Report, data: _Data, zone: tzinfo) -> Iterator[str]:
    if not report.figures:
        return
    yield '<ul class="tiles">'
    for figure in report.figures:
        definition = figure.definition
        told = None
        if figure.cells is not None:
            place = data.add_table(_key(definition.query, definition.parameters, definition.where), figure.cells)
            told = {"table": place, "add": definition.add}
        data.figures.append(told)
        is_all = (report.has_filters and told is None) or figure.unfiltered
        mark = f' <span class="all">{_ALL_DATA}</span>' if is_all else ""
        command = f"<code>{text(definition.next)}</code>" if definition.next else ""
        yield f"<li><b>{text(shown_figure(figure, zone))}</b>{text(definition.label)}{mark}{command}</li>"
    yield "</ul>"


def _key(query: str, parameters: object, where: object) -> str:
    return f"{query} {parameters!r} {where!r}"


def _filters() -> Iterator[str]:
    yield '<form id="filters" hidden autocomplete="off" aria-label="Filters">'
    yield '<label>From <input type="date" name="since"></label><label>To <input type="date" name="until"></label>'
    for name in FILTERS[1:]:
        yield f'<label>{name.capitalize()} <select name="{name}"><option value="">all</option></select></label>'
    yield '<button type="reset">Show all</button><output id="narrowed" aria-live="polite"></output></form>'


def _section(name: str, section: ReportSection, report: Report, data: _Data, zone: tzinfo) -> Iterator[str]:
    definition = section.definition
    number = len(data.sections)
    data.sections.append(_described(section, report, data, zone))
    is_all = report.has_filters and section.cells is None
    mark = f' <span class="all">{_ALL_DATA}</span>' if is_all else ""
    yield f'<section id="{name}" data-section="{number}"><h2>{text(definition.title)}{mark}</h2>'
    if definition.words:
        yield f"<p>{marked(definition.words)}</p>"
    if section.unfiltered:
        yield f'<p class="faint">{text(about_filters(section.unfiltered))}</p>'
    shown = shown_rows(section, report, zone)
    rows = list(shown.rows)
    if definition.chart is not None and rows:
        names = {name: getattr(definition.chart, name).replace("_", " ") for name in ("x", "to", "y", "color")}
        words = _WHAT_CHARTS_SHOW[definition.chart.kind].format(**names)
        if names["color"] and definition.chart.kind != "heat":
            words += f", coloured by {names['color']}"
        yield f'<figure class="chart" aria-label="{text(f"{words}. The table below has the figures.")}"></figure>'
    yield f'<p class="none"{" hidden" if rows else ""}>{text(nothing_words(section))}</p>'
    yield f'<details class="rows"{"" if definition.chart and rows else " open"}{"" if rows else " hidden"}>'
    yield '<summary>Table</summary><div class="scroll" tabindex="0" role="region" aria-label="Table">'
    yield from table([each.name for each in shown.columns], rows, [each.is_number for each in shown.columns])
    more = len(section.rows.values) - len(rows)
    yield f'</div><p class="more faint">{_more(more)}</p></details>'
    yield from (*_origin(section, report), "</section>")


def _more(rows: int) -> str:
    return f"{counted(rows, 'row')} more" if rows else ""


def _origin(section: ReportSection, report: Report) -> Iterator[str]:
    """Give the SQL of a section, and the command that runs it."""
    query = section.query
    if query.name == FINDINGS.name:
        yield '<details class="origin"><summary>Where this comes from</summary><p><code>aix audit</code> lists these '
        yield "findings with their evidence; several queries and rules give them.</p></details>"
        return
    yield f'<details class="origin"><summary>SQL</summary><p><code>{text(command_of(section, report))}</code></p>'
    yield from (f"<p>{marked(caveat)}</p>" for caveat in query.caveats)
    yield '<div class="scroll" tabindex="0" role="region" aria-label="SQL">'
    yield f"<pre>{_text_of_lines(query.sql)}</pre></div></details>"


def _text_of_lines(written: str) -> str:
    """Escape a text of several lines."""
    return "\n".join(map(text, written.splitlines()))


def _described(section: ReportSection, report: Report, data: _Data, zone: tzinfo) -> dict[str, object] | None:
    """Describe to the script how it draws a section; None where there is nothing to draw."""
    definition = section.definition
    if section.cells is None and definition.chart is None:
        return None
    is_filtered = section.cells is not None
    if section.cells is not None:
        key = _key(definition.query, definition.parameters, definition.where)
        place = data.add_table(key, section.cells, definition.group)
    else:
        assert definition.chart is not None  # noqa: S101 - else nothing is drawn
        drawn = Rows(section.rows.columns, section.points).taken(dict.fromkeys(definition.chart.columns))
        place = data.add_table(f"section {len(data.sections)}", drawn, definition.chart.names)
    names = section_columns(section)
    _label(section, report, data, place, zone)
    return {
        "table": place,
        "filtered": is_filtered,
        "columns": names,
        "group": definition.group if is_filtered else None,
        "add": definition.add,
        "shares": definition.shares,
        "kinds": {name: number_kind(ListingColumn(name, "DOUBLE")) for name in definition.shares},
        "order": definition.order,
        "limit": definition.limit,
        "missing": _missing(section, names),
        "cut": len(section.rows.values) - len(section.points),
        "chart": asdict(definition.chart) if definition.chart else None,
    }


def _missing(section: ReportSection, names: list[str]) -> list[str]:
    """Return the word for an unknown value of each column."""
    types = {column.name: column.type for column in section.rows.columns}
    is_named = is_unknown_named(names, [types[name] for name in names])
    return [_UNKNOWN if is_named and number == 0 else NULL for number in range(len(names))]


def _label(section: ReportSection, report: Report, data: _Data, place: int, zone: tzinfo) -> None:
    """Give the script the words for the values of text columns, as the table has them."""
    names = section_columns(section)
    exact = section.rows.taken(names)
    shown = list(shown_rows(section, report, zone, section.rows).rows)
    for index, name in enumerate(names):
        pairs = zip(exact.values, shown, strict=True)
        known = ((row[index], cells[index]) for row, cells in pairs)
        data.label(place, name, {str(value): to_cell(cell) for value, cell in known if value is not None})
