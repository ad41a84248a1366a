"""Work that is done by libraries which let other threads run meanwhile, as Arrow and DuckDB do."""

from collections.abc import Callable, Iterable, Iterator
from threading import Lock, Thread
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_THREADS = 2


def map_in_threads(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Call a function with each item, two at a time; when one fails, those that have not begun are not begun.

    >>> map_in_threads(len, ["a", "bc"])
    [1, 2]
    """
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_THREADS) as threads:
        return list(threads.map(function, items))


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """Go through items, each made in another thread while the one before it is used.

    >>> list(ahead("abc"))
    ['a', 'b', 'c']
    """
    from concurrent.futures import ThreadPoolExecutor

    iterator = iter(items)
    end: list[Item] = []

    def take() -> list[Item]:
        return [item] if (item := next(iterator, end)) is not end else end  # type: ignore[list-item]

    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(take)
        while found := waiting.result():
            waiting = thread.submit(take)
            yield found[0]


class Beside:
    """A function that is called once, beside whatever else is done, where that leaves Python alone for a while.

    >>> found: list[str] = []
    >>> reading = Beside(lambda: found.append("it"))
    >>> reading.start()
    >>> reading.start()
    >>> reading.wait()
    >>> found
    ['it']
    """

    def __init__(self, function: Callable[[], object]) -> None:
        self._thread = Thread(target=function, daemon=True)
        self._lock = Lock()

    def start(self) -> None:
        """Call the function, unless it was called before."""
        with self._lock:
            if self._thread.ident is None:
                self._thread.start()

    def wait(self) -> None:
        """Wait until the function is done, if it was called."""
        if self._thread.ident is not None:
            self._thread.join()
