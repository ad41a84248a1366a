"""Measure what the project promises about speed and memory; `make bench` prints it.

Every figure stands beside a floor measured in the same run, because seconds mean little on another machine.
"""

import statistics
import subprocess
import sys
import time
import timeit
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path

from aix.ids import h63, ulid
from benchmarks.audit import print_audit
from benchmarks.first_import import print_first_import
from benchmarks.queries import print_queries
from benchmarks.unchanged_sources import print_unchanged_sources
from benchmarks.updates import print_updates

_RUNS = 15
_IDS = 200_000


def main() -> None:
    """Print every figure."""
    print_command_line_start()
    print_row_ids()
    print_unchanged_sources()
    print_updates()
    print_queries()
    print_audit()
    print_first_import()


def print_command_line_start() -> None:
    """Time `aix --help` beside an interpreter that does nothing."""
    aix = str(Path(sys.executable).with_name("aix"))
    bare, started = _interleaved_medians([sys.executable, "-c", "pass"], [aix, "--help"])
    print(f"aix --help         {started:6.3f} s wall   {started / bare:5.2f} x an empty interpreter ({bare:.3f} s)")


def print_row_ids() -> None:
    """Time the row ids beside the hash they are made of."""
    parts = ("turn", "session-log", "0d7e5a34-7c1c-4e52-9a55-2f5d6d1a1f00")
    floor = _seconds(lambda: sha256("\x1f".join(("aix", *parts)).encode()).digest())
    for name, make_id in (("ulid", ulid), ("h63", h63)):
        seconds = _seconds(partial(make_id, *parts))
        print(f"{name:18} {_IDS / seconds:9,.0f} ids/s   {seconds / floor:5.2f} x bare SHA-256")


def _interleaved_medians(*commands: list[str]) -> list[float]:
    times: list[list[float]] = [[] for _ in commands]
    for _ in range(_RUNS):
        for command, taken in zip(commands, times, strict=True):
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            taken.append(time.perf_counter() - start)
    return [statistics.median(taken) for taken in times]


def _seconds(action: Callable[[], object]) -> float:
    return min(timeit.repeat(action, number=_IDS, repeat=3))


if __name__ == "__main__":
    main()
