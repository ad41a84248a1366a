"""Measure every query of the library on a large ledger, and `aix status`.

    python -m benchmarks.queries [LEDGER]

Without a ledger, one of 1 M messages with texts is made, and one of ten times as many without texts for the daily cost;
`AIX_BENCH_MESSAGES` says another number. A query runs once to warm up and then three times in one process; the slowest
run again in processes of their own, which shows their memory.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import aix
from aix.query.packs import find_query, own_query_names
from aix.query.query_file import Query
from aix.reading.ledger import Ledger
from benchmarks.generated_ledger import write_ledger
from benchmarks.memory import can_measure_memory, run_measured

_RUNS = 3
_STARTS = 15
_MOST_SECONDS, _MOST_SECONDS_WITH_TEXT, _MOST_SECONDS_BY_DAY, _MOST_SECONDS_FOR_STATUS = 0.3, 3.0, 1.0, 0.15
_MOST_SECONDS_BY_PACK = {"compaction_impact": 0.5}
_AUDITED = "permission_usage"
"""A pack that is run as a whole, which benchmarks/audit.py measures."""
_MOST_MIB = 1024
_SLOWEST = 5
_BY_DAY = "token_economics/cost_by_day"
_TIMES_MORE = 10
_FLOORS = {
    "tokens of requests": "select sum(input_tokens), sum(output_tokens), sum(cache_read_tokens) from requests",
    "length of texts": "select (select sum(length(content)) from messages), sum(length(result_json)) from tool_calls",
}


@dataclass(frozen=True)
class _Taken:
    """The seconds of a query, and those it may take; a check of the whole ledger may take any."""

    name: str
    seconds: float
    most_seconds: float | None


def print_queries() -> None:
    """Make the ledgers and print all figures."""
    messages = int(os.environ.get("AIX_BENCH_MESSAGES", "1000000"))
    with TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger"
        _make(ledger, messages, has_texts=True)
        print_queries_of(ledger)
    with TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger"
        _make(ledger, messages * _TIMES_MORE, has_texts=False)
        with aix.open(ledger) as opened:
            _print(_Taken(_BY_DAY, _median_seconds(partial(_run, opened, _BY_DAY)), _MOST_SECONDS_BY_DAY))
        _print_memory(ledger, [_BY_DAY])


def print_queries_of(ledger: Path) -> None:
    """Print seconds of every query, the memory of the slowest, and what `aix status` takes."""
    with aix.open(ledger) as opened:
        for name, sql in _FLOORS.items():
            print(f"{'floor: ' + name:48} {_median_seconds(partial(_rows, opened, sql)):7.3f} s")
        taken = sorted(_times(opened), key=lambda each: -each.seconds)
    for each in taken:
        _print(each)
    limited = [each for each in taken if each.most_seconds]
    over = [each for each in limited if each.seconds > (each.most_seconds or 0)]
    print(f"{len(over)} of {len(limited)} queries take longer than they may")
    _print_memory(ledger, [each.name for each in limited[:_SLOWEST]])
    _print_status(ledger)


def _make(ledger: Path, messages: int, *, has_texts: bool) -> None:
    began = time.perf_counter()
    version = write_ledger(ledger, messages, has_texts=has_texts)
    made = sum(segment.rows for segment in version.tables["messages"])
    size = sum(segment.size_bytes or 0 for segments in version.tables.values() for segment in segments)
    texts = "with" if has_texts else "without"
    seconds = time.perf_counter() - began
    print(f"generated ledger   {made:,} messages {texts} texts, {size / 1e6:,.0f} MB, made in {seconds:.0f} s")


def _times(opened: Ledger) -> list[_Taken]:
    queries = [find_query(name) for name in own_query_names()]
    return [
        _Taken(
            query.name,
            _median_seconds(partial(_run, opened, query.name)),
            _limit(query),
        )
        for query in queries
        if not query.needs
    ]


def _limit(query: Query) -> float | None:
    if query.severity or query.pack == _AUDITED:
        return None
    return _MOST_SECONDS_WITH_TEXT if query.reads_text else _MOST_SECONDS_BY_PACK.get(query.pack, _MOST_SECONDS)


def _run(opened: Ledger, name: str) -> object:
    return opened.query(name).arrow()


def _rows(opened: Ledger, sql: str) -> object:
    return opened.sql(sql).rows()


def _median_seconds(action: Callable[[], object], runs: int = _RUNS) -> float:
    action()
    taken = []
    for _ in range(runs):
        began = time.perf_counter()
        action()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def _print(taken: _Taken) -> None:
    limit = "no limit" if taken.most_seconds is None else f"at most {taken.most_seconds:g} s"
    is_over = taken.most_seconds is not None and taken.seconds > taken.most_seconds
    print(f"{taken.name:48} {taken.seconds:7.3f} s   {limit}{'   OVER' if is_over else ''}")


def _print_memory(ledger: Path, names: list[str]) -> None:
    if not can_measure_memory():
        print("memory of queries  left out: only Linux tells what processes share")
        return
    for name in names:
        seconds, peak = run_measured(_command("query", name, "--format", "csv", "--ledger", str(ledger)))
        over = "   OVER" if peak > _MOST_MIB * 2**20 else ""
        print(f"aix query {name:38} {peak / 2**20:7,.0f} MiB   at most {_MOST_MIB} MiB, in {seconds:.2f} s{over}")


def _print_status(ledger: Path) -> None:
    command = _command("status", "--ledger", str(ledger))

    def status() -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def interpreter() -> None:
        subprocess.run([sys.executable, "-c", "pass"], check=True)

    floor = _median_seconds(interpreter, _STARTS)
    _print(_Taken("aix status", _median_seconds(status, _STARTS), _MOST_SECONDS_FOR_STATUS))
    print(f"{'floor: empty interpreter':48} {floor:7.3f} s")


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "aix", *arguments]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print_queries_of(Path(sys.argv[1]))
    else:
        print_queries()
