"""Work that Ctrl-C can end.

DuckDB 2.0 does not look for signals while it computes, so a call of it must not run in the thread that Python hands
them to.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import ParamSpec, Self, TypeVar

import duckdb

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Work:
    """One statement that is being run, on a connection of its own: one that streams can do nothing else."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection.duplicate()
        self._thread = ThreadPoolExecutor(max_workers=1)

    def do(self, step: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Take a step of the work, and stop it when Ctrl-C is pressed meanwhile."""
        result = self._thread.submit(step, *args, **kwargs)
        try:
            return result.result()
        except KeyboardInterrupt:
            while not result.done():  # an interruption before the statement begins is lost
                self.connection.interrupt()
                wait([result], timeout=0.1)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown()  # when the last step has come to its end
        self.connection.close()
