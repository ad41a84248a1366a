"""Copies of sources, ledgers joined into ledgers, and what is collected when."""

import os
import time
from pathlib import Path

import pytest

from aix.errors import LedgerDamagedError, LedgerNotFoundError
from aix.merge import forget as removal
from aix.merge.forget import forget
from aix.merge.ledger_merge import join_ledger
from aix.merge.selection import Selection
from aix.store import locks
from aix.store.durable import make_folder
from aix.store.garbage import collect, find_removals, finish_forgetting
from aix.store.locks import staging_folder
from aix.store.manifest import PRICE_TABLES, manifest_paths, read_latest
from aix.store.manifest import files_of as files_of_version
from aix.store.raw_copies import keep_raw, kept_digests, open_raw, raw_path
from tests import ROOT
from tests.merge.test_groups import conversation
from tests.store.test_commit import files_of
from tests.support.changes import overtake
from tests.support.row_batches import Rows, deliver, dump, rows_of
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger

pytestmark = pytest.mark.long

HOUR = 3600


def make_older(ledger: Path, hours: float) -> None:
    """Let time pass for every file."""
    for path in [*ledger.rglob("*"), ledger]:
        status = path.stat()
        os.utime(path, (status.st_atime, status.st_mtime - hours * HOUR))


def test_a_copy_holds_the_bytes_of_its_source(tmp_path: Path) -> None:
    source = tmp_path / "log.jsonl"
    source.write_bytes(bytes(range(256)) * 20_000)
    umask = os.umask(0)
    try:
        digest = keep_raw(tmp_path / "ledger", source)
    finally:
        os.umask(umask)
    assert keep_raw(tmp_path / "ledger", source) == digest
    assert list(kept_digests(tmp_path / "ledger")) == [digest]
    with open_raw(tmp_path / "ledger", digest) as copy:
        assert copy.read() == source.read_bytes()
    path = raw_path(tmp_path / "ledger", digest)
    assert path.stat().st_size < source.stat().st_size / 10
    assert [oct(each.stat().st_mode & 0o777) for each in (path, path.parent, path.parent.parent)] == [
        "0o600",
        "0o700",
        "0o700",
    ]
    assert not list((tmp_path / "ledger").rglob("*.part"))


def test_a_copy_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(LedgerDamagedError, match="no copy"):
        open_raw(tmp_path, "0" * 64)
    with pytest.raises(ValueError, match="SHA-256"):
        raw_path(tmp_path, "../../etc/passwd")


def test_a_source_that_cannot_be_read_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        keep_raw(tmp_path / "ledger", tmp_path / "nowhere")
    assert files_of(tmp_path / "ledger") == set()


def imported(name: str, digest: str) -> Rows:
    """A session that was read from a source of which there is a copy."""
    source = {"source_key": name, "importer": "test", "path": name, "fingerprint": digest}
    log = {"run_id": "run", "source_key": name, "seq": 0, "session_label": name, "status": "imported"}
    return {**conversation(name), "import_sources": [source], "import_log": [log]}


def test_forgetting_a_session_removes_the_copies_of_its_sources(tmp_path: Path) -> None:
    digests = {}
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text(f"text of {name}" + (" and a secret" if name == "c" else ""))
        digests[name] = keep_raw(tmp_path / "ledger", tmp_path / name)
        deliver(tmp_path / "ledger", imported(name, digests[name]))
    assert forget(tmp_path / "ledger", Selection(labels=["a"])).raw_copies == 1
    assert set(kept_digests(tmp_path / "ledger")) == {digests["b"], digests["c"]}
    assert forget(tmp_path / "ledger", Selection(labels=["b"], text="a secret")).raw_copies == 2
    assert set(kept_digests(tmp_path / "ledger")) == set()


def test_copies_that_an_overtaken_attempt_removed_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("text of a")
    deliver(tmp_path / "ledger", imported("a", keep_raw(tmp_path / "ledger", tmp_path / "a")))
    overtake(monkeypatch, lambda: deliver(tmp_path / "ledger", conversation("b")))
    forgotten = forget(tmp_path / "ledger", Selection(labels=["a"]))
    assert (forgotten.raw_copies, forgotten.sessions, forgotten.rows["sessions"]) == (1, ["a"], 1)


def test_joining_a_ledger_is_joining_what_was_joined_into_it(tmp_path: Path) -> None:
    first, second = [SAMPLE_ROWS, conversation("shared", 2)], [conversation("shared", 3), conversation("own")]
    for name, rows in (("one", first), ("two", second)):
        for source in rows:
            deliver(tmp_path / name, source)
    deliver(tmp_path / "both", *first, *second)
    (tmp_path / "log").write_text("the source")
    digest = keep_raw(tmp_path / "two", tmp_path / "log")
    join_ledger(tmp_path / "one", tmp_path / "two", keep_raw=True)
    assert dump(tmp_path / "one") == dump(tmp_path / "both")
    assert list(kept_digests(tmp_path / "one")) == [digest]
    before = read_latest(tmp_path / "one")
    assert join_ledger(tmp_path / "one", tmp_path / "two", keep_raw=True) == before, "twice is once"


def test_joining_into_nothing_makes_a_copy_except_for_prices(tmp_path: Path) -> None:
    deliver(tmp_path / "one", SAMPLE_ROWS)
    join_ledger(tmp_path / "new", tmp_path / "one")
    expected = dump(tmp_path / "one")
    for name in PRICE_TABLES:
        expected.pop(name)
    assert dump(tmp_path / "new") == expected


def test_a_ledger_of_an_older_schema_can_be_joined(tmp_path: Path) -> None:
    fixtures = ROOT / "fixtures" / "ledgers"
    for version in (1, 2):
        join_ledger(tmp_path / str(version), fixtures / f"schema_{version}")
        assert len(dump(tmp_path / str(version))["turns"]) == 6
    write_ledger(tmp_path / "today", SAMPLE_ROWS)
    join_ledger(tmp_path / "copy", tmp_path / "today")
    assert dump(tmp_path / "copy")["turns"] == dump(tmp_path / "today")["turns"]


def test_what_is_no_ledger_is_not_joined(tmp_path: Path) -> None:
    with pytest.raises(LedgerNotFoundError):
        join_ledger(tmp_path / "one", tmp_path)
    assert not (tmp_path / "one").exists()


def test_old_versions_go_after_their_grace_and_the_newest_stays(tmp_path: Path) -> None:
    for turns in (1, 2, 3):
        deliver(tmp_path, conversation("a", turns))
    content = dump(tmp_path)
    assert collect(tmp_path, HOUR) == []
    make_older(tmp_path, 2)
    deliver(tmp_path, conversation("a", 4))
    removals = find_removals(tmp_path, HOUR)
    assert collect(tmp_path, HOUR) == removals
    assert [each.path.name for each in removals if each.kind == "version"] == [
        "0000000001.json",
        "0000000002.json",
    ], "the third was the newest until just now, and may still be read"
    assert all(each.size_bytes > 0 for each in removals)
    assert len(manifest_paths(tmp_path)) == 2
    make_older(tmp_path, 2)
    collect(tmp_path, HOUR)
    assert len(manifest_paths(tmp_path)) == 1
    assert dump(tmp_path) != content
    assert collect(tmp_path, HOUR) == []
    in_data = {file for file in files_of(tmp_path) if file.startswith("data/")}
    assert in_data == files_of_version(read_latest(tmp_path))


def test_what_killed_writers_left_goes_and_what_living_ones_need_stays(tmp_path: Path) -> None:
    deliver(tmp_path, conversation("a"))
    (tmp_path / "data" / "turns-dead.parquet").write_text("half")
    (tmp_path / "versions" / ".dead.part").write_text("half")
    (tmp_path / "staging" / "dead").mkdir(parents=True)
    make_older(tmp_path, 2)
    (tmp_path / "data" / "turns-living.parquet").write_text("half")
    with staging_folder(tmp_path) as living:
        os.utime(living, (0, 0))
        gone = {each.path.relative_to(tmp_path).as_posix() for each in collect(tmp_path, HOUR)}
        assert living.exists()
    assert gone == {"data/turns-dead.parquet", "versions/.dead.part", "staging/dead"}


def test_a_copy_of_a_source_goes_when_no_version_knows_that_state(tmp_path: Path) -> None:
    source = tmp_path / "log"
    for text in ("short", "longer"):
        source.write_text(text)
        deliver(tmp_path / "ledger", imported("s", keep_raw(tmp_path / "ledger", source)))
    make_older(tmp_path / "ledger", 2)
    collect(tmp_path / "ledger", 0)
    assert len(list(kept_digests(tmp_path / "ledger"))) == 2, "an import that has not committed may need it"
    make_older(tmp_path / "ledger", 30)
    collect(tmp_path / "ledger", HOUR)
    [digest] = kept_digests(tmp_path / "ledger")
    with open_raw(tmp_path / "ledger", digest) as copy:
        assert copy.read() == b"longer"


def test_versions_before_a_forgotten_one_go_at_once(tmp_path: Path) -> None:
    deliver(tmp_path, conversation("a"), conversation("b"))
    deliver(tmp_path, conversation("c"))
    forget(tmp_path, Selection(labels=["a"]))
    assert len(manifest_paths(tmp_path)) == 1
    assert time.time() - manifest_paths(tmp_path)[0].stat().st_mtime < HOUR


def test_a_backup_that_is_joined_does_not_turn_bookkeeping_back(tmp_path: Path) -> None:
    deliver(tmp_path / "backup", imported("s", "0" * 64))
    deliver(tmp_path / "now", imported("s", "f" * 64))
    join_ledger(tmp_path / "now", tmp_path / "backup")
    assert [row["fingerprint"] for row in rows_of(tmp_path / "now", "import_sources")] == ["f" * 64]


def test_copies_and_parts_that_are_not_ours_or_half_made_do_no_harm(tmp_path: Path) -> None:
    deliver(tmp_path / "one", conversation("a"))
    deliver(tmp_path / "two", conversation("b"))
    (tmp_path / "log").write_text("x")
    digest = keep_raw(tmp_path / "two", tmp_path / "log")
    folder = tmp_path / "one" / "raw" / digest[:2]
    folder.mkdir(parents=True)
    (folder / "copy of a file.zst").write_text("?")
    (folder / f".{digest}.part").write_text("half")
    join_ledger(tmp_path / "one", tmp_path / "two", keep_raw=True)
    assert list(kept_digests(tmp_path / "one")) == [digest]
    make_older(tmp_path / "one", 2)
    assert folder / f".{digest}.part" in [each.path for each in collect(tmp_path / "one", HOUR)]


def test_a_forget_that_was_stopped_after_its_commit_is_finished(tmp_path: Path) -> None:
    deliver(tmp_path, conversation("a"), conversation("b"))
    first = read_latest(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(removal, "collect", lambda *_: [])
        forget(tmp_path, Selection(labels=["a"]))
    assert len(manifest_paths(tmp_path)) == 2
    finish_forgetting(tmp_path)
    assert len(manifest_paths(tmp_path)) == 1
    assert not any((tmp_path / name).exists() for name in files_of_version(first))


def test_a_staging_folder_that_was_collected_before_it_was_locked_is_made_again(tmp_path: Path) -> None:
    made: list[Path] = []

    def make_and_lose(path: Path) -> None:
        make_folder(path)
        if path.parent.name == "staging" and not made:
            made.append(path)
            path.rmdir()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(locks, "make_folder", make_and_lose)
        with staging_folder(tmp_path) as folder:
            assert folder.is_dir()
    assert made
