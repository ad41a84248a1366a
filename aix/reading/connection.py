"""A DuckDB connection that can read one version of one ledger, and nothing else."""

import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from aix.derived.view_cache import cache_paths
from aix.errors import LedgerDamagedError
from aix.schema.sql import quote_text
from aix.store.durable import is_absent
from aix.store.manifest import DATA_FOLDER, Manifest, files_by_name
from aix.store.views import file_literal

_SETTINGS = (
    "set autoinstall_known_extensions = false",
    "set autoload_known_extensions = false",
    "set allow_community_extensions = false",
    "set allow_persistent_secrets = false",
    # Else a table name that is not in the ledger could be that of a variable of the Python program.
    "set python_enable_replacements = false",
    # So that the same ledger gives the same rows on every machine.
    "set TimeZone = 'UTC'",
)


def connect(ledger: Path, manifest: Manifest) -> duckdb.DuckDBPyConnection:
    """Open a database in memory for views of a version; its files, and the cache, are all that it can reach."""
    try:
        str(ledger).encode()
    except UnicodeEncodeError as error:
        raise LedgerDamagedError(ledger, "its path is not UTF-8, and DuckDB opens no other") from error
    for name, segments in manifest.tables.items():  # most statements look at few of them
        for missing in (segment.path for segment in segments if is_absent(ledger / segment.path)):
            raise LedgerDamagedError(ledger, f"the files of table {name} cannot be read: {missing} is missing")
    connection = duckdb.connect()
    for setting in _SETTINGS:
        connection.execute(setting)
    connection.execute(f"set temp_directory = {quote_text(_private_folder(connection))}")
    connection.execute(f"set allowed_paths = [{', '.join(_file_names(ledger, manifest))}]")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")
    return connection


@contextmanager
def damage_to(ledger: Path) -> Iterator[None]:
    """Report an error of a statement that AIX wrote as damage to the ledger: its files are not what they should be."""
    try:
        yield
    except (duckdb.InterruptException, duckdb.OutOfMemoryException):
        raise
    except duckdb.Error as error:
        raise LedgerDamagedError(ledger, f"a file of it cannot be read: {error}") from error


def is_of_files(error: Exception, ledger: Path) -> bool:
    """Whether DuckDB failed to read a file of the ledger; a statement cannot make it fail in that way."""
    if isinstance(error, duckdb.IOException) and "No space left" in str(error):
        return False
    is_of_reading = type(error) is duckdb.Error or isinstance(error, duckdb.IOException | duckdb.SerializationException)
    names_file = isinstance(error, duckdb.InvalidInputException) and f'"{ledger / DATA_FOLDER}/' in str(error)
    return is_of_reading or names_file


def _private_folder(connection: duckdb.DuckDBPyConnection) -> str:
    """Make the folder for what does not fit into memory; left to itself, DuckDB writes to the current one."""
    folder = tempfile.mkdtemp(prefix="aix-")
    weakref.finalize(connection, shutil.rmtree, folder, ignore_errors=True)
    return folder


def _file_names(ledger: Path, manifest: Manifest) -> set[str]:
    """Name every file as it is, and as the views write it; those of the cache may be made later."""
    paths = [ledger / segment.path for segments in files_by_name(manifest).values() for segment in segments]
    paths += cache_paths(ledger, manifest)
    return {name for path in paths for name in (quote_text(str(path.absolute())), file_literal(path))}
