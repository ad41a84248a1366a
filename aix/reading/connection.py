"""A DuckDB connection that can read one version of one ledger, and nothing else, and the SQL that is run on it.

One statement is run, a SELECT or the EXPLAIN of one, that calls nothing which acts. DuckDB's own parser says what a
statement is; what slips through there still reaches no other file.
"""

import re
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import duckdb

from aix.derived.view_cache import cache_paths
from aix.errors import LedgerDamagedError, SqlError
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
HIDING_FUNCTION = "aix_hidden"
"""The function by which texts are hidden from statements; see `aix.reading.hidden_texts`."""
_ADVICE = "one SELECT is run, or the EXPLAIN of one; see `aix sql --help`"
_ADVICE_OF_ROWS = "one SELECT is run, on the ledger's tables and views"
_OWN_ADVICE = "name the tables and views of the ledger"
_QUERY_NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "CTE_NODE", "RECURSIVE_CTE_NODE"}
# Whatever DuckDB lists as a table function, or as one with side effects, is refused unless it is known to only look.
_TABLE_FUNCTIONS = {
    "duckdb_columns",
    "duckdb_functions",
    "duckdb_keywords",
    "duckdb_settings",
    "duckdb_tables",
    "duckdb_types",
    "duckdb_views",
    "generate_series",
    "histogram",
    "histogram_values",
    "json_each",
    "json_tree",
    "parquet_file_metadata",
    "parquet_kv_metadata",
    "parquet_metadata",
    "parquet_scan",
    "parquet_schema",
    "pragma_table_info",
    "pragma_version",
    "range",
    "read_parquet",
    "repeat",
    "unnest",
}
_VOLATILE_FUNCTIONS = {
    "current_query",
    "error",
    "gen_random_uuid",
    "random",
    "setseed",
    "uuid",
    "uuidv4",
    "uuidv7",
}
_FILE_FUNCTIONS = {name for name in _TABLE_FUNCTIONS if name.startswith(("parquet_", "read_"))}
_UNSAFE_WITH_HIDDEN_TEXTS = {name for name in _TABLE_FUNCTIONS if name.startswith(("duckdb_", "pragma_"))} | {
    # What they give names files and folders, or says how texts are hidden.
    *("current_query", "current_setting", HIDING_FUNCTION),
    # They take time and memory by the square of a length, and are not stopped meanwhile.
    *("damerau_levenshtein", "editdist3", "levenshtein"),
}
_OWN_TABLE = re.compile(r"(?!(?:sqlite|pg)_)\w+", re.IGNORECASE)
"""The name of a table, a view or a part of a statement; DuckDB takes one with a dot for a file."""
_OWN_SCHEMAS = {"", "main"}
HARMLESS_FUNCTIONS = frozenset(_TABLE_FUNCTIONS | _VOLATILE_FUNCTIONS)
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_ANALYZE = (b"analyze", b"analyse")
_WORD = re.compile(rb"\w+|.")


def connect(ledger: Path, manifest: Manifest, memory_limit: str | None = None) -> duckdb.DuckDBPyConnection:
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
    if memory_limit is not None:
        connection.execute(f"set memory_limit = {quote_text(memory_limit)}")
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


@dataclass(frozen=True)
class Statement:
    """SQL that may be run, without the semicolon at its end."""

    sql: str
    is_explain: bool
    is_own: bool = False
    """Whether AIX wrote it: its values are such as Python has, so that none needs a cast."""


def accept(connection: duckdb.DuckDBPyConnection, query: str, *, reads_files: bool = True) -> Statement:
    """Return the one statement of the query, or raise an error that says why it is not run.

    A statement that reads no files sees the ledger's rows only through its tables and views, and nothing of DuckDB.
    """
    advice = _ADVICE if reads_files else _ADVICE_OF_ROWS
    if _NO_TEXT.search(query):
        raise SqlError("the SQL holds characters that are no text", advice)
    try:
        kinds = [statement.type.name for statement in connection.extract_statements(query)]
    except duckdb.Error as error:
        raise SqlError(str(error)) from error
    if len(kinds) != 1 or kinds == ["MULTI"]:
        raise SqlError("this is more than one statement" if kinds else "there is no statement", advice)
    if kinds[0] not in ("SELECT", "EXPLAIN"):
        raise SqlError(f"{kinds[0].replace('_', ' ')} is not run here", advice)
    words = _Words(query)
    is_explain = kinds[0] == "EXPLAIN"
    if is_explain and not reads_files:
        raise SqlError("no plan is shown here: it names files", "ask for the rows themselves")
    _check_select(connection, words.explained() if is_explain else words.text, reads_files=reads_files)
    return Statement(words.text, is_explain)


def _check_select(connection: duckdb.DuckDBPyConnection, select: str, *, reads_files: bool) -> None:
    found = connection.execute(
        """
        with parsed as (select json_serialize_sql(cast($1 as varchar)) as tree)
        select json_array_length(tree, '$.statements'),
               json_extract_string(tree, '$..type'),
               json_extract_string(tree, '$..function_name'),
               json_extract_string(tree, '$..table_name'),
               json_extract_string(tree, '$..schema_name') || json_extract_string(tree, '$..catalog_name')
               || json_extract_string(tree, '$..schema') || json_extract_string(tree, '$..catalog')
        from parsed
        """,
        [select],
    ).fetchone()
    assert found is not None  # noqa: S101 - the query has one row
    statements, types, functions, tables, schemas = found
    writing = {node for node in types if node and node.endswith("_NODE")} - _QUERY_NODES
    if statements != 1 or writing:
        raise SqlError("this statement is no plain SELECT", _ADVICE)
    called = {function.lower() for function in functions if function}
    refused = sorted(called & _refused_functions())
    if refused:
        raise SqlError(f"the function {refused[0]} is not called here: it can do more than look at the ledger", _ADVICE)
    if reads_files:
        return
    if unsafe := sorted(called & _UNSAFE_WITH_HIDDEN_TEXTS - _FILE_FUNCTIONS):
        raise SqlError(f"the function {unsafe[0]} is not called here", _OWN_ADVICE)
    is_own = called.isdisjoint(_FILE_FUNCTIONS) and all(map(_OWN_TABLE.fullmatch, filter(None, tables)))
    if not is_own or {(name or "").lower() for name in schemas} - _OWN_SCHEMAS:
        raise SqlError("no file is read here, those of the ledger neither", _OWN_ADVICE)


@cache
def _refused_functions() -> frozenset[str]:
    """Return what is not called; asked of DuckDB once, since no connection here can load more functions."""
    with duckdb.connect() as connection:
        found = connection.execute(
            """
            select distinct lower(function_name) from duckdb_functions()
            where has_side_effects or function_type in ('table', 'table_macro')
            """
        ).fetchall()
    return frozenset(name for (name,) in found) - HARMLESS_FUNCTIONS


class _Words:
    """A query by the words of DuckDB's lexer, which knows what is a comment or a string."""

    def __init__(self, query: str) -> None:
        self._bytes = query.encode()
        self._starts = [start for start, kind in duckdb.tokenize(query) if kind != duckdb.token_type.comment]
        end = len(self._bytes)
        while self._word(len(self._starts) - 1) == b";":
            end = self._starts.pop()
        self._bytes = self._bytes[:end]

    @property
    def text(self) -> str:
        """The query without the semicolons at its end."""
        return self._bytes.decode()

    def explained(self) -> str:
        """Return what comes after EXPLAIN and its options."""
        first = 1
        if self._word(1) in _ANALYZE:
            first = 2
        elif self._word(1) == b"(" and self._word(2) in (*_ANALYZE, b"format"):
            first = next(number for number in range(2, len(self._starts)) if self._word(number) == b")") + 1
        return self._bytes[self._starts[first] :].decode()

    def _word(self, number: int) -> bytes:
        found = _WORD.match(self._bytes, self._starts[number])
        return found[0].lower() if found else b""
