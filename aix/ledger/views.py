"""DuckDB views over one version of the ledger: one view per table, in the schema of today."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from aix.errors import LedgerDamagedError
from aix.ledger.manifest import Manifest, Segment, segment_path
from aix.schema import TABLES, Table
from aix.schema.migrations import upgrade_select
from aix.schema.sql import empty_select, quote_name, quote_text

if TYPE_CHECKING:
    import duckdb

_WORD = re.compile(r"\w+")
_GLOB_CHARACTER = re.compile(r"[*?\[]")


def create_views(
    connection: "duckdb.DuckDBPyConnection",
    ledger: Path,
    manifest: Manifest,
    names: Iterable[str] = TABLES,
    *,
    typed: bool = False,
) -> None:
    """Create or replace a view for every table of the schema, or for some, whatever version wrote the files.

    With `typed` its columns have the types of the schema even where a file has others. That takes a moment, and is for
    readers whose programs rely on them.
    """
    import duckdb

    for table in map(TABLES.__getitem__, names):
        try:
            select = view_select(table, ledger, manifest)
            if typed and manifest.tables.get(table.name):
                columns = (f"cast({quote_name(each.name)} as {each.type}) as {quote_name(each.name)}" for each in table)
                select = f"select {', '.join(columns)} from ({select})"
            connection.execute(f"create or replace view {quote_name(table.name)} as {select}")
        except (duckdb.Error, LedgerDamagedError) as error:
            raise LedgerDamagedError(ledger, f"the files of table {table.name} cannot be read: {error}") from error


def tables_named(statements: Iterable[str]) -> list[str]:
    """Return the tables that statements may read."""
    words = {word.lower() for sql in statements for word in _WORD.findall(sql)}
    return [name for name in TABLES if name in words]


def view_select(table: Table, ledger: Path, manifest: Manifest) -> str:
    """Return the SELECT of the table's view."""
    segments = manifest.tables.get(table.name, ())
    if not segments:
        return empty_select(table)
    return upgrade_select(table, read_files(ledger, segments), manifest.schema_version)


def read_files(ledger: Path, segments: Iterable[Segment]) -> str:
    """Return SQL for the rows of these files."""
    return read_parquet(segment_path(ledger, segment) for segment in segments)


def read_parquet(paths: Iterable[Path]) -> str:
    """Return SQL for the rows of Parquet files."""
    # Without the option, a folder called `id=1` above the ledger would become a column.
    return f"read_parquet([{', '.join(map(file_literal, paths))}], hive_partitioning = false)"


def file_literal(path: Path) -> str:
    """Return a string literal that stands for this file and no other in `read_parquet`."""
    # DuckDB expands wildcards in file names; a ledger may lie in a folder whose name holds some.
    return quote_text(_GLOB_CHARACTER.sub(r"[\g<0>]", str(path.absolute())))
