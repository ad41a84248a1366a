"""Whatever fails while a commit is written, the ledger is the version before or the version after."""

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aix.errors import LedgerUnwritableError
from aix.ledger import durable
from aix.ledger.commit import commit
from tests.generations import next_generation, read_generation


class PowerCutError(BaseException):
    """The machine stops: nothing that comes after is done, not even cleaning up."""


class Disk:
    """Stands before the real disk, counts what it is asked to do, and fails at one of those operations.

    It remembers what was put on disk for good, so that a power cut can take the rest away.
    """

    def __init__(self, patch: pytest.MonkeyPatch, ledger: Path) -> None:
        self.patch = patch
        self.ledger = ledger
        self.operations = 0
        self.fails_at = -1
        self.fault: Callable[[str], None] = lambda _: None
        self.is_off = False
        self.halves_writes = False
        self.lasting_files = {path.stat().st_ino for path in ledger.rglob("*")}
        self.lasting_names = set(ledger.rglob("*"))
        for name in ("write", "fsync", "link"):
            patch.setattr(durable, name, getattr(self, name))
        real_unlink = Path.unlink
        patch.setattr(Path, "unlink", lambda path, **options: None if self.is_off else real_unlink(path, **options))

    def write(self, descriptor: int, data: memoryview) -> int:
        self._operation("write")
        half = data[: (len(data) + 1) // 2] if self.halves_writes else data
        return os.write(descriptor, half)

    def fsync(self, descriptor: int) -> None:
        self._operation("fsync")
        os.fsync(descriptor)
        path = Path(f"/proc/self/fd/{descriptor}").resolve()
        self.lasting_files.add(os.fstat(descriptor).st_ino)
        if path.is_dir():
            self.lasting_names |= set(path.iterdir())

    def link(self, part: Path, final: Path) -> None:
        self._operation("link")
        os.link(part, final)

    def _operation(self, kind: str) -> None:
        self.operations += 1
        if self.operations == self.fails_at:
            self.fault(kind)

    def cut_power(self, _: str) -> None:
        self.is_off = True
        raise PowerCutError

    def lose_contents(self) -> None:
        """Empty every file whose content was never synced."""
        for path in self.ledger.rglob("*"):
            if path.is_file() and path.stat().st_ino not in self.lasting_files:
                os.truncate(path, 0)

    def lose_names(self) -> None:
        """Remove every name that its folder was never synced with."""
        for path in self.ledger.rglob("*"):
            if path.is_file() and path not in self.lasting_names:
                os.remove(path)  # noqa: PTH107 - Path.unlink is what the test switches off


@pytest.fixture(scope="module")
def first_version(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ledger = tmp_path_factory.mktemp("first") / "ledger"
    for _ in range(3):
        commit(ledger, next_generation)
    return ledger


@pytest.fixture
def disks(first_version: Path, tmp_path: Path) -> Iterator[Callable[[int], Disk]]:
    """Makes disks that fail at a given operation, each with a copy of the same ledger."""
    patches: list[pytest.MonkeyPatch] = []

    def make_disk(fails_at: int) -> Disk:
        while patches:
            patches.pop().undo()
        patches.append(pytest.MonkeyPatch())
        ledger = shutil.copytree(first_version, tmp_path / str(fails_at))
        disk = Disk(patches[0], ledger)
        disk.fails_at = fails_at
        return disk

    yield make_disk
    while patches:
        patches.pop().undo()


@pytest.fixture
def operations(disks: Callable[[int], Disk]) -> range:
    """The numbers of all operations of one commit."""
    disk = disks(0)
    commit(disk.ledger, next_generation)
    assert disk.operations > 20
    return range(1, disk.operations + 1)


def goes_on(disk: Disk) -> bool:
    """Whether the ledger is whole, and the next commit works as if nothing had happened."""
    disk.patch.undo()
    generation = read_generation(disk.ledger)
    assert generation in (3, 4)
    assert commit(disk.ledger, next_generation).version == generation + 1 == read_generation(disk.ledger)
    return True


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EDQUOT], ids=os.strerror)
def test_an_error_of_the_disk_at_any_operation(disks: Callable[[int], Disk], operations: range, number: int) -> None:
    def fail(_: str) -> None:
        raise OSError(number, os.strerror(number))

    for operation in operations:
        disk = disks(operation)
        disk.fault = fail
        with pytest.raises(LedgerUnwritableError) as caught:
            commit(disk.ledger, next_generation)
        assert os.strerror(number) in str(caught.value)
        assert goes_on(disk)


def test_an_interrupt_at_any_operation(disks: Callable[[int], Disk], operations: range) -> None:
    def interrupt(_: str) -> None:
        raise KeyboardInterrupt

    for operation in operations:
        disk = disks(operation)
        disk.fault = interrupt
        with pytest.raises(KeyboardInterrupt):
            commit(disk.ledger, next_generation)
        assert goes_on(disk)


@pytest.mark.parametrize("loses", ["nothing", "contents", "names", "both"])
def test_a_power_cut_at_any_operation(disks: Callable[[int], Disk], operations: range, loses: str) -> None:
    seen = set()
    for operation in operations:
        disk = disks(operation)
        disk.fault = disk.cut_power
        with pytest.raises(PowerCutError):
            commit(disk.ledger, next_generation)
        if loses in ("contents", "both"):
            disk.lose_contents()
        if loses in ("names", "both"):
            disk.lose_names()
        seen.add(read_generation(disk.ledger))
        assert goes_on(disk)
    assert seen == ({3} if loses in ("names", "both") else {3, 4})


def test_what_was_committed_survives_a_power_cut(disks: Callable[[int], Disk]) -> None:
    disk = disks(0)
    commit(disk.ledger, next_generation)
    disk.lose_contents()
    disk.lose_names()
    assert read_generation(disk.ledger) == 4


def test_writes_that_take_only_a_part_at_a_time(disks: Callable[[int], Disk]) -> None:
    disk = disks(0)
    disk.halves_writes = True
    commit(disk.ledger, next_generation)
    assert disk.operations > 100
    assert read_generation(disk.ledger) == 4
