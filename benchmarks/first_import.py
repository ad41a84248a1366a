"""Measure the first import of many logs: seconds, beside DuckDB counting their lines, and memory.

`AIX_BENCH_MEGABYTES` is the size of the logs, 1000 unless told. `AIX_BENCH_LOGS` is a folder of real Claude Code logs,
which are copied until they have that size; without it only generated ones are measured.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.generated_logs import write_logs, write_one_transcript
from benchmarks.memory import can_measure_memory, run_measured
from benchmarks.replicated_logs import replicate

_ROUNDS = 5
_AS_INSTALLED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
# In a process of its own, as the import is, and with all processors, which DuckDB takes unless told otherwise.
_COUNT_LINES = """
import json, sys, time
files = json.load(sys.stdin)
began = time.perf_counter()
import duckdb
loaded = time.perf_counter()
duckdb.execute("select count(*) from read_ndjson_objects(?, ignore_errors=true)", [files]).fetchone()
print(json.dumps([time.perf_counter() - loaded, loaded - began]))
"""


def print_first_import() -> None:
    """Print seconds for replicated and generated logs, and memory for generated ones of several sizes."""
    megabytes = int(os.environ.get("AIX_BENCH_MEGABYTES", "1000"))
    real_logs = os.environ.get("AIX_BENCH_LOGS")
    with TemporaryDirectory() as folder:
        logs, ledger = Path(folder) / "logs", Path(folder) / "ledger"
        if real_logs:
            replicate(Path(real_logs), logs, megabytes)
            _print_seconds("replicated logs", logs, ledger)
            shutil.rmtree(logs)
        else:
            print("replicated logs    left out: AIX_BENCH_LOGS names no folder of Claude Code logs")
        write_logs(logs, megabytes)
        _print_seconds("generated logs", logs, ledger)
        if not can_measure_memory():
            print("memory of import   left out: only Linux tells what processes share")
            return
        first = _print_memory("memory of import", logs, ledger)
        for name, write, times in (("of more logs", write_logs, 4), ("of one transcript", write_one_transcript, 2.4)):
            shutil.rmtree(logs)
            write(logs, megabytes * times)
            _print_memory(name, logs, ledger, first)


def _print_seconds(name: str, logs: Path, ledger: Path) -> None:
    files = [str(path) for path in logs.rglob("*.jsonl")]
    _count_lines(files)  # brings the files into the page cache, so that no round reads them from the disk
    counting, loading, importing = [], [], []
    for _ in range(_ROUNDS):
        counted, loaded = _count_lines(files)
        counting.append(counted)
        loading.append(loaded)
        began = time.perf_counter()
        subprocess.run(_import_command(logs, ledger), check=True, stdout=subprocess.DEVNULL, env=_AS_INSTALLED)
        importing.append(time.perf_counter() - began)
        shutil.rmtree(ledger)
    floor, taken, size = statistics.median(counting), statistics.median(importing), _megabytes_of(logs)
    print(
        f"{name:18} {taken:6.2f} s wall   {taken / floor:5.2f} x DuckDB counting lines"
        f" ({floor:.2f} s, and {statistics.median(loading):.2f} s to load it)"
        f"   {size / taken:5.1f} MB/s of {size:,.0f} MB in {len(files):,} files"
    )


def _print_memory(name: str, logs: Path, ledger: Path, first: int | None = None) -> int:
    seconds, peak = run_measured(_import_command(logs, ledger), _AS_INSTALLED)
    shutil.rmtree(ledger)
    print(
        f"{name:18} {peak / 2**20:6,.0f} MiB at most   {peak / (first or peak):5.2f} x the first"
        f"   {_megabytes_of(logs):,.0f} MB of logs in {seconds:.1f} s"
    )
    return peak


def _import_command(logs: Path, ledger: Path) -> list[str]:
    return [sys.executable, "-m", "aix", "import", str(logs), "--ledger", str(ledger)]


def _count_lines(files: list[str]) -> tuple[float, float]:
    """Let DuckDB count lines; return the seconds of that, and those that it takes to load it."""
    command = [sys.executable, "-c", _COUNT_LINES]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, input=json.dumps(files)).stdout
    counted, loaded = json.loads(output)
    return counted, loaded


def _megabytes_of(logs: Path) -> float:
    return sum(path.stat().st_size for path in logs.rglob("*.jsonl")) / 1e6


if __name__ == "__main__":
    print_first_import()
