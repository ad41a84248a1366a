"""The result of a statement, in the form that the reader likes.

A value of DuckDB stays the same value where Python or Arrow has one, else it becomes the text that DuckDB writes. Every
type has a place, those of later releases too, so that no SELECT fails on its way out. Text is also what keeps a value
whole that others would bend or refuse: an interval, a time with a zone, a date after the year 9999.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar

import duckdb

from aix.errors import MissingLibraryError, SqlError, TimeLimitError
from aix.output import Listing, ListingColumn
from aix.query.values import Variable
from aix.reading.connection import Statement
from aix.reading.time_limit import current_limit
from aix.schema.sql import quote_name
from aix.store.engine import Parameters, start_reader

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from duckdb.sqltypes import DuckDBPyType
    from matplotlib.axes import Axes

    from aix.reading.plot import Kind

_INTEGERS = {"tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger", "ubigint"}
_COMMON = {*_INTEGERS, "float", "double", "boolean", "blob"}
_TIMES = {"date", "time", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns", "timestamp with time zone"}
_BOUNDED = {*_INTEGERS, "hugeint", "uhugeint", "decimal", "float", "double", "boolean"}
PYTHON_TYPES = frozenset(_COMMON | {"hugeint", "uhugeint"})
ARROW_TYPES = frozenset(_COMMON | _TIMES)
_P = ParamSpec("_P")
_T = TypeVar("_T")
_ROWS_AT_A_TIME = 2_000
_ROWS_SHOWN = 25
"""Rows that a notebook shows of a result."""
_ERROR_CHARACTERS = 2_000
_WAIT_SECONDS = 0.1
_INDENT = re.compile("^ +")
_LINE = re.compile(r"^LINE (\d+): ", re.MULTILINE)


class Work:
    """One statement that is being run, on a connection of its own: one that streams can do nothing else.

    DuckDB 2.0 does not look for signals while it computes. So that Ctrl-C can end the work, no call of it runs in the
    thread that Python hands them to.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection.duplicate()
        self._thread = ThreadPoolExecutor(max_workers=1)

    def do(self, step: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Take a step of the work, and stop it when Ctrl-C is pressed meanwhile, or when its time is over."""
        result = self._thread.submit(step, *args, **kwargs)
        limit = current_limit()
        try:
            while limit is not None and not result.done():
                limit.check()
                wait([result], timeout=_WAIT_SECONDS)
            return result.result()
        except (KeyboardInterrupt, TimeLimitError):
            while not result.done():  # an interruption before the statement begins is lost
                self.connection.interrupt()
                wait([result], timeout=_WAIT_SECONDS)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown()  # when the last step has come to its end
        self.connection.close()


class Result:
    """The rows of one statement on one version of the ledger.

    Nothing is kept: each conversion runs the statement, and iteration never holds more than a few thousand rows.

    >>> result = ledger.sql("select role, count(*) as n from messages group by role order by role")
    >>> result.columns, result.types
    (('role', 'n'), ('VARCHAR', 'BIGINT'))
    >>> for role, n in result:
    ...     print(role, n)
    assistant 4
    system 1
    user 4
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        check_files: Callable[[Exception], None],
        statement: Statement,
        parameters: Parameters | None,
        variables: Sequence[Variable] = (),
        described: Sequence[tuple[str, str]] | None = None,
    ) -> None:
        self._check_files = check_files
        self._connection = connection
        self._statement = statement
        self._parameters = parameters
        self._variables = variables
        if described is not None:
            self._described = described
        elif not statement.is_own:  # one that is wrong fails here
            self._described = self._describe()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns.

        >>> ledger.sql("select 1 as one, 2 as two").columns
        ('one', 'two')
        """
        return tuple(name for name, _ in self._described)

    @property
    def types(self) -> tuple[str, ...]:
        """The types of the columns, as SQL writes them.

        >>> ledger.sql("select 1 as one, 'b' as two").types
        ('INTEGER', 'VARCHAR')
        """
        return tuple(sql_type for _, sql_type in self._described)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Go through the rows; what Python has no exact value for comes as the text that DuckDB writes."""
        with self._running() as work:
            while rows := self._do(work, work.connection.fetchmany, _ROWS_AT_A_TIME):
                yield from rows

    def rows(self) -> list[tuple[Any, ...]]:
        """Return all rows.

        >>> ledger.sql("select alias from session_aliases").rows()
        [('s-1',)]
        """
        with self._running() as work:
            return self._do(work, work.connection.fetchall)

    def dicts(self) -> list[dict[str, Any]]:
        """Return all rows, each by the names of its columns.

        >>> ledger.sql("select 1 as one, 2 as two").dicts()
        [{'one': 1, 'two': 2}]
        """
        with self._running() as work:
            names = [name for name, *_ in work.connection.description] if self._statement.is_own else self.columns
            rows = self._do(work, work.connection.fetchall)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def part(self, first: int, count: int, characters: int | None = None) -> "Result":
        """Return so many of the rows, from the one of that number on; the first is 0.

        With a number of characters, values that are neither numbers nor booleans become texts of at most as many.
        A plan is not divided.

        >>> ledger.sql("select role from messages group by role order by role").part(1, 5).rows()
        [('system',), ('user',)]
        >>> ledger.sql("select 1 as one, ['a', 'b'] as two").part(0, 1, 6).rows()
        [(1, '["a","')]
        """
        if self._statement.is_explain:
            return self
        described = list(zip(self.columns, self.types, strict=True))
        columns = "*"
        if characters is not None:
            short = [_shortened(number, each, characters) for number, each in enumerate(self.types, start=1)]
            columns = ", ".join(f"{sql} as {quote_name(name)}" for sql, name in zip(short, self.columns, strict=True))
            described = [
                (name, sql_type if sql.startswith("#") else "VARCHAR")
                for sql, (name, sql_type) in zip(short, described, strict=True)
            ]
        sql = f"{self._wrapped(columns)} limit {int(count)} offset {int(first)}"
        return Result(
            self._connection,
            self._check_files,
            Statement(sql, is_explain=False),
            self._parameters,
            self._variables,
            described,
        )

    @contextmanager
    def arrow_reader(self) -> "Iterator[pa.RecordBatchReader]":
        """Give the rows as Arrow batches, one after the other.

        >>> with ledger.sql("from turns").arrow_reader() as reader:
        ...     sum(batch.num_rows for batch in reader)
        6
        """
        import pyarrow as pa

        with Work(self._connection) as work:
            self._set_variables(work)
            select = self._select(work, ARROW_TYPES)
            reader = self._do(work, start_reader, work.connection, select, _ROWS_AT_A_TIME, self._parameters)
            try:
                batches = iter(partial(self._do, work, next, reader, None), None)
                yield pa.RecordBatchReader.from_batches(reader.schema, batches)
            finally:
                reader.close()

    def arrow(self) -> "pa.Table":
        """Return an Arrow table.

        >>> ledger.sql("from turns").arrow().num_rows
        6
        """
        with self.arrow_reader() as reader:
            return reader.read_all()

    def polars(self) -> "pl.DataFrame":
        """Return a polars frame.

        >>> ledger.sql("select 1 as one").polars().item()
        1
        """
        import polars as pl

        return pl.DataFrame(self.arrow())

    def pandas(self) -> "pd.DataFrame":
        """Return a pandas frame, with the types of pandas that can hold NULL beside whole numbers and booleans.

        >>> str(ledger.sql("select completed_at from turns").pandas()["completed_at"].dtype)
        'Int64'
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingLibraryError("pandas") from error
        import pyarrow as pa

        nullable = {
            pa.bool_(): pd.BooleanDtype(),
            **{getattr(pa, f"int{bits}")(): getattr(pd, f"Int{bits}Dtype")() for bits in (8, 16, 32, 64)},
            **{getattr(pa, f"uint{bits}")(): getattr(pd, f"UInt{bits}Dtype")() for bits in (8, 16, 32, 64)},
        }
        try:
            return self.arrow().to_pandas(types_mapper=nullable.get)
        except (ValueError, OverflowError) as error:
            advice = "cast it to text in the SQL, or take polars"
            raise SqlError(f"pandas cannot hold a value: {error}", advice) from error

    def plot(self, kind: "Kind", x: str, y: str, color: str | None = None, axes: "Axes | None" = None) -> "Axes":
        """Draw two columns as `bars`, `ranking`, `line` or `points`, coloured by a third, with matplotlib.

        A ranking has amounts on `x` and names on `y`. Bars and rankings add up what has the same name. Without axes,
        new ones are made; the axes are returned, so that titles and limits can be set.

        >>> axes = ledger.query("overview/table_rows").plot("ranking", "row_count", "table_name")
        >>> axes.get_xlabel()
        'row count'
        """
        from aix.reading.plot import plot

        return plot(self.columns, self.rows(), kind, x, y, color, axes)

    def __repr__(self) -> str:
        return f"<aix result with the columns {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        """Show the first rows as a table, as Jupyter asks for it."""
        from aix.output.html import table

        shown = self.part(0, _ROWS_SHOWN + 1).rows()
        are_numbers = [ListingColumn(name, kind).is_number for name, kind in zip(self.columns, self.types, strict=True)]
        lines = "".join(table(self.columns, shown[:_ROWS_SHOWN], are_numbers))
        return f"{lines}<p>the first {_ROWS_SHOWN} rows</p>" if len(shown) > _ROWS_SHOWN else lines

    def listing(self) -> Listing:
        """Return what the output formats take.

        >>> [(column.name, column.type) for column in ledger.sql("select 1 as one").listing().columns]
        [('one', 'INTEGER')]
        """
        if self._statement.is_explain:
            lines = (line for _, plan in self for line in plan.splitlines())
            # Text that begins with blanks would be quoted, and the drawing torn.
            return Listing((ListingColumn("plan"),), ((_INDENT.sub(_dotted, line.rstrip()),) for line in lines))
        with Work(self._connection) as work:
            types = self._plain_types(work, PYTHON_TYPES)
        columns = tuple(ListingColumn(*column) for column in zip(self.columns, types, strict=True))
        return Listing(columns, self, self.arrow_reader)

    @contextmanager
    def _running(self) -> Iterator[Work]:
        """Run the statement, and give the work whose connection has the rows."""
        with Work(self._connection) as work:
            self._set_variables(work)
            select = self._statement.sql if self._statement.is_own else self._select(work, PYTHON_TYPES)
            self._do(work, work.connection.execute, select, self._parameters)
            yield work

    @cached_property
    def _described(self) -> Sequence[tuple[str, str]]:
        return self._describe()

    def _describe(self) -> list[tuple[str, str]]:
        if self._statement.is_explain:
            return [("explain_key", "VARCHAR"), ("explain_value", "VARCHAR")]
        with Work(self._connection) as work:
            self._set_variables(work)
            self._do(work, work.connection.execute, f"describe {self._wrapped('*')}", self._parameters)
            described = work.connection.fetchall()
        return [(name, sql_type) for name, sql_type, *_ in described]

    def _set_variables(self, work: Work) -> None:
        # The connection of the work is its own, so that neither another result nor a later one sees them.
        for variable in self._variables:
            setting = f"set variable {quote_name(variable.name)} = cast($1 as {variable.type})"
            self._do(work, work.connection.execute, setting, [variable.value])

    def _plain_types(self, work: Work, kept: frozenset[str]) -> list[str]:
        return [plain_type(work.connection, sql_type, kept) for sql_type in self.types]

    def _select(self, work: Work, kept: frozenset[str]) -> str:
        if self._statement.is_explain:
            return self._statement.sql
        types = self._plain_types(work, kept)
        casts = [
            f"cast(#{number} as {sql_type}) as {quote_name(name)}"
            for number, (name, sql_type) in enumerate(zip(self.columns, types, strict=True), start=1)
        ]
        return self._wrapped(", ".join(casts))

    def _wrapped(self, columns: str) -> str:
        # On lines of its own: the statement may end in a comment, and errors name its lines.
        return f"select {columns} from (\n{self._statement.sql}\n)"  # noqa: S608 - that is what it is for

    def _do(self, work: Work, step: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return work.do(step, *args, **kwargs)
        except (duckdb.Error, OSError, ValueError) as error:  # the latter two are how pyarrow passes on the first
            # What DuckDB says of a missing or damaged file depends on its release, and on what it looked for next.
            self._check_files(error)
            raise SqlError(_bounded(_unwrapped(str(error), self._statement))) from error


def _shortened(number: int, sql_type: str, characters: int) -> str:
    """Return the SQL of the column of that number, bounded."""
    bare = sql_type.lower().partition("(")[0]
    if bare in _BOUNDED:
        return f"#{number}"
    is_nested = sql_type.endswith("]") or bare in ("struct", "map")
    return f"left(cast({f'to_json(#{number})' if is_nested else f'#{number}'} as varchar), {int(characters)})"


def _dotted(blanks: re.Match[str]) -> str:
    return "·" * len(blanks[0])


def _unwrapped(message: str, statement: Statement) -> str:
    """Count the lines of a message from the start of the user's statement; what stands below stays in its column."""
    if statement.is_explain:
        return message
    message = message.split("\n\nLINE 1: ")[0]  # the line before the statement, which the user did not write
    return _LINE.sub(lambda line: f"LINE {int(line[1]) - 1}: ".ljust(len(line[0])), message)


def _bounded(message: str) -> str:
    return message if len(message) <= _ERROR_CHARACTERS else f"{message[:_ERROR_CHARACTERS]}…"


def plain_type(connection: duckdb.DuckDBPyConnection, described: str, kept: frozenset[str]) -> str:
    """Return the SQL type to cast a column of the described type to, when only the kept types stay as they are."""
    try:
        return _plain(connection.type(described), kept)
    except duckdb.Error:  # a type that has no name, such as that of row(1, 2)
        return "VARCHAR"


def _plain(found: "DuckDBPyType", kept: frozenset[str]) -> str:
    match found.id:
        case "decimal":
            return str(found)
        case "hugeint" | "uhugeint" if found.id not in kept:
            return "DECIMAL(38,0)"
        case "list" | "array":
            [(_, inner)] = _inner_types(found)
            return f"{_plain(inner, kept)}[]"
        case "map":
            return f"MAP({_plain(found.key, kept)}, {_plain(found.value, kept)})"
        case "struct" if found.children:
            fields = [f"{quote_name(name)} {_plain(inner, kept)}" for name, inner in _inner_types(found)]
            return f"STRUCT({', '.join(fields)})"
        case simple:
            return str(found) if simple in kept else "VARCHAR"


def _inner_types(found: "DuckDBPyType") -> "list[tuple[str, DuckDBPyType]]":
    # An array lists its length among them.
    return [(name, inner) for name, inner in found.children if not isinstance(inner, (int, list))]
