"""The memory of a command and of all processes that it starts.

A page that several processes share counts in each of them by its part, so that the sum counts it once. What the system
keeps of files that were read does not count, unless it is mapped.
"""

import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

_PROCESSES = Path("/proc")
_SECONDS_BETWEEN_LOOKS = 0.03


def can_measure_memory() -> bool:
    """Whether the system shows what processes share; only Linux does."""
    return (_PROCESSES / "self" / "smaps_rollup").exists()


def run_measured(command: list[str], environment: Mapping[str, str] | None = None) -> tuple[float, int]:
    """Run a command and return its seconds and the most bytes that it and its children had at a time."""
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment) as process:
        peak = 0
        while process.poll() is None:
            peak = max(peak, sum(map(_proportional_bytes, _family(process.pid))))
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        seconds = time.perf_counter() - began
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return seconds, peak


def _family(pid: int) -> Iterator[int]:
    """Go through a process and its descendants.

    Parents are asked for rather than children, which the kernel lists only when it was built to.
    """
    everyone = [int(path.name) for path in _PROCESSES.iterdir() if path.name.isdecimal()]
    parents = {other: _parent(other) for other in everyone}
    family = [pid]
    for member in family:
        yield member
        family += [child for child, parent in parents.items() if parent == member]


def _parent(pid: int) -> int | None:
    try:
        status = (_PROCESSES / str(pid) / "stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    _, _, after_name = status.rpartition(b")")
    return int(after_name.split()[1])


def _proportional_bytes(pid: int) -> int:
    try:
        rollup = (_PROCESSES / str(pid) / "smaps_rollup").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(int(line.split()[1]) * 1024 for line in rollup.splitlines() if line.startswith("Pss:"))
