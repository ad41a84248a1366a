"""Whatever fails while a commit is written, the ledger is the version before or the version after."""

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aix.derived import derived_data
from aix.errors import LedgerUnwritableError
from aix.store import durable
from tests.support.changes import commit
from tests.support.numbered_ledgers import next_generation, read_generation

pytestmark = pytest.mark.faults


class PowerCutError(BaseException):
    """The machine stops: nothing that comes after is done, not even cleaning up."""


class Disk:
    """Stands before the real disk, counts what it is asked to do, and fails at one of those operations.

    It remembers what was put on disk for good, so that a power cut can take the rest away.
    """

    def __init__(self, patch: pytest.MonkeyPatch, ledger: Path, fails_at: int, *, has_links: bool) -> None:
        self.patch = patch
        self.ledger = ledger
        self.fails_at = fails_at
        self.has_links = has_links
        self.operations = 0
        self.fault: Callable[[], None] = lambda: None
        self.is_off = False
        self.halves_writes = False
        self.names: list[str] = []
        """By operation: its kind, and the file it was done to."""
        there = [path for path in (ledger, *ledger.rglob("*")) if path.exists()]
        self.lasting_names = set(there)
        self.lasting_sizes = {path.stat().st_ino: path.stat().st_size for path in there}
        for name in ("write", "fsync", "link"):
            patch.setattr(durable, name, getattr(self, name))
        patch.setattr(durable, "MOST_HELD_BYTES", 2**9)  # so that files need several writes
        real_unlink, real_rename = Path.unlink, Path.rename

        def rename(part: Path, final: Path) -> Path:
            self._operation("rename")
            return real_rename(part, final)

        patch.setattr(Path, "unlink", lambda path, **options: None if self.is_off else real_unlink(path, **options))
        patch.setattr(Path, "rename", rename)

    def write(self, descriptor: int, data: memoryview) -> int:
        self._operation("write", descriptor)
        half = data[: (len(data) + 1) // 2] if self.halves_writes else data
        return os.write(descriptor, half)

    def fsync(self, descriptor: int) -> None:
        self._operation("sync", descriptor)
        os.fsync(descriptor)
        status = os.fstat(descriptor)
        self.lasting_sizes[status.st_ino] = status.st_size
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        if path.is_dir():
            self.lasting_names |= set(path.iterdir())

    def link(self, part: Path, final: Path) -> None:
        self._operation("link")
        if not self.has_links:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))
        os.link(part, final)

    def _operation(self, kind: str, descriptor: int | None = None) -> None:
        self.operations += 1
        self.names.append(kind if descriptor is None else f"{kind} {self._what(descriptor)}")
        if self.operations == self.fails_at:
            self.fault()

    def _what(self, descriptor: int) -> str:
        """Name a file of a ledger by its folder and kind, without the part that differs each time."""
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        if not path.is_relative_to(self.ledger):
            return "above"
        folder = path.relative_to(self.ledger).parts[:1]
        kind, dash, _ = path.name.partition("-")
        return f"{''.join(folder)} {kind if dash else path.suffix}"

    def cut_power(self) -> None:
        self.is_off = True
        raise PowerCutError

    def lose_contents(self) -> None:
        """Cut every file back to what was synced of it."""
        for path in self.ledger.rglob("*"):
            if path.is_file():
                os.truncate(path, self.lasting_sizes.get(path.stat().st_ino, 0))

    def lose_names(self) -> None:
        """Remove every name that its folder was never synced with."""
        for path in sorted([self.ledger, *self.ledger.rglob("*")], reverse=True):
            if path not in self.lasting_names and path.is_dir():
                shutil.rmtree(path)
            elif path not in self.lasting_names:
                os.remove(path)  # noqa: PTH107 - Path.unlink is what the test switches off


MakeDisk = Callable[[int], Disk]


@pytest.fixture(autouse=True)
def _no_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what is made after each commit, by other operations: it would take most of the time of these tests."""
    monkeypatch.setattr(derived_data, "refresh_catalog", lambda _: None)


@pytest.fixture(scope="module")
def three_versions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ledger = tmp_path_factory.mktemp("three") / "ledger"
    for _ in range(3):
        commit(ledger, next_generation)
    return ledger


@pytest.fixture(params=["later commit", "first commit", "later commit without hard links"])
def disks(request: pytest.FixtureRequest, three_versions: Path, tmp_path: Path) -> Iterator[MakeDisk]:
    """Makes disks that fail at a given operation, each with a ledger of its own."""
    patches: list[pytest.MonkeyPatch] = []

    def make_disk(fails_at: int) -> Disk:
        while patches:
            patches.pop().undo()
        patches.append(pytest.MonkeyPatch())
        ledger = tmp_path / str(fails_at)
        if request.param != "first commit":
            shutil.copytree(three_versions, ledger)
        return Disk(patches[0], ledger, fails_at, has_links="without" not in request.param)

    yield make_disk
    while patches:
        patches.pop().undo()


@pytest.fixture
def operations(disks: MakeDisk) -> range:
    """The numbers of all operations of one commit."""
    disk = disks(0)
    commit(disk.ledger, next_generation)
    assert disk.operations > 20
    return range(1, disk.operations + 1)


@pytest.fixture
def before(disks: MakeDisk) -> int:
    """The version before the commit."""
    return read_generation(disks(-1).ledger)


def assert_goes_on(disk: Disk, before: int) -> None:
    """The ledger is whole, and the next commit works as if nothing had happened."""
    disk.patch.undo()
    generation = read_generation(disk.ledger)
    assert generation in (before, before + 1)
    assert commit(disk.ledger, next_generation).version == generation + 1 == read_generation(disk.ledger)


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC], ids=os.strerror)
def test_an_error_of_the_disk_at_any_operation(disks: MakeDisk, operations: range, before: int, number: int) -> None:
    def fail() -> None:
        raise OSError(number, os.strerror(number))

    for operation in operations:
        disk = disks(operation)
        disk.fault = fail
        with pytest.raises(LedgerUnwritableError) as caught:
            commit(disk.ledger, next_generation)
        assert os.strerror(number) in str(caught.value)
        assert_goes_on(disk, before)


def test_an_interrupt_at_any_operation(disks: MakeDisk, operations: range, before: int) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    for operation in operations:
        disk = disks(operation)
        disk.fault = interrupt
        with pytest.raises(KeyboardInterrupt):
            commit(disk.ledger, next_generation)
        assert_goes_on(disk, before)


@pytest.mark.parametrize("loses", ["contents", "both"])
def test_a_power_cut_at_any_operation(disks: MakeDisk, operations: range, before: int, loses: str) -> None:
    seen = set()
    for operation in operations:
        disk = disks(operation)
        disk.fault = disk.cut_power
        with pytest.raises(PowerCutError):
            commit(disk.ledger, next_generation)
        disk.lose_contents()
        if loses == "both":
            disk.lose_names()
        seen.add(read_generation(disk.ledger))
        assert_goes_on(disk, before)
    assert seen == ({before} if loses == "both" else {before, before + 1})


def test_what_was_committed_survives_a_power_cut(disks: MakeDisk, before: int) -> None:
    disk = disks(0)
    commit(disk.ledger, next_generation)
    disk.lose_contents()
    disk.lose_names()
    assert read_generation(disk.ledger) == before + 1


def test_writes_that_take_only_a_part_at_a_time(disks: MakeDisk, before: int) -> None:
    disk = disks(0)
    disk.halves_writes = True
    commit(disk.ledger, next_generation)
    assert disk.operations > 100
    assert read_generation(disk.ledger) == before + 1
