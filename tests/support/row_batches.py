"""Joining rows into a ledger, and reading everything that is in one."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import duckdb

from aix.merge.merge_rows import add
from aix.merge.row_batches import Delivery
from aix.schema import TABLES
from aix.schema.extensions import IMPORT_TABLES
from aix.store.locks import staging_folder
from aix.store.manifest import PRICE_TABLES, Manifest, is_ledger, read_latest
from aix.store.views import create_views
from tests.support.sample_conversation import Row
from tests.support.sample_ledger import batch_from_rows

Rows = Mapping[str, Sequence[Row]]


def deliver(ledger: Path, *statements: Rows | tuple[str, Rows]) -> Manifest:
    """Join rows into a ledger in one commit; rows without a named source are each from one of their own."""
    with ExitStack() as stack:
        deliveries = []
        for number, given in enumerate(statements):
            source, rows = given if isinstance(given, tuple) else (f"source-{number}", given)
            delivery = Delivery(stack.enter_context(staging_folder(ledger)))
            with delivery:
                for name, listed in rows.items():
                    delivery.add(source, TABLES[name], batch_from_rows(TABLES[name], listed))
            deliveries.append(delivery.files())
        return add(ledger, deliveries)


def dump(ledger: Path) -> dict[str, list[str]]:
    """Return every row of every table that has rows, as ordered text."""
    if not is_ledger(ledger):
        return {}
    with duckdb.connect() as connection:
        create_views(connection, ledger, read_latest(ledger))
        tables = {name: connection.table(name).fetchall() for name in TABLES}
    return {name: as_text(rows) for name, rows in tables.items() if rows}


def facts(ledger: Path) -> dict[str, list[str]]:
    """Return what the ledger holds apart from how it came in, and from its prices."""
    others = {*PRICE_TABLES, *(table.name for table in IMPORT_TABLES)}
    return {name: rows for name, rows in dump(ledger).items() if name not in others}


def as_text(rows: Iterable[tuple[object, ...]]) -> list[str]:
    return sorted(json.dumps(row, default=str) for row in rows)


def rows_of(ledger: Path, name: str) -> list[Row]:
    """Return the rows of a table, ordered by key."""
    with duckdb.connect() as connection:
        create_views(connection, ledger, read_latest(ledger))
        found = connection.table(name)
        rows = [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]
    return sorted(rows, key=lambda row: [row[key] for key in TABLES[name].key])
