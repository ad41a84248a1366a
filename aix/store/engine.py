"""One DuckDB for everything that a change asks: to open another takes 25 ms, a database within it a few.

    with one_engine(ledger):
        with engine(ledger) as connection: ...
        with engine(ledger) as connection: ...

Each connection has an empty catalog of its own. Blocks inside of one another share the DuckDB behind it, so a caller
with many questions opens a block around them all. Rows come out of it as a stream of Arrow batches, whatever the
release of DuckDB calls that.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import duckdb
import msgspec

from aix.errors import LedgerDamagedError, LedgerUnwritableError
from aix.schema.sql import quote_name
from aix.store.locks import staging_folder

if TYPE_CHECKING:
    import pyarrow as pa

_MEMORY_LIMIT = "256MB"
_READER_LIMIT = "224MB"
"""Readers follow an import in its process, which keeps some of what it took; all of it may take 500 MiB."""
_numbers = count(1)
_lock = Lock()
Parameters = Sequence[object] | Mapping[str, object]


class _Shared(msgspec.Struct):
    is_reader: bool
    resources: ExitStack = msgspec.field(default_factory=ExitStack)
    database: duckdb.DuckDBPyConnection | None = None
    users: int = 0


_shared: dict[Path, _Shared] = {}


@contextmanager
def engine(ledger: Path, *, is_reader: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a connection with an empty catalog.

    Data that does not fit into memory goes to the staging folder of the ledger, where there is room for files; a reader
    leaves that folder alone. Of blocks inside of one another, the outermost decides.
    """
    with _sharing(ledger.absolute(), is_reader=is_reader) as shared:
        with _lock:
            database = shared.database = shared.database or _open(ledger.absolute(), shared)
        with closing(database.duplicate()) as connection:
            catalog = f"work{next(_numbers)}"
            connection.execute(f"attach ':memory:' as {catalog}; use {catalog}")
            try:
                yield connection
            finally:
                with suppress(duckdb.Error):  # of a statement that was broken off, which is said already
                    connection.execute(f"use memory; detach {catalog}")


@contextmanager
def one_engine(ledger: Path, *, is_reader: bool = False) -> Iterator[None]:
    """Let everything that is asked in this block share one DuckDB, which the first question opens."""
    with _sharing(ledger.absolute(), is_reader=is_reader):
        yield


@contextmanager
def _sharing(place: Path, *, is_reader: bool) -> Iterator[_Shared]:
    with _lock:
        shared = _shared.setdefault(place, _Shared(is_reader))
        shared.users += 1
    try:
        yield shared
    finally:
        with _lock:
            shared.users -= 1
            if not shared.users:
                del _shared[place]
                shared.resources.close()


@contextmanager
def engine_errors_of(ledger: Path) -> Iterator[None]:
    """Turn errors of DuckDB and Arrow into errors that name the ledger which they read."""
    import pyarrow as pa

    try:
        yield
    except (duckdb.InterruptException, RuntimeError) as error:
        if isinstance(error, duckdb.InterruptException) or str(error) == "Query interrupted":  # how DuckDB says Ctrl-C
            raise KeyboardInterrupt from error
        raise
    except duckdb.OutOfMemoryException as error:
        raise LedgerUnwritableError(ledger, f"there is not enough room to work in: {error}") from error
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        if "No space left" in str(error):
            raise LedgerUnwritableError(ledger, str(error)) from error
        raise LedgerDamagedError(ledger, f"a file of it cannot be read: {error}") from error


def duplicate(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Return another connection to the same catalog: one whose rows are being read can do nothing else."""
    other = connection.duplicate()
    other.execute(f"use {catalog_of(connection)}")
    return other


def catalog_of(connection: duckdb.DuckDBPyConnection) -> str:
    """Return the name of the catalog in which a connection works."""
    [(catalog,)] = connection.execute("select current_database()").fetchall()
    return quote_name(catalog)


def _open(ledger: Path, shared: _Shared) -> duckdb.DuckDBPyConnection:
    with ExitStack() as opened:
        elsewhere = tempfile.TemporaryDirectory(prefix="aix-") if shared.is_reader else staging_folder(ledger)
        spill = str(opened.enter_context(elsewhere))
        limit = _READER_LIMIT if shared.is_reader else _MEMORY_LIMIT
        database = duckdb.connect(config={"memory_limit": limit, "temp_directory": spill, "threads": 2})
        opened.callback(database.close)
        shared.resources = opened.pop_all()
        return database


def start_reader(
    connection: duckdb.DuckDBPyConnection, select: str, batch_rows: int, parameters: Parameters | None = None
) -> "pa.RecordBatchReader":
    """Run a SELECT; the connection can do nothing else until its rows are read."""
    # Before DuckDB 2.0 relations with parameters do not stream, and since then only relations do.
    fetch_reader = getattr(connection, "fetch_record_batch", None)
    if fetch_reader:
        connection.execute(select, parameters)
        return fetch_reader(batch_rows)
    return connection.sql(select, params=parameters).to_arrow_reader(batch_rows)


@contextmanager
def computed_rows(
    connection: duckdb.DuckDBPyConnection, select: str, batch_rows: int
) -> Iterator["pa.RecordBatchReader"]:
    """Compute the rows of a SELECT, and give a reader of them.

    DuckDB 2.0 plans a statement twice before it streams its rows, which takes longer than a short detour by a table.
    """
    table = f"computed_{next(_numbers)}"
    connection.execute(f"create temp table {table} as {select}")
    yield start_reader(connection, f"from {table}", batch_rows)
    connection.execute(f"drop table {table}")  # after an error, the connection is of no use any more
