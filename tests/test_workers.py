"""Work in other processes: every item is answered, whatever becomes of a worker."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator

import pyarrow as pa
import pytest

from aix.errors import WorkerDiedError
from aix.workers import map_in_workers


def count_to(number: int) -> Iterator[int]:
    yield from range(number)


def die_at_three(number: int) -> Iterator[tuple[int, int]]:
    yield number, os.getpid()
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)


def refuse(number: int) -> Iterator[int]:
    raise ValueError(f"not {number}")
    yield number


class UnpicklableError(Exception):
    def __init__(self, first: str, second: str) -> None:
        super().__init__(first + second)


def refuse_oddly(number: int) -> Iterator[int]:
    raise UnpicklableError("odd", str(number))
    yield number


def blocked(_number: int) -> Iterator[bool]:
    yield signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def make_an_array(number: int) -> Iterator[bool]:
    pa.array([number])
    yield "pandas" in sys.modules


def test_no_worker_loads_pandas_for_arrow() -> None:
    """Pandas takes longer to load, and more memory, than Arrow itself."""
    assert list(map_in_workers(make_an_array, [1], 1)) == [(1, False)]


def test_ctrl_c_reaches_no_worker_even_while_it_starts() -> None:
    """A worker that is not ready to ignore it would print a traceback."""
    assert list(map_in_workers(blocked, [1], 1)) == [(1, True)]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.parametrize("workers", [1, 3])
def test_every_item_gives_all_its_results(workers: int) -> None:
    given = list(map_in_workers(count_to, [3, 0, 2, 1], workers))
    assert sorted(given, key=str) == sorted([(3, 0), (3, 1), (3, 2), (2, 0), (2, 1), (1, 0)], key=str)
    if workers == 1:
        assert [item for item, _ in given] == [3, 3, 3, 2, 2, 1]


def test_a_worker_that_dies_costs_only_its_item() -> None:
    given = list(map_in_workers(die_at_three, range(6), 2))
    died = [item for item, result in given if isinstance(result, WorkerDiedError)]
    assert died == [3]
    assert sorted(item for item, result in given if not isinstance(result, WorkerDiedError)) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("function", [refuse, refuse_oddly])
def test_what_the_function_raises_is_raised_here(function: object) -> None:
    with pytest.raises((ValueError, RuntimeError), match=r"not 1|UnpicklableError: odd1"):
        list(map_in_workers(function, [1], 1))  # type: ignore[arg-type]


def test_no_worker_stays_when_the_results_are_left() -> None:
    results = map_in_workers(die_at_three, [0, 1, 2], 1)
    _, first = next(results)
    results.close()
    assert not isinstance(first, WorkerDiedError)
    wait_until_gone(first[1])


def test_items_are_taken_no_faster_than_results() -> None:
    taken = []

    def items() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number + 1

    results = map_in_workers(count_to, items(), 2)
    next(results)
    assert len(taken) <= 3
    results.close()


def wait_until_gone(process: int) -> None:
    deadline = time.monotonic() + 5
    while True:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            break
        assert time.monotonic() < deadline
        time.sleep(0.01)


def name_yourself_and_wait(number: int) -> Iterator[int]:
    yield os.getpid()
    time.sleep(number)


def test_items_are_worked_on_while_the_caller_does_something_else() -> None:
    taken = []

    def items() -> Iterator[int]:
        for number in range(1, 9):
            taken.append(number)
            yield number

    results = map_in_workers(count_to, items(), 2, 4)
    next(results)
    deadline = time.monotonic() + 30
    while len(taken) < 5:  # four of them may wait, and the next one is taken before there is room for it
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(0.1)
    assert len(taken) == 5
    rest = list(results)
    assert len(rest) == sum(range(1, 9)) - 1


@pytest.mark.parametrize("ahead", [1, 3])
def test_a_worker_that_dies_while_the_caller_is_busy_costs_only_its_item(ahead: int) -> None:
    given = list(map_in_workers(die_at_three, range(6), 2, ahead))
    died = [item for item, result in given if isinstance(result, WorkerDiedError)]
    assert died == [3]
    assert sorted(item for item, result in given if not isinstance(result, WorkerDiedError)) == [0, 1, 2, 3, 4, 5]


def test_what_is_raised_in_a_worker_reaches_the_caller_that_was_busy() -> None:
    with pytest.raises(ValueError, match="not 1"):
        list(map_in_workers(refuse, [1], 1, 2))


def test_what_is_raised_by_the_items_reaches_the_caller() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        list(map_in_workers(count_to, items(), 1, 2))


@pytest.mark.parametrize("seconds", [0, 600])
def test_no_worker_and_no_thread_stay_when_the_caller_leaves(seconds: int) -> None:
    threads = threading.active_count()
    results = map_in_workers(name_yourself_and_wait, [seconds] * 5, 1, 2)
    _, process = next(results)
    assert isinstance(process, int)
    results.close()
    wait_until_gone(process)
    assert threading.active_count() == threads
