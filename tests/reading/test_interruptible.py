"""Ctrl-C ends a statement, whenever it is pressed."""

import subprocess
import sys

INTERRUPTED_EARLY = """
import os, signal, threading, time
import duckdb
from aix.reading.result import Work

def begin_late(work):
    time.sleep(1)
    work.connection.execute("select sum(hash(i)) from range(1_000_000_000_000) t(i)").fetchall()

with duckdb.connect() as connection, Work(connection) as work:
    threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT]).start()
    try:
        work.do(begin_late, work)
    except KeyboardInterrupt:
        print("interrupted")
"""


def test_ctrl_c_before_a_statement_begins_is_not_lost() -> None:
    process = subprocess.run([sys.executable, "-c", INTERRUPTED_EARLY], capture_output=True, text=True, timeout=60)
    assert (process.stdout, process.stderr) == ("interrupted\n", "")
