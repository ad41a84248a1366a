"""Writing one version of a ledger in forms that stand alone: a Parquet file per table, a DuckDB or SQLite database."""

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import duckdb
import pyarrow as pa

from aix.derived.catalog import STORAGE_VERSION
from aix.errors import ExportError
from aix.merge.workspace import write_rows
from aix.paths import is_utf8
from aix.schema import TABLES, Table, Type
from aix.schema.arrow import arrow_schema
from aix.schema.sql import quote_name
from aix.store.durable import DiskError, make_folder
from aix.store.engine import engine_errors_of
from aix.store.manifest import Manifest
from aix.store.segments import rows_of_segment
from aix.store.views import read_parquet, view_select

if TYPE_CHECKING:
    import sqlite3

    from aix.redaction.ledger_redactor import LedgerRedactor

_SQLITE_TYPES = {
    Type.VARCHAR: "text",
    Type.BIGINT: "integer",
    Type.BOOLEAN: "integer",
    Type.PRICE: "real",
    Type.COST: "real",
    Type.VECTOR: "text",
}
_COSTS = "select request_id, cost_usd, cost_estimated_usd, price_basis, is_unpriced from v_requests order by request_id"
_COSTS_TABLE = """
create table request_costs (
  request_id text primary key, cost_usd real, cost_estimated_usd real, price_basis text, is_unpriced integer,
  foreign key (request_id) references requests (id)
)
"""


def export_parquet(
    ledger: Path, version: Manifest, target: Path, tables: Iterable[Table], redactor: "LedgerRedactor | None" = None
) -> None:
    """Write a folder with one Parquet file per table; a table without rows has a file as well."""
    with new_folder(target) as folder:
        for table in tables:
            _write_table(folder, ledger, version, table, redactor)


def _write_table(
    folder: Path, ledger: Path, version: Manifest, table: Table, redactor: "LedgerRedactor | None"
) -> Path:
    with engine_errors_of(ledger):
        rows = _rows(ledger, version, table)
        written = rows if redactor is None else redactor.batches(table, rows)
        return write_rows(folder / f"{table.name}.parquet", arrow_schema(table), written)


def export_duckdb(
    ledger: Path, version: Manifest, target: Path, tables: Iterable[Table], redactor: "LedgerRedactor | None" = None
) -> None:
    """Write a DuckDB database with a table per table, which every DuckDB since 1.0 opens."""
    if not is_utf8(target):
        raise ExportError(target, "DuckDB writes no file whose path is not UTF-8")
    if "?" in str(target.absolute().parent):
        raise ExportError(target, "DuckDB cannot write into a folder whose name has a question mark")
    with _new_file(target) as database:
        folder = database.parent
        settings = {"storage_compatibility_version": STORAGE_VERSION}
        with engine_errors_of(ledger), duckdb.connect(str(database), config={**settings}) as connection:
            connection.execute("set memory_limit = '512MB'; set preserve_insertion_order = false")
            for table in tables:
                create = f"create table {quote_name(table.name)} as"
                if redactor is None:
                    connection.execute(f"{create} {view_select(table, ledger, version)}")
                    continue
                written = _write_table(folder, ledger, version, table, redactor)
                connection.execute(f"{create} from {read_parquet([written])}")
                written.unlink()


def export_sqlite(
    ledger: Path, version: Manifest, target: Path, tables: Iterable[Table], redactor: "LedgerRedactor | None" = None
) -> None:
    """Write an SQLite database with a table per table, and `request_costs`: SQLite cannot run the views of prices.

    Money is a number of double precision there. References are declared, so that programs such as Datasette link rows.
    """
    import sqlite3

    exported = {table.name: table for table in tables}
    try:
        with _new_file(target) as database, closing(sqlite3.connect(database)) as connection:
            connection.executescript("pragma journal_mode = off; pragma synchronous = off;")
            for table in exported.values():
                with engine_errors_of(ledger):
                    rows = _rows(ledger, version, table)
                    written = rows if redactor is None else redactor.batches(table, rows)
                    connection.execute(_sqlite_table(table, exported))
                    _fill(connection, table.name, len(table.columns), written)
            if "requests" in exported:
                _add_costs(connection, ledger, version, redactor)
            connection.commit()
    except sqlite3.Error as error:
        raise ExportError(target, str(error)) from error


def _sqlite_table(table: Table, exported: Mapping[str, Table]) -> str:
    """Return the statement that makes a table in SQLite."""
    parts = [f"{quote_name(column.name)} {_SQLITE_TYPES[column.type]}" for column in table]
    parts.append(f"primary key ({', '.join(map(quote_name, table.key))})")
    for column in table:
        other, _, key = (column.references or "").partition(".")
        if other in exported and exported[other].key == (key,):
            named = f"{quote_name(other)} ({quote_name(key)})"
            parts.append(f"foreign key ({quote_name(column.name)}) references {named}")
    return f"create table {quote_name(table.name)} ({', '.join(parts)})"


def _fill(connection: "sqlite3.Connection", name: str, width: int, batches: Iterable[pa.RecordBatch]) -> None:
    statement = f"insert into {quote_name(name)} values ({', '.join('?' * width)})"  # noqa: S608 - a name of the schema
    for batch in batches:
        columns = [map(_sqlite_value, column.to_pylist()) for column in batch.columns]
        connection.executemany(statement, zip(*columns, strict=True))


def _sqlite_value(value: object) -> object:
    if isinstance(value, Decimal):
        return float(value)
    return json.dumps(value) if isinstance(value, list) else value


def _add_costs(
    connection: "sqlite3.Connection", ledger: Path, version: Manifest, redactor: "LedgerRedactor | None"
) -> None:
    from aix.reading.ledger import Ledger

    connection.execute(_COSTS_TABLE)
    with Ledger(ledger, version) as opened:
        rows = opened.own_sql(_COSTS).rows()
    if redactor is not None:  # an id is what it is in `requests`
        rows = [(redactor.row("requests", {"id": name})["id"], *others) for name, *others in rows]
    costs = (tuple(map(_sqlite_value, row)) for row in rows)
    connection.executemany("insert into request_costs values (?, ?, ?, ?, ?)", costs)


def _rows(ledger: Path, version: Manifest, table: Table) -> Iterator[pa.RecordBatch]:
    for segment in version.tables.get(table.name, ()):
        yield from rows_of_segment(ledger, version, table, segment)


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Give a private folder that becomes the target once it is whole; a folder that is there must be empty."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ExportError(target, "is there already, and not an empty folder")
    with _made_beside(target) as folder:
        yield folder


@contextmanager
def _new_file(target: Path) -> Iterator[Path]:
    """Give a path in a private folder; the file that is written there takes the place of the target."""
    if target.is_dir():
        raise ExportError(target, "is a folder")
    with _made_beside(target) as folder:
        made = folder / "ledger"
        yield made
        made.chmod(0o600)
        # What is put in the place of the target is the file, not the folder it was made in.
        finished = folder.with_name(f"{folder.name}.file")
        made.rename(finished)
        shutil.rmtree(folder)
        finished.rename(folder)


@contextmanager
def _made_beside(target: Path) -> Iterator[Path]:
    """Give a private folder that takes the place of the target once it is whole."""
    part = target.absolute().with_name(f".{target.name}.{uuid4().hex}.part")
    try:
        make_folder(part)
        yield part
        if target.is_dir() and part.is_dir():
            target.rmdir()
        part.replace(target)
    except (DiskError, OSError) as error:
        raise ExportError(target, getattr(error, "strerror", None) or str(error)) from error
    finally:
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)


def tables_to_export(*, canonical: bool) -> list[Table]:
    """Return all tables, or those that the Agents Ledger Schema defines."""
    return [table for table in TABLES.values() if table.canonical or not canonical]
