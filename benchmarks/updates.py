"""Seconds of small updates, beside a Python that loads the libraries they need, in ledgers of two sizes.

    AIX_BENCH_LOGS=FOLDER python -m benchmarks.updates [--times 10] [--sessions 5]

The logs are those of the folder, or generated ones without it. The larger ledger holds them ten times, with fresh ids.
Of some sessions the last lines are held back, of others the whole file, until the ledger has the rest; each is then
added by an import of its own. All figures are medians; the floor is measured between the imports.

    first import       the bundled sample, into an empty ledger
    append, large      12 lines of a session whose rows lie with those of all others
    append, small      12 more lines of it: since the append before, its rows lie with few others
    new session        a file that the ledger has not seen
    no change          nothing
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from aix.store.manifest import read_latest
from benchmarks.generated_logs import write_logs
from benchmarks.replicated_logs import with_fresh_ids

_FLOOR = [sys.executable, "-c", "import duckdb, pyarrow.parquet"]
_AS_INSTALLED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
_SAMPLE = Path(__file__).parent.parent / "fixtures" / "sample"
_LINES = 12
_GENERATED_MEGABYTES = 80
_FEWEST_LINES, _MOST_LINES = 80, 600


@dataclass
class Figures:
    """Seconds by the kind of update, and bytes written beside those of the session's own rows."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    written: list[float] = field(default_factory=list)

    def add(self, kind: str, seconds: float) -> None:
        """Note how long an update took."""
        self.seconds.setdefault(kind, []).append(seconds)

    def median(self, kind: str) -> float:
        """Return what an update of that kind takes."""
        return statistics.median(self.seconds[kind])


def print_updates(times: int = 10, sessions: int = 5) -> None:
    """Print a table of all kinds of updates, in a ledger of the logs and in one of many times as much."""
    given = os.environ.get("AIX_BENCH_LOGS")
    with TemporaryDirectory() as folder:
        logs = Path(given) if given else Path(folder) / "logs"
        if not given:
            write_logs(logs, _GENERATED_MEGABYTES)
        small = _measure(Path(folder) / "small", logs, 1, sessions)
        large = _measure(Path(folder) / "large", logs, times, sessions)
    floor = statistics.median([*small.seconds["floor"], *large.seconds["floor"]])
    print(f"floor: import duckdb, pyarrow.parquet in {floor:.3f} s; ledgers of the logs and of {times} times as much")
    print(f"{'update':18} {'s':>6} {'x floor':>8} {'s':>8} {'x floor':>8} {'ratio':>7}")
    for kind in small.seconds:
        one, other = small.median(kind), large.median(kind)
        print(f"{kind:18} {one:6.2f} {one / floor:8.2f} {other:8.2f} {other / floor:8.2f} {other / one:7.2f}")
    written = [f"{statistics.median(figures.written):.1f}" for figures in (small, large)]
    print(f"bytes written by an append in a large group: {' and '.join(written)} x those of the session's own rows")


def _measure(folder: Path, logs: Path, copies: int, sessions: int) -> Figures:
    ledger, tree = folder / "ledger", folder / "logs"
    _copy(logs, tree, copies)
    grown, new = _choose(tree, sessions)
    held = {path: path.read_bytes().splitlines(keepends=True) for path in grown}
    for path, lines in held.items():
        path.write_bytes(b"".join(lines[: -2 * _LINES]))
    whole = {path: path.read_bytes() for path in new}
    for path in new:
        path.unlink()
    _import(ledger, tree)
    figures = Figures()
    _import(ledger, tree)
    for number, (path, lines) in enumerate(held.items()):
        figures.add("floor", _seconds(_FLOOR))
        figures.add("first import", _import(folder / f"sample-{number}", _SAMPLE))
        before = _files(ledger)
        path.write_bytes(b"".join(lines[:-_LINES]))
        figures.add("append, large", _import(ledger, tree))
        written = sum(size for name, size in _files(ledger).items() if before.get(name) != size)
        figures.written.append(written / _own_bytes(folder / f"own-{number}", path))
        figures.add("floor", _seconds(_FLOOR))
        path.write_bytes(b"".join(lines))
        figures.add("append, small", _import(ledger, tree))
        figures.add("no change", _import(ledger, tree))
    for path, content in whole.items():
        figures.add("floor", _seconds(_FLOOR))
        path.write_bytes(content)
        figures.add("new session", _import(ledger, tree))
    return figures


def _copy(logs: Path, tree: Path, copies: int) -> None:
    for number in range(copies):
        for source in sorted(logs.rglob("*")):
            if source.is_file():
                relative = str(source.relative_to(logs)).encode()
                path = tree / "projects" / f"copy-{number}" / with_fresh_ids(relative, number).decode()
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(with_fresh_ids(source.read_bytes(), number) if number else source.read_bytes())


def _choose(tree: Path, count: int) -> tuple[Sequence[Path], Sequence[Path]]:
    """Return sessions that grow and sessions that are new, of the first copy and of middling length."""
    found = sorted((tree / "projects" / "copy-0").rglob("*.jsonl"))
    middling = [path for path in found if _FEWEST_LINES <= path.read_bytes().count(b"\n") <= _MOST_LINES]
    alone = [path for path in middling if not path.name.startswith("agent-")]
    step = max(len(alone) // (2 * count), 1)
    chosen = alone[::step][: 2 * count]
    return chosen[::2], chosen[1::2]


def _import(ledger: Path, logs: Path) -> float:
    return _seconds([sys.executable, "-m", "aix", "import", str(logs), "--ledger", str(ledger)])


def _seconds(command: Sequence[str]) -> float:
    began = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=_AS_INSTALLED, check=False)
    seconds = time.perf_counter() - began
    if done.returncode not in (0, 1):  # 1: a log of the folder has problems
        raise RuntimeError(done.stderr.decode())
    return seconds


def _files(ledger: Path) -> dict[str, int]:
    return {str(path): path.stat().st_size for path in _walk(ledger)}


def _walk(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def _own_bytes(ledger: Path, log: Path) -> int:
    """Return the size of the rows of a session, by importing it alone."""
    shutil.copytree(log.parent, ledger.with_suffix(".logs"), ignore=lambda _, names: set(names) - {log.name})
    _import(ledger, ledger.with_suffix(".logs"))
    tables = read_latest(ledger).tables
    return sum(each.size_bytes or 0 for segments in tables.values() for each in segments if each.group is not None)


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--sessions", type=int, default=5)
    arguments = parser.parse_args()
    print_updates(arguments.times, arguments.sessions)


if __name__ == "__main__":
    main()
