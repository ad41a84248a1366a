"""Processes that are killed while they commit leave a whole ledger behind.

A few kills in `make test`, many in `make test-crash`; both print how many of them hit a commit under way.
"""

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from aix.store.manifest import files_of as files_of_version
from aix.store.manifest import read_latest, read_manifest
from tests.store.test_commit import files_of
from tests.support.growing_ledger import rows_of_step, step_of
from tests.support.numbered_ledgers import FILES_OF_A_COMMIT, read_generation
from tests.support.row_batches import deliver, dump

pytestmark = pytest.mark.faults

KILLS = int(os.environ.get("AIX_CRASH_KILLS", "12"))
KILLS_WITH_WORKERS = KILLS if KILLS >= 50 else 4


def test_a_killed_writer_leaves_the_version_before_or_after(tmp_path: Path) -> None:
    dice = random.Random(20260205)
    left_staged_files = 0
    for _ in range(KILLS):
        writer = subprocess.Popen(
            [sys.executable, "-m", "tests.support.numbered_ledgers", str(tmp_path), "1000"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert writer.stdout is not None
        acknowledged = int(writer.stdout.readline())
        wait_for_new_files(tmp_path / "data", dice.randint(1, FILES_OF_A_COMMIT))
        time.sleep(dice.choice((0, dice.uniform(0, 0.03))))
        writer.send_signal(signal.SIGKILL)
        acknowledged = max([acknowledged, *map(int, writer.stdout.read().split())])
        writer.stdout.close()
        assert writer.wait() == -signal.SIGKILL
        assert read_generation(tmp_path) in (acknowledged, acknowledged + 1)
        unnamed = {file for file in files_of(tmp_path) if file.endswith((".part", ".parquet"))} - all_named(tmp_path)
        left_staged_files += bool(unnamed)
        for file in unnamed:
            (tmp_path / file).unlink()
    print(f"{KILLS} kills, {left_staged_files} left staged files, {read_generation(tmp_path)} versions, 0 torn")
    assert left_staged_files >= KILLS // 4


def test_killed_imports_leave_the_tables_before_or_after(tmp_path: Path) -> None:
    """Parent and workers are killed in turn, while rows of shared and growing sessions are joined in."""
    dice = random.Random(20260206)
    ledger, clean = tmp_path / "killed", tmp_path / "clean"
    left_staged_files = kills_beside_dead_rows = 0
    for number in range(KILLS_WITH_WORKERS):
        with growing(ledger) as writer:
            assert writer.stdout is not None
            acknowledged = [int(writer.stdout.readline())]
            time.sleep(dice.uniform(0, 0.6))
            victims = [writer.pid] if number % 2 == 0 else workers_of(writer.pid)
            os.kill(dice.choice(victims), signal.SIGKILL)
            acknowledged += map(int, writer.stdout.read().split())
            assert writer.wait(30) != 0
            died_at = time.monotonic()
            while processes_of_session(writer.pid):
                assert time.monotonic() < died_at + 2, "a process outlives its parent"
                time.sleep(0.02)
        step = step_of(ledger)
        assert step in (acknowledged[-1], acknowledged[-1] + 1)
        for later_step in range(step_of(clean), step):
            deliver(clean, rows_of_step(later_step, 0), rows_of_step(later_step, 1))
        assert sha256_of(ledger) == sha256_of(clean), f"step {step} is torn"
        kills_beside_dead_rows += bool(read_latest(ledger).dead)
        left_staged_files += remove_staged_files(ledger)
    print(
        f"{KILLS_WITH_WORKERS} kills of parents and workers, {left_staged_files} left staged files,"
        f" {kills_beside_dead_rows} beside dead rows, {step_of(ledger)} commits, 0 torn"
    )
    assert left_staged_files >= KILLS_WITH_WORKERS * 3 // 10
    assert kills_beside_dead_rows >= KILLS_WITH_WORKERS // 4


@contextmanager
def growing(ledger: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a writer with workers, in a session of its own."""
    writer = subprocess.Popen(
        [sys.executable, "-m", "tests.support.growing_ledger", str(ledger), "1000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        yield writer
    finally:
        writer.kill()
        writer.wait()
        assert writer.stdout is not None
        writer.stdout.close()


def processes() -> Iterator[tuple[int, int, int]]:
    """Every process that is not a zombie, with its parent and its session."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            yield int(path.parent.name), int(fields[1]), int(fields[3])


def workers_of(parent: int) -> list[int]:
    """The worker processes; Python starts another child, which keeps track of shared memory."""
    children = [process for process, above, _ in processes() if above == parent]
    return [process for process in children if b"spawn_main" in Path(f"/proc/{process}/cmdline").read_bytes()]


def processes_of_session(leader: int) -> list[int]:
    return [process for process, _, session in processes() if session == leader]


def sha256_of(ledger: Path) -> str:
    return hashlib.sha256(repr(sorted(dump(ledger).items())).encode()).hexdigest()


def remove_staged_files(ledger: Path) -> bool:
    """Remove what a killed process left behind, and say whether there was anything."""
    manifests = [read_manifest(path) for path in (ledger / "versions").glob("0*.json")]
    named = {path for manifest in manifests for path in files_of_version(manifest)}
    left = [
        file
        for file in files_of(ledger)
        if file.startswith("staging/") or (file.endswith((".part", ".parquet", ".bin")) and file not in named)
    ]
    for file in left:
        (ledger / file).unlink()
    return bool(left)


def count_files(folder: Path) -> int:
    return sum(1 for _ in folder.iterdir())


def wait_for_new_files(folder: Path, count: int) -> None:
    """Return when the writer has made so many files of a commit, however fast the machine is.

    Most of the writer's time goes into making the catalog, where a kill would show little.
    """
    before = count_files(folder)
    while count_files(folder) < before + count:
        pass


def all_named(ledger: Path) -> set[str]:
    """The files that any version names, not only the newest."""
    manifests = [read_manifest(path) for path in (ledger / "versions").glob("0*.json")]
    return {segment.path for manifest in manifests for segments in manifest.tables.values() for segment in segments}
