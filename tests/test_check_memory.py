"""`aix check` keeps within 500 MiB, however deep the tree of turns is.

A few thousand turns in `make test`; 10,000 in `make test-scale`, where the ancestries of a chain are 1.45 GB of text.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from aix.health import check_names
from tests.command_line import AIX
from tests.deep_ledger import chain_parents, tree_parents, write_deep_ledger

TURNS = int(os.environ.get("AIX_SCALE_TURNS", "3000"))
LIMIT_MIB = 500

# A process counts the memory of the one that started it as its own until then; a small one in between keeps out what
# the tests hold.
MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(code, usage.ru_maxrss, usage.ru_utime + usage.ru_stime)
"""


@pytest.mark.parametrize("parents", [chain_parents, tree_parents])
def test_checking_a_deep_ledger_stays_within_its_memory(
    tmp_path: Path, parents: Callable[[int], list[int | None]], capsys: pytest.CaptureFixture[str]
) -> None:
    write_deep_ledger(tmp_path, parents(TURNS))
    command = [AIX, "check", "--ledger", str(tmp_path), "--format", "csv"]
    process = subprocess.run([sys.executable, "-c", MEASURE, *command], capture_output=True, text=True, check=True)
    code, peak_kib, cpu_seconds = map(float, process.stdout.splitlines()[-1].split())
    with capsys.disabled():
        print(f"\n{parents.__name__}({TURNS}): {peak_kib / 1024:.0f} MiB at most, {cpu_seconds:.1f} s of CPU time")
    assert code == 0, process.stdout
    assert len(process.stdout.splitlines()) == 1 + len(check_names()) + 1
    assert peak_kib < LIMIT_MIB * 1024
