"""Arrow schemas of the tables."""

import re
from functools import cache

import pyarrow as pa

from aix.schema.model import Column, Table

_SIMPLE = {
    "VARCHAR": pa.string(),
    "BIGINT": pa.int64(),
    "BOOLEAN": pa.bool_(),
    "DOUBLE": pa.float64(),
    "FLOAT": pa.float32(),
}
_DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")


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
