"""Connections to SQLite files."""

import sqlite3
from urllib.parse import quote

_WAIT_SECONDS = 2.0
_CACHE_KIB = 4_096


def connect(path: str, way: str, *, is_private: bool = False) -> sqlite3.Connection:
    """Open a file, with parameters of SQLite's addresses, as one that others use or as one that nobody else knows.

    Raises:
        sqlite3.Error: It is no database, or somebody holds it locked.
    """
    connection = sqlite3.connect(
        f"file:{quote(path)}?{way}", uri=True, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        connection.text_factory = bytes
        connection.execute("pragma mmap_size = 0")
        connection.execute(f"pragma cache_size = -{_CACHE_KIB}")
        if is_private:  # the index of its log is then kept in memory
            connection.execute("pragma locking_mode = exclusive")
        connection.execute("select 1 from sqlite_master limit 1").fetchall()
    except sqlite3.Error:
        connection.close()
        raise
    return connection
