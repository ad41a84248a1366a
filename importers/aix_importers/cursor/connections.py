"""Connections to SQLite files."""

import os
import sqlite3
from urllib.parse import quote

_WAIT_SECONDS = 2.0
_CACHE_KIB = 4_096
_LARGEST_VALUE = 512 * 2**20

PYTHON_ERRORS = (UnicodeError, OverflowError, MemoryError, sqlite3.InterfaceError, sqlite3.Warning)
"""Errors that Python's module raises about a damaged file in place of `sqlite3.DatabaseError`.

A message of SQLite that quotes bytes of the file which are not UTF-8 becomes a UnicodeDecodeError.
"""


def connect(path: str, way: str, *, is_private: bool = False) -> tuple[sqlite3.Connection, str | None]:
    """Open a file, with parameters of SQLite's addresses, as one that others use or as one that nobody else knows.

    Returns the connection, and an error in the schema if there is one: tables whose definition is intact can be read.

    Raises:
        sqlite3.Error: It is no database, or somebody holds it locked.
    """
    address = f"file:{quote(os.fsencode(path))}?{way}"
    connection = sqlite3.connect(
        address, uri=True, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        connection.text_factory = bytes
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_VALUE)
        if is_private:  # the index of its log is then kept in memory
            connection.execute("pragma locking_mode = exclusive")
        connection.execute("pragma trusted_schema = off")
        schema_error = _schema_error(connection)
        connection.execute("pragma mmap_size = 0")
        connection.execute(f"pragma cache_size = -{_CACHE_KIB}")
    except sqlite3.Error:
        connection.close()
        raise
    except PYTHON_ERRORS as error:
        connection.close()
        raise as_sqlite_error(error) from error
    return connection, schema_error


def _schema_error(connection: sqlite3.Connection) -> str | None:
    """Read the schema; if SQLite refuses a definition in it, let it go on without that one."""
    check = "select 1 from sqlite_master limit 1"
    try:
        connection.execute(check).fetchall()
    except (sqlite3.DatabaseError, UnicodeError) as error:
        if isinstance(error, sqlite3.OperationalError):  # locked, or not to be opened
            raise
        connection.execute("pragma writable_schema = on")  # skips definitions that cannot be parsed
        connection.execute(check).fetchall()
        return error_text(error)
    return None


def as_sqlite_error(error: BaseException) -> sqlite3.DatabaseError:
    """Return an error of Python's module as one of SQLite."""
    return sqlite3.DatabaseError(error_text(error))


def error_text(error: BaseException) -> str:
    """Return the message of an error about a database as one line of printable text."""
    if isinstance(error, UnicodeDecodeError):  # `object` is SQLite's message
        written = bytes(error.object).decode("utf-8", "backslashreplace")
    else:
        written = str(error) or type(error).__name__
    return "".join(each if each.isprintable() else " " for each in written)[:_LONGEST_MESSAGE]


_LONGEST_MESSAGE = 200
