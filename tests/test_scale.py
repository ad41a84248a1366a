"""Joining and checking keep within 500 MiB, however deep the tree of turns is or large the graph; so does its import.

A few thousand turns in `make test`; 10,000 in `make test-scale`, where the ancestries of a chain are 1.45 GB of text.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aix.health import check_names
from aix.reading.ledger import open_ledger
from tests.support import large_graph
from tests.support.command_line import AIX

TURNS = int(os.environ.get("AIX_SCALE_TURNS", "3000"))
EVENTS = int(os.environ.get("AIX_SCALE_EVENTS", "6000"))
LIMIT_MIB = 500

# A process counts the memory of the one that started it as its own until then; a small one in between keeps out what
# the tests hold.
MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(code, usage.ru_maxrss, usage.ru_utime + usage.ru_stime)
"""


def measure(*command: str) -> tuple[list[str], float, float]:
    """Run a command to its good end; return its output, its memory in MiB, and its CPU time in seconds."""
    process = subprocess.run([sys.executable, "-c", MEASURE, *command], capture_output=True, text=True, check=True)
    *output, figures = process.stdout.splitlines()
    code, peak_kib, cpu_seconds = map(float, figures.split())
    assert code == 0, process.stdout + process.stderr
    return output, peak_kib / 1024, cpu_seconds


@pytest.mark.long
@pytest.mark.parametrize("shape", ["chain", "tree"])
def test_a_deep_tree_is_joined_and_checked_within_its_memory(
    tmp_path: Path, shape: str, capsys: pytest.CaptureFixture[str]
) -> None:
    joining = [sys.executable, "-m", "tests.support.deep_ledger", str(tmp_path), shape, str(TURNS)]
    _, commit_mib, commit_seconds = measure(*joining)
    listed, check_mib, check_seconds = measure(AIX, "check", "--ledger", str(tmp_path), "--format", "csv")
    with capsys.disabled():
        print(
            f"\n{shape} of {TURNS:,}: commit {commit_mib:.0f} MiB at most, {commit_seconds:.1f} s of CPU time;"
            f" check {check_mib:.0f} MiB, {check_seconds:.1f} s"
        )
    assert len(listed) == 1 + len(check_names())
    assert commit_mib < LIMIT_MIB
    assert check_mib < LIMIT_MIB


@pytest.mark.long
def test_a_large_graph_is_imported_within_its_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = tmp_path / "logs" / "graph.jsonl"
    graph.parent.mkdir()
    large_graph.main(str(graph), str(EVENTS))
    _, mib, seconds = measure(AIX, "import", str(graph), "--ledger", str(tmp_path / "ledger"))
    with capsys.disabled():
        print(f"\ngraph of {EVENTS:,} events: {mib:.0f} MiB at most, {seconds:.1f} s of CPU time")
    assert mib < LIMIT_MIB
    with open_ledger(tmp_path / "ledger") as ledger:
        assert ledger.sql("select count(*) from dag_events").rows() == [(EVENTS,)]
        assert ledger.sql("select count(*) from turns").rows() == [(-(-EVENTS // 6),)]


@pytest.mark.long
def test_a_graph_with_many_edges_is_checked_within_its_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = min(EVENTS, 40_000)  # enough for joins that do not fit into the memory of two threads
    graph = tmp_path / "logs" / "graph.jsonl"
    graph.parent.mkdir()
    with graph.open("w", encoding="utf-8") as file:
        records = large_graph.with_edges(large_graph.large_graph(events))
        file.writelines(f"{json.dumps(record)}\n" for record in records)
    measure(AIX, "import", str(graph), "--ledger", str(tmp_path / "ledger"))
    listed, mib, seconds = measure(AIX, "check", "--ledger", str(tmp_path / "ledger"), "--format", "csv")
    with capsys.disabled():
        print(f"\ngraph of {events:,} events with edges: check {mib:.0f} MiB at most, {seconds:.1f} s of CPU time")
    assert len(listed) == 1 + len(check_names())
    assert mib < LIMIT_MIB
