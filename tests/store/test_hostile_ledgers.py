"""A ledger that a stranger made, or a bad disk, harms nothing beside it and ends as a damaged ledger."""

import errno
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from aix.cli.diagnostics import ExitCode, run
from aix.cli.root import aix as root_command
from aix.errors import LedgerDamagedError, LedgerError
from aix.pipeline.run import Settings, import_histories
from aix.store.manifest import manifest_paths, read_latest
from aix.store.raw_copies import keep_raw, raw_path
from tests import ROOT
from tests.support.hostile_ledgers import (
    FILE_CASES,
    MANIFEST_CASES,
    OLD,
    OLD_VERSION_CASES,
    Case,
    Scene,
    flipped,
    index,
    make_link_out,
    replaced,
    view,
)
from tests.support.row_batches import dump

pytestmark = pytest.mark.long

FIXTURES = ROOT / "fixtures" / "claude_code"
FIRST, LATER = "rewind", "plain_loop"
SESSION = "claude-code:c5118573-5e55-4000-8000-000000000001"
HANGS_AFTER_SECONDS = 30
NEVER_REFUSED = {"status"}
"""Operations that read a note beside the versions and no version."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with logs and a ledger of two versions and several groups that they were imported into."""
    folder = tmp_path_factory.mktemp("hostile")
    for name in (FIRST, LATER):
        shutil.copytree(FIXTURES / name / "input", folder / "logs", dirs_exist_ok=True)
        import_histories(folder / "ledger", [folder / "logs"], Settings(jobs=0))
    return folder


@pytest.fixture
def scene(made: Path, tmp_path: Path) -> Scene:
    """Give a copy of the ledger beside files of the user, all of them old."""
    shutil.copytree(made / "ledger", tmp_path / "ledger")
    shutil.copytree(made / "logs", tmp_path / "logs")
    victim = tmp_path / "victim"
    for name in ("docs/thesis.txt", f"{'ab' * 32}.zst", f"ab/{'ab' * 32}.zst", ".x.part"):
        (victim / name).parent.mkdir(parents=True, exist_ok=True)
        (victim / name).write_text("years of work")
    for path in (*victim.rglob("*"), victim):
        os.utime(path, (OLD, OLD))
    return Scene(tmp_path / "ledger", victim)


def contents(folder: Path) -> dict[Path, tuple[int, bytes]]:
    found = {path: path.lstat().st_mode for path in (folder, *folder.rglob("*"))}
    return {path: (mode, path.read_bytes() if path.is_file() else b"") for path, mode in found.items()}


def arguments(operation: str, scene: Scene) -> list[str]:
    ledger = ["--ledger", str(scene.ledger)]
    beside = scene.ledger.parent
    return {
        "sql": ["sql", "select count(*) from turns", *ledger],
        "sql messages": ["sql", "from messages", *ledger],
        "forget": ["forget", SESSION, *ledger],
        "forget nobody": ["forget", "nobody", *ledger],
        "vacuum": ["vacuum", "--grace", "0", *ledger],
        "vacuum --dry-run": ["vacuum", "--dry-run", *ledger],
        "export": ["export", "--format", "parquet", "-o", str(beside / "out"), *ledger],
        "export sessions": ["export", "--format", "session-log", "-o", str(beside / "sessions"), *ledger],
        "sources": ["sources", str(beside / "logs"), *ledger],
        "join": ["import", str(scene.ledger), "--ledger", str(beside / "own")],
    }.get(operation, [operation, *ledger])


def outcome(operation: str, scene: Scene, patch: pytest.MonkeyPatch) -> ExitCode:
    if operation == "import":
        log = next((scene.ledger.parent / "logs").rglob("c5118573*.jsonl"))
        log.write_text("".join(log.read_text("utf-8").splitlines(keepends=True)[:-1]), "utf-8")
        try:
            import_histories(scene.ledger, [scene.ledger.parent / "logs"], Settings(jobs=0))
        except LedgerError:
            return ExitCode.LEDGER
        return ExitCode.OK
    patch.setattr(sys, "argv", ["aix", *arguments(operation, scene)])
    return run(root_command)


@contextmanager
def pipes_let_go(folder: Path) -> Iterator[threading.Event]:
    """Let whoever waits at a named pipe go after a while, and say that somebody may have waited."""
    late = threading.Event()
    pipes = [path for path in folder.rglob("*") if path.is_fifo()]

    def let_go() -> None:
        late.set()
        for pipe in pipes:
            os.close(os.open(pipe, os.O_RDWR | os.O_NONBLOCK))

    timer = threading.Timer(HANGS_AFTER_SECONDS, let_go)
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()


def check_operations(scene: Scene, case: Case, operations: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    """Run operations on a changed ledger, each of which must harm nothing."""
    case.damage(scene)
    before = contents(scene.victim)
    with pytest.MonkeyPatch.context() as patch, pipes_let_go(scene.ledger) as late:
        for operation in operations:
            code = outcome(operation, scene, patch)
            said = capfd.readouterr().err
            assert contents(scene.victim) == before, operation
            if operation in case.refused:
                assert code is ExitCode.LEDGER, (operation, said)
            else:
                assert code in (ExitCode.OK, ExitCode.FINDINGS, ExitCode.LEDGER), (operation, said)
    assert not late.is_set()


@pytest.mark.parametrize("case", MANIFEST_CASES, ids=lambda case: case.name)
def test_a_manifest_that_breaks_a_rule_is_a_damaged_ledger(
    scene: Scene, case: Case, capfd: pytest.CaptureFixture[str]
) -> None:
    check_operations(scene, case, [*sorted(case.refused), *sorted(NEVER_REFUSED)], capfd)


@pytest.mark.parametrize("case", OLD_VERSION_CASES, ids=lambda case: case.name)
def test_an_old_version_makes_nothing_beside_the_ledger_go(
    scene: Scene, case: Case, capfd: pytest.CaptureFixture[str]
) -> None:
    check_operations(scene, case, ["vacuum --dry-run", "vacuum", "forget"], capfd)
    with pytest.MonkeyPatch.context() as patch:
        assert outcome("forget nobody", scene, patch) is ExitCode.USAGE
    assert contents(scene.victim)[scene.victim / "docs" / "thesis.txt"][1] == b"years of work"


@pytest.mark.parametrize("case", FILE_CASES, ids=lambda case: case.name)
def test_a_damaged_file_is_a_damaged_ledger(scene: Scene, case: Case, capfd: pytest.CaptureFixture[str]) -> None:
    others = ["vacuum --dry-run"] if case.refused else ["vacuum --dry-run", "sources", "status", "vacuum"]
    check_operations(
        scene, case, [*sorted(case.refused), *(each for each in others if each not in case.refused)], capfd
    )


def test_a_name_that_does_not_exist_finishes_no_earlier_forgetting(
    scene: Scene, capfd: pytest.CaptureFixture[str]
) -> None:
    document = scene.document
    scene.write({**document, "oldest": document["version"]})
    before = contents(scene.ledger)
    with pytest.MonkeyPatch.context() as patch:
        assert outcome("forget nobody", scene, patch) is ExitCode.USAGE
    assert "aix vacuum" in capfd.readouterr().err
    assert contents(scene.ledger) == before
    assert len(manifest_paths(scene.ledger)) == 2


def test_an_index_of_other_bytes_doubles_no_rows(scene: Scene) -> None:
    flipped(index)(scene)
    before = dump(scene.ledger)
    with pytest.MonkeyPatch.context() as patch:
        assert outcome("import", scene, patch) is ExitCode.LEDGER
    assert dump(scene.ledger) == before


def copies_that_link_out(scene: Scene, *, is_folder: bool) -> Path:
    """Return a ledger with copies of sources; where they would go in the ledger of the scene, links lead out of it."""
    theirs = scene.ledger.parent / "theirs"
    shutil.copytree(scene.ledger, theirs)
    for log in (scene.ledger.parent / "logs").rglob("*.jsonl"):
        copy = raw_path(scene.ledger, keep_raw(theirs, log))
        place = copy.parent if is_folder else copy
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(scene.victim if is_folder else scene.victim / "docs" / "thesis.txt")
    return theirs


@pytest.mark.parametrize("is_folder", [True, False], ids=["folder", "file"])
def test_no_copy_of_a_source_is_written_through_a_link(scene: Scene, *, is_folder: bool) -> None:
    theirs = copies_that_link_out(scene, is_folder=is_folder)
    scene.victim.chmod(0o755)
    before = contents(scene.victim), (scene.victim / "docs" / "thesis.txt").stat().st_mtime
    with pytest.raises(LedgerDamagedError):
        import_histories(scene.ledger, [theirs], Settings(keep_raw=True))
    with pytest.raises(LedgerDamagedError):
        keep_raw(scene.ledger, next((scene.ledger.parent / "logs").rglob("*.jsonl")))
    assert (contents(scene.victim), (scene.victim / "docs" / "thesis.txt").stat().st_mtime) == before


def test_no_lock_is_made_through_a_link(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "this disk has no hard links")

    monkeypatch.setattr("aix.store.durable.link", refuse)
    (scene.ledger / "versions" / ".lock").symlink_to(scene.victim / "made")
    with pytest.MonkeyPatch.context() as patch:
        assert outcome("import", scene, patch) is ExitCode.LEDGER
    assert not (scene.victim / "made").exists()


def without_checksums(scene: Scene) -> None:
    """Write the newest manifest as earlier releases did."""
    document = scene.document
    for file in (*document["indexes"].values(), *document["fingerprints"], *document["ties"]):
        del file["sha256"]
    scene.write(document)


def test_a_ledger_without_checksums_is_written_to_and_gets_them(scene: Scene) -> None:
    without_checksums(scene)
    turns = len(dump(scene.ledger)["turns"])
    with pytest.MonkeyPatch.context() as patch:
        assert outcome("import", scene, patch) is ExitCode.OK
    assert len(dump(scene.ledger)["turns"]) <= turns
    newest = read_latest(scene.ledger)
    assert newest.fingerprints[-1].sha256


def test_an_index_without_a_checksum_is_held_against_its_order(scene: Scene) -> None:
    without_checksums(scene)
    flipped(index)(scene)
    with pytest.MonkeyPatch.context() as patch:
        assert outcome("import", scene, patch) is ExitCode.LEDGER


def test_a_manifest_with_checksums_is_read_by_releases_that_know_none(scene: Scene) -> None:
    class EarlierEntry(msgspec.Struct):
        path: str
        entries: int

    class EarlierManifest(msgspec.Struct):
        indexes: dict[str, EarlierEntry]
        fingerprints: tuple[EarlierEntry, ...]

    content = scene.manifest.read_bytes()
    assert b'"sha256"' in content
    read = msgspec.json.decode(content, type=EarlierManifest)
    newest = read_latest(scene.ledger)
    assert [each.path for each in read.indexes.values()] == [each.path for each in newest.indexes.values()]
    assert [each.entries for each in read.fingerprints] == [each.entries for each in newest.fingerprints]


def test_a_forgetting_that_could_not_be_finished_is_not_begun(scene: Scene) -> None:
    replaced(view, make_link_out)(scene)
    before = contents(scene.ledger)
    with pytest.MonkeyPatch.context() as patch:
        assert outcome("forget", scene, patch) is ExitCode.LEDGER
    assert contents(scene.ledger) == before
