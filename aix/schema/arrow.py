"""Arrow schemas of the tables, and batches of rows that are held against them before they are written.

Parquet has no constraints, so types, NULLs and words are checked. Whether ids resolve and trees hold together is a
question about the whole ledger.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from aix.errors import RowError
from aix.schema.model import Column, Join, Table, Type

_SIMPLE = {
    "VARCHAR": pa.string(),
    "BIGINT": pa.int64(),
    "BOOLEAN": pa.bool_(),
    "DOUBLE": pa.float64(),
    "FLOAT": pa.float32(),
}
_DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")
_EXAMPLES = 3
_PYTHON_TYPES: dict[Type, tuple[type, ...]] = {
    Type.VARCHAR: (str,),
    Type.BIGINT: (int,),
    Type.BOOLEAN: (bool,),
    Type.PRICE: (Decimal, int),
    Type.COST: (Decimal, int),
    Type.VECTOR: (list,),
}


def arrow_type(sql_type: str) -> pa.DataType:
    """Return the Arrow type of a type as SQL writes it.

    >>> arrow_type("DECIMAL(18,12)[]")
    ListType(list<item: decimal128(18, 12)>)
    """
    if sql_type.endswith("[]"):
        return pa.list_(arrow_type(sql_type.removesuffix("[]")))
    if decimal := _DECIMAL.fullmatch(sql_type):
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    return _SIMPLE[sql_type]


def batch_from_rows(columns: Sequence[tuple[str, str]], rows: Sequence[tuple[object, ...]]) -> pa.RecordBatch:
    """Return rows, of which there is one at least, as a batch with columns of these names and SQL types.

    >>> batch_from_rows([("n", "BIGINT"), ("word", "VARCHAR")], [(1, "one"), (2, None)]).to_pylist()
    [{'n': 1, 'word': 'one'}, {'n': 2, 'word': None}]
    """
    values = zip(*rows, strict=True)
    arrays = [pa.array(each, arrow_type(type_)) for each, (_, type_) in zip(values, columns, strict=True)]
    return pa.record_batch(arrays, names=[name for name, _ in columns])


@cache
def arrow_schema(table: Table) -> pa.Schema:
    """Return the schema that every Parquet file of the table has, with each column's meaning in its metadata.

    >>> from aix.schema import find_table
    >>> arrow_schema(find_table("turns")).field("started_at").nullable
    False
    """
    return pa.schema([_arrow_field(column) for column in table], metadata={"aix.table": table.name})


def _arrow_field(column: Column) -> pa.Field:
    meaning = {"description": column.description, "unit": str(column.unit)}
    return pa.field(column.name, arrow_type(column.type), nullable=column.nullable, metadata=meaning)


class RowProblem(msgspec.Struct, frozen=True):
    """One way in which rows break the schema, with the first places where they do."""

    column: str
    reason: str
    count: int
    rows: tuple[int, ...]

    def __str__(self) -> str:
        places = f" in row {', '.join(map(str, self.rows))}" if self.rows else ""
        return f"{self.column}: {self.reason}{places}{' …' if self.count > len(self.rows) > 0 else ''}"


def find_problems(table: Table, batch: pa.RecordBatch) -> list[RowProblem]:
    """Return every way in which the batch breaks the table's schema; an empty list when it keeps it."""
    given = tuple(batch.schema.names)
    if given != table.column_names:
        missing = [name for name in table.column_names if name not in given]
        unknown = [name for name in given if name not in table.column_names]
        detail = f"missing {missing}, unknown {unknown}" if missing or unknown else "columns are out of order"
        return [RowProblem("*", detail, batch.num_rows, ())]
    return [problem for column in table for problem in _column_problems(column, batch.column(column.name))]


def batch_from_columns(table: Table, columns: Mapping[str, Sequence[object]]) -> pa.RecordBatch:
    """Make a batch of plain columns, or raise `RowError`; what is left out or NULL gets its default.

    Text that is not Unicode, as broken escapes in JSON make it, is repaired with U+FFFD.
    """
    unknown = sorted(set(columns) - set(table.column_names))
    if unknown:
        raise RowError(table.name, tuple(f"{name}: the table has no such column" for name in unknown))
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise RowError(table.name, (f"the columns differ in length: {sorted(lengths)}",))
    rows = lengths.pop() if lengths else 0
    arrays = [_column_array(table, column, columns.get(column.name), rows) for column in table]
    batch = pa.RecordBatch.from_arrays(arrays, schema=arrow_schema(table))
    check_batch(table, batch)
    return batch


def check_batch(table: Table, batch: pa.RecordBatch) -> None:
    """Raise `RowError` when the batch breaks the table's schema."""
    problems = find_problems(table, batch)
    if problems:
        raise RowError(table.name, tuple(map(str, problems)))


def _column_problems(column: Column, values: pa.Array) -> list[RowProblem]:
    expected = arrow_type(column.type)
    if values.type != expected:
        return [RowProblem(column.name, f"is {values.type}, not {expected}", len(values), ())]
    problems = []
    if not column.nullable and values.null_count:
        problems.append(_problem(column, "is NULL", values.is_null()))
    if column.words:
        allowed = pc.is_in(values, value_set=pa.array([*column.words, None], expected))
        if not pc.all(allowed, min_count=0).as_py():
            foreign = pc.invert(allowed)
            example = values.filter(foreign)[0].as_py()
            problems.append(_problem(column, f"{example!r} is not one of {', '.join(column.words)}", foreign))
    return problems


def _problem(column: Column, reason: str, mask: pa.Array) -> RowProblem:
    rows = pc.indices_nonzero(mask)
    return RowProblem(column.name, reason, len(rows), tuple(rows[:_EXAMPLES].to_pylist()))


def _column_array(table: Table, column: Column, values: Sequence[object] | None, rows: int) -> pa.Array:
    wanted = arrow_type(column.type)
    default = _filler(column)
    if values is None:
        return pa.repeat(pa.scalar(default, wanted), rows)
    foreign = {type(value) for value in values} - {*_PYTHON_TYPES[column.type], type(None)}
    if foreign:  # Arrow would cut 1.5 to 1 and take bytes for text
        kinds = ", ".join(sorted(kind.__name__ for kind in foreign))
        raise RowError(table.name, (f"{column.name}: {kinds} is not {column.type}",))
    try:
        array = pa.array(values, wanted)
    except UnicodeEncodeError:
        array = pa.array([repaired(value) if type(value) is str else value for value in values], wanted)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise RowError(table.name, (f"{column.name}: {error}",)) from error
    return array if default is None else pc.fill_null(array, default)


def _filler(column: Column) -> str | int | None:
    """Return what stands for NULL: the default, or anything at all in a column that AIX computes by itself."""
    if column.default is None and column.join is Join.DERIVED and not column.nullable:
        return 0 if column.type is Type.BIGINT else ""
    return column.default


def repaired(text: str) -> str:
    """Return text as it is stored: what is not Unicode in it becomes U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
