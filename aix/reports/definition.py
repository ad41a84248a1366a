"""A report as its TOML file describes it: words, figures, and sections with a query and a chart.

    title = "Our models"
    words = "The share of each model, month by month."

    [[figures]]
    label = "Cost at list price"
    query = "token_economics/cost_cells"
    add = "cost_usd"

    [[sections]]
    title = "Cost per day"
    query = "token_economics/cost_cells"
    group = ["day", "model"]
    add = ["cost_usd"]
    chart = { kind = "bars", x = "day", y = "cost_usd", color = "model" }

docs/reports.md explains every key.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal, NoReturn

import msgspec

from aix.errors import AixError, ReportDefinitionError, nearest_names
from aix.file_problems import in_plain_words
from aix.output import ListingColumn
from aix.query.packs import find_query
from aix.query.query_file import Column, Query

FINDINGS = Query(
    name="findings",
    path=Path(),
    sql="",
    title="Findings of the audit",
    question="What does the audit of permissions find?",
    why="",
    grain="finding",
    parameters=(),
    columns=(
        Column("severity", "VARCHAR", "high, medium or low"),
        Column("check", "VARCHAR", "the query that found it"),
        Column("project", "VARCHAR", "the project of the finding; NULL where it names no project"),
        Column("message", "VARCHAR", "what happened, in a sentence"),
        Column("finding_id", "VARCHAR", "the id with which `aix audit explain` shows it"),
    ),
    caveats=(),
    reads_text=False,
    only_duckdb="",
    next="`aix audit` shows them with their evidence",
)
"""The findings of `aix audit`, which several queries and rules give, in place of one query."""
_REMEDY = "docs/reports.md shows what a report can say"
_LARGEST_FILE = 2**20
_MOST_ROWS = 1_000

_Text = Annotated[str, msgspec.Meta(min_length=1, max_length=2_000)]
_Names = tuple[_Text, ...]
_Value = str | int | float | bool
_Values = dict[str, _Value | tuple[_Value, ...]]


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the file."""


class Chart(_Table, frozen=True):
    """The columns that a chart draws."""

    kind: Literal["bars", "ranking", "line", "calendar", "heat", "span", "tree"]
    x: str = ""
    to: str = ""
    """Of a span, the column of its other end; of a tree, that of the row before."""
    y: str = ""
    color: str = ""
    mark: str = ""
    """Of a line: a column that is true at points to mark."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it needs."""
        return tuple(filter(None, (self.x, self.to, self.y, self.color, self.mark)))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns whose values are names, not amounts."""
        kinds = {"heat": (self.x, self.y), "ranking": (self.y,), "span": (self.y,), "tree": (self.y, self.to)}
        return (*kinds.get(self.kind, ()), *(() if self.kind == "heat" else (self.color,)))

    @property
    def amounts(self) -> tuple[str, ...]:
        """The columns whose values are drawn as lengths, heights or colours."""
        kinds = {"ranking": (self.x,), "span": (self.x, self.to), "heat": (self.color,), "tree": ()}
        return kinds.get(self.kind, (self.y,))


class Figure(_Table, frozen=True):
    """One number at the top of a report."""

    label: _Text
    query: _Text
    add: str = ""
    """The column whose values are added up; without one, rows are counted."""
    where: _Values = {}
    """Only rows with this value, or one of these values, in a column."""
    parameters: dict[str, _Value] = {}
    next: str = ""
    """The command that says more."""


class Section(_Table, frozen=True):
    """A heading with words, a chart and a table of one query."""

    title: _Text
    query: _Text
    words: str = ""
    parameters: dict[str, _Value] = {}
    where: _Values = {}
    group: _Names = ()
    """Rows with equal values in these columns become one. Only such a section follows the filters of the page."""
    add: _Names = ()
    """The columns that are added up then."""
    count: str = ""
    """The name of a column that counts the rows of a group."""
    shares: dict[str, tuple[str, str]] = {}
    """Columns that are one sum divided by another, of columns of the query."""
    columns: _Names = ()
    """The columns of the table; without them, those that the query shows first."""
    order: str = ""
    """The column by which rows are ordered; with `-` before it, the largest come first. Else as the query has them."""
    limit: Annotated[int, msgspec.Meta(ge=1, le=_MOST_ROWS)] = 50
    """How many rows the table has at most."""
    chart: Chart | None = None


class Definition(_Table, frozen=True):
    """A whole report."""

    title: _Text
    words: str = ""
    about: Literal["all", "session"] = "all"
    """A report about one session needs its name."""
    figures: tuple[Figure, ...] = ()
    sections: tuple[Section, ...] = ()


def read_definition(path: Path) -> Definition:
    """Read a file, and hold its queries and columns against the library."""
    import tomllib

    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_FILE + 1)
        if len(content) > _LARGEST_FILE:
            _refuse(path, "it is larger than a megabyte")
        written = tomllib.loads(content.decode("utf-8"))
    except OSError as error:
        _refuse(path, f"it cannot be read: {error.strerror or error}")
    except UnicodeDecodeError:
        _refuse(path, "it is not UTF-8")
    except (ValueError, RecursionError) as error:
        _refuse(path, f"this is not TOML: {error}")
    try:
        definition = msgspec.convert(written, Definition)
    except msgspec.ValidationError as error:
        known = [name for form in (Definition, Figure, Section, Chart) for name in form.__struct_fields__]
        _refuse(path, in_plain_words(str(error), known))
    _check(path, definition)
    return definition


def query_of(name: str) -> Query:
    """Return the query of that name; `findings` are those of the audit."""
    return FINDINGS if name == FINDINGS.name else find_query(name)


def _check(path: Path, definition: Definition) -> None:
    if not definition.figures and not definition.sections:
        _refuse(path, "it has neither figures nor sections")
    for figure in definition.figures:
        place = f"figure {figure.label!r}"
        known = _known_columns(path, place, figure.query, figure.parameters)
        _check_names(path, place, [*filter(None, [figure.add]), *figure.where], known)
        _check_numbers(path, place, figure.query, filter(None, [figure.add]))
    for section in definition.sections:
        place = f"section {section.title!r}"
        known = _known_columns(path, place, section.query, section.parameters)
        _check_names(path, place, _columns_named(section), known)
        if (section.add or section.count or section.shares) and not section.group:
            _refuse(path, f"{place}: `add`, `count` and `shares` need `group`, the columns whose values stay apart")
        parts = [name for pair in section.shares.values() for name in pair]
        _check_numbers(path, place, section.query, [*section.add, *parts])
        _check_once(path, place, [*section.group, *section.add, *filter(None, [section.count]), *section.shares])
        _check_once(path, place, section.columns)
        counts = filter(None, [section.count])
        shown = {*section.group, *section.add, *counts, *section.shares} if section.group else known
        later = [*section.columns, *([section.order.removeprefix("-")] if section.order else [])]
        _check_names(path, place, [*later, *(section.chart.columns if section.chart else ())], shown)
        if section.chart is not None:
            _check_chart(path, place, section, section.chart)


def _check_numbers(path: Path, place: str, query: str, names: Iterable[str]) -> None:
    types = {column.name: column.type for column in query_of(query).columns}
    for name in names:
        if not ListingColumn(name, types[name]).is_number:
            _refuse(path, f"{place}: {name!r} is not a column of numbers, and cannot be added up")


def _check_once(path: Path, place: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            _refuse(path, f"{place}: the column {name!r} is named twice")
        seen.add(name)


def _columns_named(section: Section) -> Iterator[str]:
    yield from (*section.where, *section.group, *section.add)
    for parts in section.shares.values():
        yield from parts


def _known_columns(path: Path, place: str, name: str, parameters: Iterable[str]) -> set[str]:
    """Return the columns of a query that takes these parameters."""
    try:
        query = query_of(name)
    except AixError as error:
        _refuse(path, f"{place}: {error}; {error.remedy}")
    for parameter in parameters:
        if query.parameter(parameter) is None:
            known = ", ".join(each.name for each in query.parameters) or "none"
            _refuse(path, f"{place}: {query.name} has no parameter {parameter!r}; it has {known}")
    return {column.name for column in query.columns}


def _check_names(path: Path, place: str, names: Iterable[str], known: Iterable[str]) -> None:
    listed = list(known)
    for name in names:
        if name not in listed:
            nearest = nearest_names(name, listed)
            meant = " or ".join(nearest) if nearest else ", ".join(sorted(listed))
            _refuse(path, f"{place}: there is no column {name!r} there; use {meant}")


def _check_chart(path: Path, place: str, section: Section, chart: Chart) -> None:
    needed = {"heat": ("x", "y", "color"), "span": ("x", "to", "y"), "tree": ("to", "y")}.get(chart.kind, ("x", "y"))
    for name in needed:
        if not getattr(chart, name):
            _refuse(path, f"{place}: a chart of the kind {chart.kind!r} needs `{name}`, the name of a column")
    types = {column.name: column.type for column in query_of(section.query).columns}
    for name in chart.amounts:
        if name in types and name not in section.shares and not ListingColumn(name, types[name]).is_number:
            _refuse(path, f"{place}: {name!r} is not a column of numbers, as this chart needs there")
    if chart.kind == "calendar" and types.get(chart.x) != "DATE":
        _refuse(path, f"{place}: a calendar needs a column of days as `x`")


def _refuse(path: Path, problem: str) -> NoReturn:
    raise ReportDefinitionError(str(path), problem, _REMEDY)
