"""The memory of a command counts what its children have as well."""

import subprocess
import sys

import pytest

from benchmarks.memory import can_measure_memory, run_measured

pytestmark = pytest.mark.skipif(not can_measure_memory(), reason="only Linux tells what processes share")

HOLD = "import subprocess, sys, time; held = b'x' * 60_000_000; "
WAIT = "time.sleep(0.5)"


def test_what_a_child_has_counts() -> None:
    child = [sys.executable, "-c", HOLD + WAIT]
    _, alone = run_measured(child)
    _, family = run_measured([sys.executable, "-c", f"{HOLD}subprocess.run({child})"])
    assert 60_000_000 < alone < 110_000_000
    assert 120_000_000 < family < 200_000_000


def test_a_command_that_fails_is_no_measurement() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        run_measured([sys.executable, "-c", "raise SystemExit(3)"])
