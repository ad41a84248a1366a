"""Worker processes that never outlive the process that started them.

They are started afresh, not forked, so that they hold no locks or threads of their parent and work alike on every
system. Ctrl-C is the parent's to handle.
"""

import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, suppress
from multiprocessing import connection, get_context, parent_process, resource_tracker
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from aix.errors import WorkerDiedError
from aix.process import collect_garbage_rarely, load_arrow, own_process

Item = TypeVar("Item")
Result = TypeVar("Result")

_CONTEXT = get_context("spawn")
_RESULT, _END, _ERROR, _DEATH = range(4)


def map_in_workers(
    function: Callable[[Item], Iterable[Result]], items: Iterable[Item], workers: int, ahead: int = 0
) -> Generator[tuple[Item, Result | WorkerDiedError], None, None]:
    """Call the function with each item in other processes, and go through what it gives for each as it comes.

    A thread gives out items and takes in what comes of them, so that workers go on while the caller is busy with
    results: no more than `ahead` items, and at least one for each worker, are given out before the caller has all of
    their results. What the function raises is raised here. A worker that dies costs the item it was at, for which a
    `WorkerDiedError` is given, and nothing else.
    """
    room = threading.Semaphore(max(ahead, workers))
    fetched: SimpleQueue[tuple[Item, int, Any] | BaseException | None] = SimpleQueue()
    stopped, stop = _CONTEXT.Pipe(duplex=False)

    def paced() -> Iterator[Item]:
        for item in items:
            room.acquire()
            if stop.closed:
                return
            yield item

    def fetch() -> None:
        try:
            with closing(_events(function, paced(), workers, stopped)) as events:
                for event in events:
                    fetched.put(event)
            fetched.put(None)
        except BaseException as error:  # whatever it is, it is raised where the results are fetched
            fetched.put(error)

    thread = threading.Thread(target=fetch, daemon=True)
    thread.start()
    try:
        while (event := fetched.get()) is not None:
            if isinstance(event, BaseException):
                raise event
            item, kind, result = event
            if kind in (_END, _DEATH):
                room.release()
            if kind != _END:
                yield item, result
    finally:
        stop.close()
        room.release()  # the thread may be waiting for it
        thread.join()
        stopped.close()


def _events(
    function: Callable[[Item], Iterable[Result]],
    items: Iterable[Item],
    workers: int,
    stopped: connection.Connection | None = None,
) -> Generator[tuple[Item, int, Any], None, None]:
    """Go through items with what happened to each: a result, the death of its worker, or its end.

    It ends early once the other end of `stopped` is closed.
    """
    waiting = iter(items)
    busy: dict[connection.Connection, _Worker[Item, Result]] = {}
    idle: list[_Worker[Item, Result]] = []
    try:
        while True:
            while len(busy) < workers and (taken := next(((item,) for item in waiting), None)):
                worker = idle.pop() if idle else _Worker(function)
                worker.give(taken[0])
                busy[worker.connection] = worker
            if not busy:
                return
            ready = connection.wait([*busy, stopped] if stopped else list(busy))
            if stopped in ready:
                return
            for worker in [worker for worker in busy.values() if worker.connection in ready]:
                try:
                    kind, content = worker.connection.recv()
                except (EOFError, OSError):
                    del busy[worker.connection]
                    worker.end()
                    yield worker.item, _DEATH, WorkerDiedError()
                    continue
                if kind == _ERROR:
                    raise content
                if kind == _END:
                    idle.append(busy.pop(worker.connection))
                yield worker.item, kind, content
    finally:
        for worker in [*busy.values(), *idle]:
            worker.end()


class _Worker(Generic[Item, Result]):
    """One process, and the item it is at."""

    item: Item

    def __init__(self, function: Callable[[Item], Iterable[Result]]) -> None:
        self.connection, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_serve, args=(theirs, function), daemon=True)
        # The process takes the mask over: Ctrl-C does not end it before it has come to ignore Ctrl-C. The tracker of
        # multiprocessing lets SIGINT through again when it starts, so it starts before.
        resource_tracker.ensure_running()
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        theirs.close()  # so that the death of the process ends the connection

    def give(self, item: Item) -> None:
        self.item = item
        with suppress(OSError):  # it has died: reading from it will tell
            self.connection.send(item)

    def end(self) -> None:
        self.connection.close()
        self._process.kill()
        self._process.join()


def _serve(parent: connection.Connection, function: Callable[[Item], Iterable[Result]]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)  # the parent's stdout is data: whatever a plugin prints goes beside it
    threading.Thread(target=_die_with_parent, daemon=True).start()
    collect_garbage_rarely()
    own_process()
    if "pyarrow" in sys.modules:  # it came with the module of the function
        load_arrow()
    answer: tuple[int, object]
    while True:
        try:
            item = parent.recv()
        except EOFError:
            return
        try:
            for result in function(item):
                parent.send((_RESULT, result))
        except Exception as error:  # whatever it is, it is raised in the parent
            answer = (_ERROR, _picklable(error))
        else:
            answer = (_END, None)
        try:
            parent.send(answer)
        except OSError:  # nobody is waiting for it any more
            return


def _picklable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - what was pickled here
    except Exception:  # an exception may fail in any way to become itself again
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _die_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        with suppress(OSError):
            connection.wait([parent.sentinel])
    os._exit(1)
