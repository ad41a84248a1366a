"""Worker processes that never outlive the process that started them.

They are started afresh, not forked, so that they hold no locks or threads of their parent and work alike on every
system. Ctrl-C is the parent's to handle.
"""

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import connection, get_context, parent_process
from typing import TypeVar

from aix.errors import WorkerDiedError

Item = TypeVar("Item")
Result = TypeVar("Result")

_WAITING_PER_WORKER = 2


def map_in_workers(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Iterator[tuple[Item, Result]]:
    """Call the function with each item in other processes, and go through the results in the order of the items.

    Items are taken only as fast as results are fetched, so there may be any number of them. What the function raises
    is raised here; a worker that dies raises `WorkerDiedError` and ends the others.
    """
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _prepare_worker)
    waiting: deque[tuple[Item, Future[Result]]] = deque()
    try:
        for item in items:
            waiting.append((item, pool.submit(function, item)))
            if len(waiting) >= workers * _WAITING_PER_WORKER:
                yield _finished(waiting)
        while waiting:
            yield _finished(waiting)
    except BrokenProcessPool as error:
        raise WorkerDiedError from error
    finally:
        pool.shutdown(cancel_futures=True)


def _finished(waiting: "deque[tuple[Item, Future[Result]]]") -> tuple[Item, Result]:
    item, future = waiting.popleft()
    return item, future.result()


def _prepare_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        with suppress(OSError):
            connection.wait([parent.sentinel])
    os._exit(1)
