"""Writing one version of a ledger in forms that stand alone: a Parquet file per table, or one DuckDB database."""

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import duckdb
import pyarrow as pa

from aix.derived.catalog import STORAGE_VERSION
from aix.errors import ExportError
from aix.merge.workspace import write_rows
from aix.paths import is_utf8
from aix.schema import TABLES, Table
from aix.schema.arrow import arrow_schema
from aix.schema.sql import quote_name
from aix.store.durable import DiskError, make_folder
from aix.store.engine import engine_errors_of
from aix.store.manifest import Manifest
from aix.store.segments import rows_of_segment
from aix.store.views import read_parquet, view_select

if TYPE_CHECKING:
    from aix.redaction.ledger_redactor import LedgerRedactor


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
    if target.is_dir():
        raise ExportError(target, "is a folder")
    if not is_utf8(target):
        raise ExportError(target, "DuckDB writes no file whose path is not UTF-8")
    if "?" in str(target.absolute().parent):
        raise ExportError(target, "DuckDB cannot write into a folder whose name has a question mark")
    with _made_beside(target) as folder:
        database = folder / "ledger.duckdb"
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
        database.chmod(0o600)
        # What is put in the place of the target is the file, not the folder it was made in.
        finished = folder.with_name(f"{folder.name}.duckdb")
        database.rename(finished)
        shutil.rmtree(folder)
        finished.rename(folder)


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
