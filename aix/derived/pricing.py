"""Prices in a ledger: the lines in force (`prices`), and what they say of the models of its requests (`model_prices`).

Both change in the commit that makes it necessary, so that no version has requests of a model which was never looked
up. They lie in one file each, outside of all groups, and are replaced as a whole: no source gives them, and no join
is made.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from aix.ids import h63
from aix.prices import table as price_table
from aix.prices.choice import Chooser, ModelPrice
from aix.prices.lines import FOREVER, UNITS, PriceLine
from aix.prices.table import PriceTable, bundled_providers
from aix.schema import TABLES, Table
from aix.schema.arrow import arrow_schema
from aix.store.commit import Stage
from aix.store.manifest import EMPTY, PRICE_TABLES, Manifest, Segment, dead_in
from aix.store.segments import checked_path, read_live_rows, reading

_PRICES, _MODEL_PRICES = (TABLES[name] for name in PRICE_TABLES)
_LINE_COLUMNS = [name for name in _PRICES.column_names if name not in ("id", "unit", "price_usd")]
"""Columns of `prices` that a line has, whatever the unit."""
_REQUESTS = TABLES["requests"]
_ROWS_AT_ONCE = 10_000
PRICES_DIGEST = b"aix.prices"
"""In the file of bundled rows, the digest of the lines that they are from."""

Pair = tuple[str, str]
"""A provider, empty where a request names none, and a model."""


def without_prices(base: Manifest) -> Manifest:
    """Return a version without the prices that this AIX keeps in it."""
    tables = {
        name: tuple(segment for segment in segments if name not in PRICE_TABLES or segment.group is not None)
        for name, segments in base.tables.items()
    }
    return msgspec.structs.replace(base, tables={name: segments for name, segments in tables.items() if segments})


def with_prices(before: Manifest, version: Manifest, prices: PriceTable | None, stage: Stage) -> Manifest:
    """Return a version with the prices that its requests need: by these lines, else by those of the version before."""
    requests = version.tables.get("requests", ())
    if prices is not None and prices.digest != before.prices:
        rows = _rows_of(prices, _pairs(stage.ledger, _REQUESTS, requests, version))
        written = {name: (stage.write(TABLES[name], rows[name]),) for name in PRICE_TABLES}
        return msgspec.structs.replace(version, tables={**version.tables, **written}, prices=prices.digest)
    kept = {name: [each for each in before.tables.get(name, ()) if each.group is None] for name in PRICE_TABLES}
    # Prices that stand there without a digest were put there by other means, by rules that may not be ours.
    known = before.tables.get("requests", ())
    new = [segment for segment in requests if before.prices and segment not in known]
    added = _added(kept, _pairs(stage.ledger, _REQUESTS, new, version), prices, stage)
    tables = {name: (*version.tables.get(name, ()), *added[name]) for name in PRICE_TABLES}
    return msgspec.structs.replace(version, tables={**version.tables, **tables})


def _added(
    kept: Mapping[str, Sequence[Segment]], pairs: set[Pair], prices: PriceTable | None, stage: Stage
) -> Mapping[str, Sequence[Segment]]:
    """Return the files of the prices with those of models that are new to them."""
    new = pairs - _pairs(stage.ledger, _MODEL_PRICES, kept[_MODEL_PRICES.name]) if pairs else pairs
    if not new:
        return kept
    chooser = prices.chooser if prices else Chooser(_stored_lines(stage.ledger, kept), bundled_providers())
    rows = _model_price_batches(price for pair in sorted(new) for price in chooser.choose(*pair))
    if not any(batch.num_rows for batch in rows):
        return kept
    before = [batch for segment in kept[_MODEL_PRICES.name] for batch in _batches(stage.ledger, _MODEL_PRICES, segment)]
    return {**kept, _MODEL_PRICES.name: [stage.write(_MODEL_PRICES, [*before, *rows])]}


def _batches(ledger: Path, table: Table, segment: Segment) -> list[pa.RecordBatch]:
    path = checked_path(ledger, table, segment)
    with reading(path):
        batches: list[pa.RecordBatch] = pq.read_table(path).to_batches()
    return batches


def _pairs(ledger: Path, table: Table, segments: Sequence[Segment], version: Manifest = EMPTY) -> set[Pair]:
    """Return the models that rows of a version name, with their providers."""
    pairs: set[Pair] = set()
    for segment in segments:
        path = checked_path(ledger, table, segment)
        with reading(path):
            for rows in read_live_rows(path, dead_in(version, segment), ["provider", "model"]):
                pairs |= _named(rows)
    return pairs


def _named(rows: pa.Table) -> set[Pair]:
    found = rows.select(["provider", "model"]).group_by(["provider", "model"]).aggregate([])
    named = zip(found["provider"].to_pylist(), found["model"].to_pylist(), strict=True)
    return {(provider or "", model) for provider, model in named if model is not None}


def _rows_of(prices: PriceTable, pairs: set[Pair]) -> dict[str, list[pa.RecordBatch]]:
    """Return the rows of both tables: of the lines, and of the models that the lines or these pairs name."""
    rows = bundled_rows(prices.digest) or rows_of_lines(prices)
    named = pa.Table.from_batches(rows[_MODEL_PRICES.name])
    others = pairs - _named(named)
    if not others:
        return rows
    more = _model_price_batches(price for pair in sorted(others) for price in prices.chooser.choose(*pair))
    return {**rows, _MODEL_PRICES.name: [*rows[_MODEL_PRICES.name], *more]}


def rows_of_lines(prices: PriceTable) -> dict[str, list[pa.RecordBatch]]:
    """Return the rows that price lines give, whatever models a ledger has."""
    named = prices.chooser.named
    model_prices = _model_price_batches(price for pair in sorted(named) for price in named[pair])
    return {_PRICES.name: _price_batches(prices.lines), _MODEL_PRICES.name: model_prices}


@lru_cache(maxsize=1)
def bundled_rows(digest: str) -> dict[str, list[pa.RecordBatch]] | None:
    """Return the rows that were made of the bundled lines when AIX was, unless the lines in force are others."""
    rows = {}
    for name in PRICE_TABLES:
        table = pq.read_table(bundled_rows_path(name))
        if table.schema.metadata[PRICES_DIGEST].decode() != digest:
            return None
        rows[name] = table.replace_schema_metadata().to_batches(_ROWS_AT_ONCE)
    return rows


def bundled_rows_path(name: str) -> Path:
    """Return the file of the bundled rows of a price table; `make docs` writes it."""
    return Path(price_table.__file__).with_name(f"{name}.parquet")


def _model_price_batches(prices: Iterable[ModelPrice]) -> list[pa.RecordBatch]:
    rows = list(prices)
    schema = arrow_schema(_MODEL_PRICES)
    # Most rows of a line differ in names only: its decimals, which are what takes time, are converted once.
    lines = {id(row.line): row.line for row in rows}
    places = {line: place for place, line in enumerate(lines)}
    line_of_row = pa.array([places[id(row.line)] for row in rows], pa.int64())
    by_line = {
        f"{unit}_usd": pa.array([line.prices.get(unit) for line in lines.values()], schema.field(f"{unit}_usd").type)
        for unit in UNITS
    }
    columns = [
        by_line[field.name].take(line_of_row)
        if field.name in by_line
        else pa.array(
            [row.basis if field.name == "price_basis" else getattr(row, field.name) for row in rows], field.type
        )
        for field in schema
    ]
    batches: list[pa.RecordBatch] = pa.table(columns, schema=schema).to_batches(_ROWS_AT_ONCE)
    return batches


@lru_cache(maxsize=1)
def _price_batches(lines: tuple[PriceLine, ...]) -> list[pa.RecordBatch]:
    rows = []
    for line in lines:
        key = line.provider, line.model, line.match_rule, line.valid_from, line.tier_start_tokens, line.variant
        rows += [
            {
                **{name: getattr(line, name) for name in _LINE_COLUMNS},
                "id": h63("prices", *key, unit, line.precedence),
                "valid_to": None if line.valid_to == FOREVER else line.valid_to,
                "unit": unit,
                "price_usd": price,
            }
            for unit, price in line.prices.items()
        ]
    batches: list[pa.RecordBatch] = pa.Table.from_pylist(rows, arrow_schema(_PRICES)).to_batches(_ROWS_AT_ONCE)
    return batches


def _stored_lines(ledger: Path, kept: Mapping[str, Sequence[Segment]]) -> list[PriceLine]:
    """Read the lines that a ledger holds."""
    prices: dict[tuple[object, ...], dict[str, Decimal]] = defaultdict(dict)
    for segment in kept[_PRICES.name]:
        for batch in _batches(ledger, _PRICES, segment):
            for row in batch.to_pylist():
                prices[tuple(row[name] for name in _LINE_COLUMNS)][row["unit"]] = row["price_usd"]
    return [_line(dict(zip(_LINE_COLUMNS, values, strict=True)), found) for values, found in prices.items()]


def _line(row: dict[str, Any], prices: dict[str, Decimal]) -> PriceLine:
    valid_to = FOREVER if row["valid_to"] is None else row["valid_to"]
    return PriceLine(**{**row, "valid_to": valid_to, "prices": prices})
