"""One SQL file: what its header says, and the statement below it.

The header is the comments at the top, each a line of its own, in this order:

    -- title: …
    -- question: …?
    -- why: …
    -- grain: …
    -- invariant: … / severity: … / needs: …     of a check only
    -- params: GROUP, …                          the lines of `queries/params/GROUP.txt`, which many queries share
    -- param NAME: TYPE = DEFAULT; meaning       any number; DEFAULT is `none` where nothing stands for no limit
    -- column NAME: SQL TYPE; meaning            one for each column of the result
    -- shown: NAME, …                            columns that people read first, and that a narrow terminal keeps
    -- empty: …                                  sentence for people when there is no row
    -- next: …                                   command or option that leads further
    -- caveat: …                                 any number
    -- remedy: …                                 of an audit query only: what to do about a finding
    -- references: PLACE; what it defines        any number
    -- rows: only with TABLE, …                  it has no rows where all of these tables are empty, and is not run
    -- kept: by family with TABLE                of a view only: its rows are computed once; none without TABLE
    -- kept: for the whole ledger                of a derived view only: its rows do not follow from families
    -- derived: reason                           of a kept view only: a program makes its rows, and the SQL gives none
    -- reads: text                               when it reads the texts of messages or calls, and so takes longer
    -- engine: duckdb; reason                    when no other engine can run it

A meaning that ends in `one of a, b, c` names the only values there are. Only the header is ever expanded: the SQL below
it is the text of the file.
"""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cache
from itertools import pairwise
from pathlib import Path

import msgspec

from aix.errors import QueryFileError

_LINE = re.compile(r"-- (?P<key>[a-z]+)(?: (?P<name>\S+))?: (?P<value>.*\S)\s*")
_PARAMETER = re.compile(r"(?P<type>[a-z]+) = (?P<default>[^;]*[^; ]); (?P<meaning>.+)")
_SHARED_PARAMETERS = re.compile(r"-- params: (?P<groups>.*\S)\s*")
_COLUMN = re.compile(r"(?P<type>[A-Z][^;]*[^; ]); (?P<meaning>.+)")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_WORDS = re.compile(r"(?:^|\W)one of (?P<words>[\w-]+(?:(?:, | or )[\w-]+)+)$")
_KEPT = re.compile(r"by family with (?P<table>[a-z_]+)")
_KEPT_FOR_ALL = "for the whole ledger"
_ONLY_WITH = re.compile(r"only with (?P<tables>[a-z_]+(?:, [a-z_]+)*)")
_COMMENT = re.compile("--.*")
_WORD = re.compile(r"\w+")

_REQUIRED = ("title", "question", "why", "grain", "column")
_NAMED = ("param", "column")
_REPEATED = ("param", "column", "caveat", "references")
_OF_CHECKS = ("invariant", "severity", "needs")
ORDER = (
    "title",
    "question",
    "why",
    "grain",
    *_OF_CHECKS,
    "params",
    "param",
    "column",
    "shown",
    "empty",
    "next",
    "caveat",
    "remedy",
    "references",
    "rows",
    "kept",
    "derived",
    "reads",
    "engine",
)
"""The fields of a header, in their order."""


class ParameterType(StrEnum):
    """The type of a parameter's value."""

    TIMESTAMP = "timestamp"
    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "flag"

    @property
    def sql_type(self) -> str:
        """The type of DuckDB in which the value is bound; moments are Unix milliseconds."""
        return _SQL_TYPES[self]


_SQL_TYPES = {
    ParameterType.TIMESTAMP: "BIGINT",
    ParameterType.TEXT: "VARCHAR",
    ParameterType.INTEGER: "BIGINT",
    ParameterType.NUMBER: "DOUBLE",
    ParameterType.FLAG: "BOOLEAN",
}


class Parameter(msgspec.Struct, frozen=True):
    """A parameter of a query."""

    name: str
    type: ParameterType
    default: str | None
    """As the header writes it; None where nothing stands for no limit."""
    meaning: str
    words: tuple[str, ...] = ()
    """The values there are, when they are few."""


class Column(msgspec.Struct, frozen=True):
    """A column of the result."""

    name: str
    type: str
    """As DuckDB writes it."""
    meaning: str


class Query(msgspec.Struct, frozen=True):
    """One SQL file."""

    name: str
    """The pack, a slash, and the name of the file without suffix."""
    path: Path
    sql: str
    """The whole file with its header, in which shared parameters are written out; it runs as it is."""
    title: str
    question: str
    why: str
    grain: str
    parameters: tuple[Parameter, ...]
    columns: tuple[Column, ...]
    caveats: tuple[str, ...]
    reads_text: bool
    """Whether it reads the texts of messages or calls, which takes longer than all else."""
    only_duckdb: str
    """Why no other engine can run it; empty where others can."""
    only_with: tuple[str, ...] = ()
    """Tables without which it has no rows: one of them must have some."""
    kept_with: str | None = None
    """Of a view that is kept: the table without which a family gives it no rows; see `aix.derived.view_cache`."""
    derived: str | None = None
    """Of a kept view whose rows a program makes: why no SQL does; see `aix.permissions.derived_tables`."""
    invariant: str | None = None
    """Of a check: what it holds the ledger to."""
    severity: str | None = None
    """Of a check: how bad it is when that is broken."""
    needs: str | None = None
    """Of a check: what must be there besides the ledger."""
    remedy: str = ""
    """Of an audit query: what to do about a finding."""
    references: tuple[str, ...] = ()
    """Where definitions come from: pages of `docs`, or addresses, each with what it defines."""

    shown: tuple[str, ...] = ()
    """Columns that people read first, the most important first; a narrow terminal drops the others before them."""
    empty: str = ""
    """A sentence for people when there is no row."""
    next: str = ""
    """A command or an option that leads further, with a reason."""

    @property
    def pack(self) -> str:
        """The pack it belongs to."""
        return self.name.rpartition("/")[0]

    @property
    def statement(self) -> str:
        """The SQL as a part of another statement."""
        return self.sql.rstrip().rstrip(";")

    @property
    def names(self) -> frozenset[str]:
        """Every word of the SQL that may be a name; those of comments are none."""
        return frozenset(_WORD.findall(_COMMENT.sub("", self.sql)))

    def parameter(self, name: str) -> Parameter | None:
        """Return the parameter of that name."""
        return next((each for each in self.parameters if each.name == name), None)


class _Line(msgspec.Struct, frozen=True):
    number: int
    key: str
    name: str
    value: str


def query_root() -> Path:
    """Return the folder that holds the packs and views of AIX."""
    package = Path(__file__).parent.parent
    installed = package / "queries"
    return installed if installed.is_dir() else package.parent / "queries"


def read_query_file(name: str, path: Path) -> Query:
    """Read one file."""
    try:
        sql = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise QueryFileError(path, 1, f"it cannot be read: {error}") from error
    return parse_query(name, path, sql)


def parse_query(name: str, path: Path, text: str) -> Query:
    """Read a file, or say in which line it breaks which rule."""
    numbered = list(_with_shared_parameters(path, text))
    lines = list(_header_lines(path, numbered))
    _check_order(path, lines)
    first = {line.key: line.value for line in reversed(lines)}
    reads, engine = first.get("reads"), first.get("engine", "")
    if reads not in (None, "text"):
        raise _wrong(path, lines, "reads", "the only thing to read is `text`")
    only_with = _ONLY_WITH.fullmatch(first["rows"]) if "rows" in first else None
    if "rows" in first and not only_with:
        raise _wrong(path, lines, "rows", "it is written `-- rows: only with TABLE, TABLE`")
    kept = _KEPT.fullmatch(first["kept"]) if "kept" in first else None
    if "kept" in first and not kept and not ("derived" in first and first["kept"] == _KEPT_FOR_ALL):
        raise _wrong(path, lines, "kept", "it is written `-- kept: by family with TABLE`")
    if kept and "param" in first:
        raise _wrong(path, lines, "kept", "rows that depend on a parameter cannot be kept")
    if "derived" in first and "kept" not in first:
        raise _wrong(path, lines, "derived", "only rows that are kept are derived")
    if engine and not engine.startswith("duckdb; "):
        raise _wrong(path, lines, "engine", "it is written `-- engine: duckdb; reason`")
    columns = tuple(_column(path, line) for line in lines if line.key == "column")
    shown = tuple(re.split(r"\s*,\s*", first["shown"])) if "shown" in first else ()
    unknown = [each for each in shown if each not in {column.name for column in columns}]
    if unknown:
        raise _wrong(path, lines, "shown", f"there is no column {unknown[0]!r}")
    return Query(
        name,
        path,
        "".join(line for _, line in numbered),
        first["title"],
        first["question"],
        first["why"],
        first["grain"],
        tuple(_parameter(path, line) for line in lines if line.key == "param"),
        columns,
        tuple(line.value for line in lines if line.key == "caveat"),
        reads_text=reads is not None,
        only_duckdb=engine.removeprefix("duckdb; "),
        only_with=tuple(only_with["tables"].split(", ")) if only_with else (),
        kept_with=kept["table"] if kept else None,
        derived=first.get("derived"),
        invariant=first.get("invariant"),
        severity=first.get("severity"),
        needs=first.get("needs"),
        remedy=first.get("remedy", ""),
        references=tuple(line.value for line in lines if line.key == "references"),
        shown=shown,
        empty=first.get("empty", ""),
        next=first.get("next", ""),
    )


def _with_shared_parameters(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file with their numbers, and for a group of parameters those of the group."""
    is_header = True
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        is_header = is_header and line.startswith("--")
        match = _SHARED_PARAMETERS.fullmatch(line) if is_header else None
        if match is None:
            yield number, line
            continue
        for group in re.split(r"\s*,\s*", match["groups"]):
            if group not in _parameter_groups():
                known = ", ".join(_parameter_groups())
                raise QueryFileError(path, number, f"there is no group {group!r} of parameters; there is {known}")
            for shared in _parameter_groups()[group]:
                yield number, shared


@cache
def _parameter_groups() -> dict[str, list[str]]:
    """Return the lines of the parameters that queries share, by the name of their group."""
    paths = sorted((query_root() / "params").glob("*.txt"))
    return {path.stem: path.read_text("utf-8").splitlines(keepends=True) for path in paths}


def _header_lines(path: Path, numbered: Iterable[tuple[int, str]]) -> Iterator[_Line]:
    for number, text in numbered:
        if not text.startswith("--"):
            return
        match = _LINE.fullmatch(text)
        if match is None:
            raise QueryFileError(path, number, "a line of the header is written `-- word: text`")
        key, name, value = match["key"], match["name"] or "", match["value"]
        if key not in ORDER:
            raise QueryFileError(path, number, f"a header has no {key!r}; it has {', '.join(ORDER)}")
        if bool(name) != (key in _NAMED):
            problem = f"`{key}` needs a name" if key in _NAMED else f"`{key}` takes no name"
            raise QueryFileError(path, number, problem)
        if name and not _NAME.fullmatch(name):
            raise QueryFileError(path, number, f"{name!r} is no name of small letters, digits and underscores")
        yield _Line(number, key, name, value)


def _check_order(path: Path, lines: list[_Line]) -> None:
    for before, line in pairwise(lines):
        if line.key == before.key and line.key not in _REPEATED:
            raise QueryFileError(path, line.number, f"there is a second {line.key!r}")
        if ORDER.index(line.key) < ORDER.index(before.key):
            raise QueryFileError(path, line.number, f"{line.key!r} comes before {before.key!r}")
    missing = [key for key in _REQUIRED if key not in {line.key for line in lines}]
    if missing:
        raise QueryFileError(path, lines[-1].number + 1 if lines else 1, f"the header lacks {', '.join(missing)}")
    seen: set[tuple[str, str]] = set()
    for line in lines:
        if line.name and (line.key, line.name) in seen:
            raise QueryFileError(path, line.number, f"there is a second {line.key} {line.name!r}")
        seen.add((line.key, line.name))


def _parameter(path: Path, line: _Line) -> Parameter:
    match = _PARAMETER.fullmatch(line.value)
    if match is None:
        raise QueryFileError(path, line.number, "a parameter is written `-- param name: type = default; meaning`")
    if match["type"] not in list(ParameterType):
        raise QueryFileError(path, line.number, f"{match['type']!r} is none of {', '.join(ParameterType)}")
    words = _WORDS.search(match["meaning"])
    return Parameter(
        line.name,
        ParameterType(match["type"]),
        None if match["default"] == "none" else match["default"],
        match["meaning"],
        tuple(re.split(", | or ", words["words"])) if words else (),
    )


def _column(path: Path, line: _Line) -> Column:
    match = _COLUMN.fullmatch(line.value)
    if match is None:
        raise QueryFileError(path, line.number, "a column is written `-- column name: SQL TYPE; meaning`")
    return Column(line.name, match["type"], match["meaning"])


def _wrong(path: Path, lines: list[_Line], key: str, problem: str) -> QueryFileError:
    return QueryFileError(path, next(line.number for line in lines if line.key == key), problem)
