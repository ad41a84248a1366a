"""Whatever fails while rows are joined into a ledger, its tables are those before or those after."""

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aix.errors import LedgerUnwritableError
from tests.store.test_commit_faults import Disk, PowerCutError
from tests.support.growing_ledger import rows_of_step
from tests.support.row_batches import deliver, dump

pytestmark = pytest.mark.faults

STEPS = 3


def join_step(ledger: Path, step: int) -> None:
    deliver(ledger, rows_of_step(step, 0), rows_of_step(step, 1))


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Ledgers after so many steps."""
    ledgers = []
    for steps in range(STEPS + 1):
        ledgers.append(tmp_path_factory.mktemp("state") / "ledger")
        for step in range(steps):
            join_step(ledgers[-1], step)
    return ledgers


@pytest.fixture(scope="module")
def contents(states: list[Path]) -> list[dict[str, list[str]]]:
    return [dump(ledger) for ledger in states]


@pytest.fixture
def make_disk(states: list[Path], tmp_path: Path) -> Iterator[Callable[[int], Disk]]:
    """Makes disks that fail at a given operation of the last step."""
    patches: list[pytest.MonkeyPatch] = []

    def make(fails_at: int) -> Disk:
        while patches:
            patches.pop().undo()
        patches.append(pytest.MonkeyPatch())
        shutil.copytree(states[STEPS - 1], tmp_path / str(fails_at))
        return Disk(patches[0], tmp_path / str(fails_at), fails_at, has_links=True)

    yield make
    while patches:
        patches.pop().undo()


@pytest.fixture
def named_points(make_disk: Callable[[int], Disk]) -> dict[str, int]:
    """The last operation of each name; rows are staged, joined, written, indexed, and published."""
    disk = make_disk(0)
    join_step(disk.ledger, STEPS - 1)
    points = {name: number for number, name in enumerate(disk.names, 1)}
    named = {
        "write staging .parquet",
        *("write data turns", "sync data turns", "write data index", "sync data index", "sync data "),
        *("write versions .part", "sync versions .part", "link", "sync versions "),
    }
    assert named <= points.keys()
    return {name: points[name] for name in sorted(named)}


@pytest.mark.parametrize("kind", ["error", "disk full", "power cut that loses contents", "power cut that loses names"])
def test_every_named_point_can_fail(
    make_disk: Callable[[int], Disk],
    named_points: dict[str, int],
    contents: list[dict[str, list[str]]],
    kind: str,
) -> None:
    number = errno.ENOSPC if kind == "disk full" else errno.EIO

    def fail() -> None:
        raise OSError(number, os.strerror(number))

    for name, operation in named_points.items():
        disk = make_disk(operation)
        disk.fault = disk.cut_power if "power" in kind else fail
        with pytest.raises(PowerCutError if "power" in kind else LedgerUnwritableError):
            join_step(disk.ledger, STEPS - 1)
        if "power" in kind:
            disk.lose_contents()
        if "names" in kind:
            disk.lose_names()
        disk.patch.undo()
        assert dump(disk.ledger) in contents[STEPS - 1 :], name
    join_step(disk.ledger, STEPS - 1)
    assert dump(disk.ledger) == contents[STEPS]


def test_writes_that_take_only_a_part_at_a_time(
    make_disk: Callable[[int], Disk], contents: list[dict[str, list[str]]]
) -> None:
    disk = make_disk(0)
    disk.halves_writes = True
    join_step(disk.ledger, STEPS - 1)
    assert dump(disk.ledger) == contents[STEPS]
