"""What it costs to join one grown session into a small and into a large ledger.

Run as a program it makes one change, and prints what the process read and wrote for it:

    python -m benchmarks.change_cost LEDGER SESSION TURNS
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from aix.ledger.addition import add
from aix.ledger.delivery import Delivery
from aix.ledger.manifest import Manifest, read_latest
from aix.ledger.staging import staging_folder
from aix.schema import TABLES
from benchmarks.conversations import Text, batches, session_rows

_SMALL, _LARGE = 100_000_000, 1_000_000_000
_SESSIONS_PER_COMMIT = 250
_TURNS = 20


def print_change_cost() -> None:
    """Print bytes read and written and seconds for the same change in both ledgers, and their ratios."""
    with TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger"
        text, sessions = Text(), 0
        results: list[list[dict[str, float]]] = []
        for size in (_SMALL, _LARGE):
            began = time.perf_counter()
            while sessions == 0 or bytes_of(read_latest(ledger)) < size:
                join_sessions(ledger, text, range(sessions, sessions + _SESSIONS_PER_COMMIT))
                sessions += _SESSIONS_PER_COMMIT
            version = read_latest(ledger)
            print(
                f"ledger             {bytes_of(version) / 1e6:7,.0f} MB, {rows_of(version):,} rows,"
                f" {len(version.indexes)} groups, made in {time.perf_counter() - began:.0f} s"
            )
            # It lies in a full group at first, and then, as a session that grows every hour, in a small one.
            results.append([_measure(ledger, len(results), _TURNS + more) for more in (1, 2)])
        for what, small, large in zip(("first growth", "growth again"), *results, strict=True):
            for name, unit in (("written", 1e6), ("read", 1e6), ("seconds", 1)):
                ratio = large[name] / small[name]
                print(f"{what:18} {name:8} {small[name] / unit:8.2f} {large[name] / unit:8.2f}   {ratio:5.2f} x")


def join_sessions(ledger: Path, text: Text, numbers: range, turns: int = _TURNS) -> float:
    """Join sessions into a ledger, and return the seconds it took, without making them."""
    with staging_folder(ledger) as folder:
        with Delivery(folder) as delivery:
            for number in numbers:
                for name, batch in batches(session_rows(text, number, turns)):
                    delivery.add(str(number), TABLES[name], batch)
        began = time.perf_counter()
        add(ledger, [delivery.files()])
        return time.perf_counter() - began


def bytes_of(version: Manifest) -> int:
    """Return the size of a version."""
    return sum(segment.size_bytes or 0 for segments in version.tables.values() for segment in segments)


def rows_of(version: Manifest) -> int:
    """Return the number of rows of a version."""
    return sum(segment.rows for segments in version.tables.values() for segment in segments)


def _measure(ledger: Path, session: int, turns: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.change_cost", str(ledger), str(session), str(turns)]
    measured: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return measured


def _traffic() -> dict[str, int]:
    """Return the bytes that this process has read and written so far, from the disk or from memory."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return {name: int(value) for name, _, value in (line.partition(": ") for line in lines)}


def _make_change(ledger: Path, session: int, turns: int) -> dict[str, float]:
    text = Text()
    before = _traffic()
    seconds = join_sessions(ledger, text, range(session, session + 1), turns)
    after = _traffic()
    return {
        "written": after["wchar"] - before["wchar"],
        "read": after["rchar"] - before["rchar"],
        "seconds": seconds,
    }


if __name__ == "__main__":
    print(json.dumps(_make_change(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
