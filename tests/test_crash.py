"""Processes that are killed while they commit leave a whole ledger behind.

A few kills in `make test`, many in `make test-crash`; both print how many of them hit a commit under way.
"""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aix.ledger.manifest import read_manifest
from tests.generations import read_generation
from tests.test_commit import files_of

KILLS = int(os.environ.get("AIX_CRASH_KILLS", "12"))


def test_a_killed_writer_leaves_the_version_before_or_after(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dice = random.Random(20260205)
    left_staged_files = 0
    for _ in range(KILLS):
        writer = subprocess.Popen(
            [sys.executable, "-m", "tests.generations", str(tmp_path), "1000"], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        acknowledged = int(writer.stdout.readline())
        wait_for_staging(tmp_path / "data")
        time.sleep(dice.uniform(0, 0.02))
        writer.send_signal(signal.SIGKILL)
        acknowledged = max([acknowledged, *map(int, writer.stdout.read().split())])
        writer.stdout.close()
        assert writer.wait() == -signal.SIGKILL
        assert read_generation(tmp_path) in (acknowledged, acknowledged + 1)
        unnamed = {file for file in files_of(tmp_path) if file.endswith((".part", ".parquet"))} - all_named(tmp_path)
        left_staged_files += bool(unnamed)
        for file in unnamed:
            (tmp_path / file).unlink()
    with capsys.disabled():
        print(f"\n{KILLS} kills, {left_staged_files} left staged files, {read_generation(tmp_path)} versions, 0 torn")
    assert left_staged_files >= KILLS // 4


def wait_for_staging(folder: Path) -> None:
    """Return when the writer is at the files of a commit; most of its time goes into making the catalog."""
    before = set(folder.iterdir())
    while set(folder.iterdir()) == before:
        time.sleep(0.001)


def all_named(ledger: Path) -> set[str]:
    """The files that any version names, not only the newest."""
    manifests = [read_manifest(path) for path in (ledger / "versions").glob("0*.json")]
    return {segment.path for manifest in manifests for segments in manifest.tables.values() for segment in segments}
