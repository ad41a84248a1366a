"""Independent readers of every output format, to hold what AIX writes against what others read."""

import io
import json
from bisect import bisect_right
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import jsonlines
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from markdown_it import MarkdownIt
from rich.cells import cell_len

from aix.output import Listing

Rows = list[tuple[object, ...]]


def read_csv(data: bytes, listing: Listing) -> Rows:
    """Read with pyarrow, which keeps an empty string and NULL apart by their quotes."""
    table = pa_csv.read_csv(
        io.BytesIO(data),
        parse_options=pa_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=pa_csv.ConvertOptions(
            column_types={column.name: pa.string() for column in listing.columns},
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    assert table.column_names == [column.name for column in listing.columns]
    return [
        tuple(
            None if cell is None else _typed(cell, column.type)
            for cell, column in zip(row.values(), listing.columns, strict=True)
        )
        for row in table.to_pylist()
    ]


def read_json(data: bytes, listing: Listing) -> Rows:
    """Read one array of objects."""
    return _objects(json.loads(data, parse_float=Decimal), listing)


def read_jsonl(data: bytes, listing: Listing) -> Rows:
    """Read one object per line."""
    with jsonlines.Reader(io.BytesIO(data), loads=lambda line: json.loads(line, parse_float=Decimal)) as reader:
        return _objects(list(reader), listing)


def read_markdown(data: bytes, listing: Listing) -> Rows:
    """Read what a Markdown renderer shows, and make sure that it is nothing but text."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(data.decode())
    cells = []
    for token in tokens:
        if token.type == "inline":
            kinds = {child.type for child in token.children or []}
            assert kinds <= {"text", "text_special"}, token.content
            cells.append("".join(child.content for child in token.children or []))
    assert [token.type for token in tokens if token.level == 0] == ["table_open", "table_close"]
    return _typed_rows(cells, listing)


def read_table(data: bytes, listing: Listing) -> Rows:
    """Read by the columns that the rule under the header draws."""
    header, rule, *body = data.decode().split("\n")
    assert body.pop() == ""
    widths = [len(dashes) for dashes in rule.split("  ")]
    cells = [cell for line in [header, *body] for cell in _cut(line, widths)]
    return _typed_rows(cells, listing)


def read_parquet(data: bytes, listing: Listing) -> Rows:
    """Read with pyarrow and with polars, which must agree."""
    table = pq.read_table(io.BytesIO(data))
    assert table.column_names == [column.name for column in listing.columns]
    rows = [tuple(row.values()) for row in table.to_pylist()]
    assert pl.read_parquet(io.BytesIO(data)).rows() == rows
    return rows


READERS: dict[str, Callable[[bytes, Listing], Rows]] = {
    "table": read_table,
    "csv": read_csv,
    "json": read_json,
    "jsonl": read_jsonl,
    "markdown": read_markdown,
    "parquet": read_parquet,
}


def _objects(objects: list[dict[str, Any]], listing: Listing) -> Rows:
    names = [column.name for column in listing.columns]
    for row in objects:
        assert list(row) == names
    return [
        tuple(
            float(value) if column.type == "DOUBLE" and value is not None else value
            for value, column in zip(row.values(), listing.columns, strict=True)
        )
        for row in objects
    ]


def _typed_rows(cells: list[str], listing: Listing) -> Rows:
    width = len(listing.columns)
    header, body = cells[:width], cells[width:]
    assert header == [column.name for column in listing.columns]
    rows = [body[start : start + width] for start in range(0, len(body), width)]
    return [
        tuple(_from_cell(cell, column.type) for cell, column in zip(row, listing.columns, strict=True)) for row in rows
    ]


def _from_cell(cell: str, sql_type: str) -> object:
    if cell == "–":
        return None
    return _typed(json.loads(cell) if sql_type == "VARCHAR" and cell.startswith('"') else cell, sql_type)


def _typed(cell: str, sql_type: str) -> object:
    if sql_type == "VARCHAR":
        return cell
    if sql_type == "DOUBLE":
        return float(cell.strip('"'))
    return json.loads(cell, parse_float=Decimal)


def _cut(line: str, widths: list[int]) -> list[str]:
    cells = []
    for width in widths:
        end = bisect_right(range(len(line) + 1), width, key=lambda end: cell_len(line[:end])) - 1
        cells.append(line[:end].strip())
        line = line[end + 2 :]
    return cells
