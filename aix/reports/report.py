"""A report with its figures: the queries of a definition, run on one version of a ledger."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from aix.output import ListingColumn
from aix.output.humanise import number_kind
from aix.query.query_file import Query
from aix.query.values import TIMEZONE, takes_timezone
from aix.reading.ledger import Ledger
from aix.reports.definition import FINDINGS, Definition, Figure, Section, query_of

REPORT_VERSION = 1
"""Goes up when a program that reads the JSON form has to change."""
FILTERS = ("day", "project", "model", "origin")
"""The columns by which a page filters."""
MOST_CELLS = 15_000
"""Rows that a page gets at most to filter; with more, it would be large, and its section is of all data."""
_KINDS_OF_PAGES = {"money", "share", "tokens", "count"}
"""Numbers that the page can write as Python does."""
_MOST_POINTS = 2_000
"""Rows that a chart draws at most where they are not grouped."""
_KEPT = re.compile(r".*_id|.*label")
"""Columns of ids, by which other commands find what they name."""
_SHORTEST_CUT = 195
"""Characters from which on a text may have been cut by its query."""
_LONG_QUOTATION = re.compile("`([^`]{60,})`")
_LAST_WORD = re.compile(r"\S*\Z")
_TITLE = "select title from v_session_titles where session_label = $1"

Row = tuple[Any, ...]


class Rows(msgspec.Struct, frozen=True):
    """Rows of one query, as the report asked it."""

    columns: tuple[ListingColumn, ...]
    values: Sequence[Row]

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    def taken(self, names: Iterable[str]) -> "Rows":
        """Return the rows with these columns."""
        places = [self.names.index(name) for name in names]
        columns = tuple(self.columns[place] for place in places)
        return Rows(columns, [tuple(row[place] for place in places) for row in self.values])

    def where(self, conditions: Mapping[str, object]) -> "Rows":
        """Return the rows that have one of the values in each of these columns."""
        if not conditions:
            return self
        wanted = [
            (self.names.index(name), value if isinstance(value, tuple) else (value,))
            for name, value in conditions.items()
        ]
        return Rows(self.columns, [row for row in self.values if all(row[place] in values for place, values in wanted)])


class ReportFigure(msgspec.Struct, frozen=True):
    """One number with its name."""

    definition: Figure
    column: ListingColumn
    value: object
    cells: Rows | None
    """The rows by which a page can filter it; None where it is of all data."""
    unfiltered: tuple[str, ...] = ()
    """The filters of the report that its query does not have."""


class ReportSection(msgspec.Struct, frozen=True):
    """A section with the rows of its table."""

    definition: Section
    query: Query
    rows: Rows
    """All rows of the table, in its order."""
    cells: Rows | None
    """The rows by which a page can filter it; None where it is of all data."""

    unfiltered: tuple[str, ...] = ()
    """The filters of the report that its query does not have: in these respects it is of the whole ledger."""

    @property
    def points(self) -> Sequence[Row]:
        """The rows that its chart draws."""
        return self.rows.values if self.definition.group else self.rows.values[:_MOST_POINTS]


class Report(msgspec.Struct, frozen=True):
    """Everything that a report says, however it is written."""

    name: str
    definition: Definition
    aix_version: str
    ledger_version: int
    filters: Mapping[str, object]
    timezone: str
    figures: tuple[ReportFigure, ...]
    sections: tuple[ReportSection, ...]
    data_until: int | None
    """When the newest turn began, in Unix ms."""
    session_title: str | None = None
    """The title of the session that it is narrowed down to."""
    session_names: Mapping[str, str] = {}
    """Short names of sessions by their labels."""

    @property
    def has_filters(self) -> bool:
        """Whether a page can filter anything of it."""
        cells = (*(each.cells for each in self.figures), *(each.cells for each in self.sections))
        return any(each is not None for each in cells)


def make_report(
    name: str,
    definition: Definition,
    ledger: Ledger,
    parameters: Mapping[str, object],
    timezone: str,
    hide: Callable[[str], str] = str,
) -> Report:
    """Run the queries of a report, each once; parameters narrow down those that have them.

    A function changes every text of a log before anything is made of it.
    """
    import aix
    from aix.reading.search import names_to_type, require_project

    filters = {key: value for key, value in parameters.items() if key != TIMEZONE}
    require_project(ledger, filters)
    answers = _Answers(ledger, filters, timezone, hide)
    is_filtered = definition.about == "all"  # of one session there is little to narrow down
    figures = tuple(_figure(each, answers, is_filtered=is_filtered) for each in definition.figures)
    sections = tuple(_section(each, answers, is_filtered=is_filtered) for each in definition.sections)
    label = ledger.find_session(str(filters["session"])) if "session" in filters else None
    [scope] = ledger.query("permission_usage/scope", **filters).dicts()
    return Report(
        name=name,
        definition=definition,
        aix_version=aix.__version__,
        ledger_version=ledger.version,
        filters={key: hide(str(value)) for key, value in filters.items()},
        timezone=timezone,
        figures=figures,
        sections=sections,
        data_until=scope["last_turn_at"],
        session_title=next((hide(title) for (title,) in ledger.own_sql(_TITLE, [label]).rows() if title), None),
        session_names={label: hide(name) for label, name in names_to_type(ledger).items()},
    )


class _Answers:
    """The rows of the queries of a report; one that several sections name runs once."""

    def __init__(
        self, ledger: Ledger, filters: Mapping[str, object], timezone: str, hide: Callable[[str], str]
    ) -> None:
        self._ledger = ledger
        self._hide = hide
        self._filters = filters
        self._timezone = timezone
        self._known: dict[tuple[str, str], Rows] = {}

    def rows(self, name: str, parameters: Mapping[str, object]) -> Rows:
        """Return all rows of a query."""
        key = (name, repr(sorted(parameters.items())))
        if key not in self._known:
            rows = self._findings() if name == FINDINGS.name else self._rows(query_of(name), parameters)
            self._known[key] = rows if self._hide is str else self._hidden(rows)
        return self._known[key]

    def _hidden(self, rows: Rows) -> Rows:
        """Return rows whose texts are changed; ids stay, and so do the words of the schema."""
        texts = [column.type == "VARCHAR" and not _KEPT.fullmatch(column.name) for column in rows.columns]
        return Rows(
            rows.columns,
            [
                tuple(
                    self._hide(_without_cut_words(value)) if is_text and isinstance(value, str) else value
                    for value, is_text in zip(row, texts, strict=True)
                )
                for row in rows.values
            ],
        )

    def _rows(self, query: Query, parameters: Mapping[str, object]) -> Rows:
        given = {name: value for name, value in self._filters.items() if query.parameter(name) is not None}
        given |= parameters
        given |= {TIMEZONE: self._timezone} if takes_timezone(query) else {}
        return Rows(_columns(query), self._ledger.query(query, **given).rows())

    def unfiltered(self, name: str) -> tuple[str, ...]:
        """Return the filters that a query does not have."""
        if name == FINDINGS.name:
            return ()
        query = query_of(name)
        return tuple(each for each in self._filters if query.parameter(each) is None)

    def _findings(self) -> Rows:
        from aix.permissions.audit.audited_packs import OWN_PACK, queries_to_run
        from aix.permissions.audit.findings import is_audit
        from aix.permissions.audit.report_text import project_of
        from aix.permissions.audit.run import find_findings

        audits = [query for query in queries_to_run(OWN_PACK) if is_audit(query)]
        filters = {
            name: value for name, value in self._filters.items() if any(query.parameter(name) for query in audits)
        }
        found = find_findings(self._ledger, audits, filters, self._timezone)
        rows = [(str(each.severity), each.rule, project_of(each), each.message, each.id) for each in found]
        return Rows(_columns(FINDINGS), rows)


def _columns(query: Query) -> tuple[ListingColumn, ...]:
    return tuple(ListingColumn(column.name, column.type) for column in query.columns)


def _without_cut_words(text: str) -> str:
    """Return a text without its last word, and that of each quotation, where a query may have cut it.

    Half of a secret would not be found.

    >>> _without_cut_words("short"), _without_cut_words("x" * 190 + " token=abcdefgh")[190:]
    ('short', ' …')
    >>> _without_cut_words("Ran `" + "x" * 60 + " glpat-abc` twice")[64:]
    'x …` twice'
    """
    quoted = _LONG_QUOTATION.sub(lambda found: f"`{_LAST_WORD.sub('', found[1])}…`", text)
    return f"{_LAST_WORD.sub('', quoted)}…" if len(text) >= _SHORTEST_CUT else quoted


def _figure(figure: Figure, answers: _Answers, *, is_filtered: bool) -> ReportFigure:
    rows = answers.rows(figure.query, figure.parameters).where(figure.where)
    if not figure.add:
        count = ListingColumn("count", "BIGINT")
        return ReportFigure(figure, count, len(rows.values), None, answers.unfiltered(figure.query))
    place = rows.names.index(figure.add)
    column = rows.columns[place]
    total = add_up(row[place] for row in rows.values)
    cells = _cells(rows, [figure.add]) if is_filtered else None
    return ReportFigure(figure, column, total, cells, answers.unfiltered(figure.query))


def _section(section: Section, answers: _Answers, *, is_filtered: bool) -> ReportSection:
    query = query_of(section.query)
    rows = answers.rows(section.query, section.parameters).where(section.where)
    unfiltered = answers.unfiltered(section.query)
    if section.group:
        parts = [name for pair in section.shares.values() for name in pair]
        quotients = {number_kind(ListingColumn(name, "DOUBLE")) for name in section.shares}
        is_sum = is_filtered and not section.count and quotients <= _KINDS_OF_PAGES
        cells = _cells(rows, [*section.group, *section.add, *parts]) if is_sum else None
        return ReportSection(section, query, _ordered(_grouped(rows, section), section.order), cells, unfiltered)
    return ReportSection(section, query, _ordered(rows, section.order), None, unfiltered)


def _cells(rows: Rows, added: Sequence[str]) -> Rows | None:
    """Return the rows that a page filters, with these columns; None where there are too many, or they cannot be."""
    kinds = {number_kind(column) for column in rows.taken(added).columns if column.is_number}
    if len(rows.values) > MOST_CELLS or not {*FILTERS} <= {*rows.names} or not kinds <= _KINDS_OF_PAGES:
        return None
    return rows.taken(dict.fromkeys([*FILTERS, *added]))


def _grouped(rows: Rows, section: Section) -> Rows:
    """Return one row for each combination of the grouping columns, in the order in which they come."""
    by_name = dict(zip(rows.names, rows.columns, strict=True))
    groups: dict[Row, list[Row]] = {}
    keys = rows.taken(section.group).values
    for key, row in zip(keys, rows.values, strict=True):
        groups.setdefault(key, []).append(row)
    places = {name: place for place, name in enumerate(rows.names)}
    values = []
    for key, members in groups.items():
        sums = [add_up(row[places[name]] for row in members) for name in section.add]
        shares = [
            share(*(add_up(row[places[name]] for row in members) for name in parts))
            for parts in section.shares.values()
        ]
        values.append((*key, *sums, *([len(members)] if section.count else []), *shares))
    named = [by_name[name] for name in (*section.group, *section.add)]
    counts = [ListingColumn(section.count, "BIGINT")] if section.count else []
    return Rows((*named, *counts, *(ListingColumn(name, "DOUBLE") for name in section.shares)), values)


def _ordered(rows: Rows, order: str) -> Rows:
    """Return the rows by a column, unknown values last; equal ones stay in their order."""
    if not order:
        return rows
    place = rows.names.index(order.removeprefix("-"))
    known = [row for row in rows.values if row[place] is not None]
    unknown = [row for row in rows.values if row[place] is None]
    known.sort(key=lambda row: row[place], reverse=order.startswith("-"))
    return Rows(rows.columns, [*known, *unknown])


def add_up(values: Iterable[Any]) -> Any:  # noqa: ANN401 - a count or an amount, as the rows have it
    """Add up the values that are known; None when no value is.

    >>> add_up([1, None, 2]), add_up([None])
    (3, None)
    """
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def share(part: Any, whole: Any) -> float | None:  # noqa: ANN401 - two counts, or two amounts
    """Return a part as a share of the whole.

    >>> share(1, 4), share(1, 0), share(None, 4)
    (0.25, None, None)
    """
    return None if part is None or not whole else float(part / whole)
