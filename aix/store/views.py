"""DuckDB views over one version of the ledger: one view per table, in the schema of today."""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aix.errors import LedgerDamagedError
from aix.schema import SCHEMA_VERSION, TABLES, Column, Table
from aix.schema.migrations import upgrade_select
from aix.schema.sql import empty_select, name_list, quote_name, quote_text
from aix.store.manifest import COMPONENT, Manifest, Segment, dead_in, segment_path

if TYPE_CHECKING:
    import duckdb

StoredRows = tuple[Path, tuple[int, ...]]
"""A file, and the families whose rows in it are dead."""

ColumnReader = Callable[[Column], str]
"""Gives the SQL of a column's value, mostly its name."""

_WORD = re.compile(r"\w+")
_GLOB_CHARACTER = re.compile(r"[*?\[]")


def column_name(column: Column) -> str:
    """Read a column as it is stored."""
    return quote_name(column.name)


def create_views(
    connection: "duckdb.DuckDBPyConnection",
    ledger: Path,
    manifest: Manifest,
    names: Iterable[str] = TABLES,
    *,
    typed: bool = False,
    read: ColumnReader = column_name,
) -> None:
    """Create or replace a view for every table of the schema, or for some, whatever version wrote the files.

    With `typed` its columns have the types of the schema even where a file has others. That takes a moment, and is for
    readers whose programs rely on them; each is then given by what `read` makes of it.
    """
    import duckdb

    for table in map(TABLES.__getitem__, names):
        try:
            select = view_select(table, ledger, manifest)
            if typed and manifest.tables.get(table.name):
                columns = (f"cast({read(each)} as {each.type}) as {quote_name(each.name)}" for each in table)
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
    files = stored_rows(ledger, manifest, segments)
    if manifest.schema_version < SCHEMA_VERSION:
        return upgrade_select(table, f"({live_select('*', files)})", manifest.schema_version)
    return live_select(name_list(table), files)


def stored_rows(ledger: Path, manifest: Manifest, segments: Iterable[Segment]) -> list[StoredRows]:
    """Return the files of a table or kept view, each with the families whose rows in it are dead."""
    return [(segment_path(ledger, segment), dead_in(manifest, segment)) for segment in segments]


def live_select(columns: str, files: Sequence[StoredRows]) -> str:
    """Return a SELECT of these columns of the rows in files that are not dead."""
    plain = [path for path, dead in files if not dead]
    thinned = [path for path, dead in files if dead]
    selects = [f"select {columns} from {read_parquet(plain)}"] if plain else []
    if thinned:
        numbers = sorted({number for _, dead in files for number in dead})
        listed = ", ".join(map(str, numbers))
        selects.append(f"select {columns} from {read_parquet(thinned)} where {COMPONENT} not in ({listed})")
    return " union all ".join(selects)


def read_parquet(paths: Iterable[Path]) -> str:
    """Return SQL for the rows of Parquet files."""
    # Without the option, a folder called `id=1` above the ledger would become a column.
    return f"read_parquet([{', '.join(map(file_literal, paths))}], hive_partitioning = false)"


def file_literal(path: Path) -> str:
    """Return a string literal that stands for this file and no other in `read_parquet`."""
    # DuckDB expands wildcards in file names; a ledger may lie in a folder whose name holds some.
    return quote_text(_GLOB_CHARACTER.sub(r"[\g<0>]", str(path.absolute())))
