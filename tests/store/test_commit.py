"""A ledger is never half written."""

import errno
import gc
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aix.derived.catalog import CATALOG, CATALOG_NOTE
from aix.derived.derived_data import DerivedData
from aix.errors import LedgerDamagedError, LedgerUnwritableError, RowError
from aix.schema import SCHEMA_VERSION, TABLES, migrations
from aix.schema.arrow import arrow_schema
from aix.schema.migrations import TableChange
from aix.store import durable
from aix.store.commit import Change, Stage
from aix.store.commit import commit as commit_change
from aix.store.manifest import Manifest, Segment, manifest_path, read_latest
from tests.support.changes import Function, commit, overtake
from tests.support.numbered_ledgers import next_generation, read_generation, with_tables
from tests.support.sample_ledger import batch_from_rows, write_ledger

pytestmark = pytest.mark.long

TAGS = TABLES["tags"]


def files_of(ledger: Path) -> set[str]:
    """The files that a ledger consists of; the catalog is made of them."""
    files = {path.relative_to(ledger).as_posix() for path in ledger.rglob("*") if path.is_file()}
    return files - {CATALOG, CATALOG_NOTE}


def named_files(ledger: Path) -> set[str]:
    manifests = {path.relative_to(ledger).as_posix() for path in (ledger / "versions").glob("0*.json")}
    segments = {segment.path for segments in read_latest(ledger).tables.values() for segment in segments}
    return manifests | segments


def add_tag(name: str) -> Function:
    """A change that adds one row and keeps all others."""

    def change(base: Manifest, stage: Stage) -> Manifest:
        row = {"entity_type": "sessions", "entity_id": name, "tag": "t", "added_at": 1}
        new = stage.write(TAGS, [batch_from_rows(TAGS, [row])])
        return with_tables(base, {**base.tables, "tags": [*base.tables.get("tags", ()), new]})

    return change


def test_each_commit_is_the_next_whole_version(tmp_path: Path) -> None:
    ledger = tmp_path / "a" / "ledger"
    for generation in range(1, 4):
        assert commit(ledger, next_generation).version == generation == read_generation(ledger)
    assert len(list((ledger / "versions").iterdir())) == 3


def test_a_change_that_changes_nothing_adds_no_version(tmp_path: Path) -> None:
    first = commit(tmp_path, next_generation)
    assert commit(tmp_path, lambda base, _: base) == first
    assert read_latest(tmp_path) == first


def test_segments_say_how_many_rows_and_bytes_they_hold(tmp_path: Path) -> None:
    version = commit(tmp_path, add_tag("one"))
    [segment] = version.tables["tags"]
    assert (segment.rows, segment.size_bytes) == (1, (tmp_path / segment.path).stat().st_size)


@pytest.mark.parametrize("umask", [0, 0o277])
def test_a_ledger_is_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    (tmp_path / "ledger" / "versions").mkdir(parents=True)
    (tmp_path / "ledger" / "versions").chmod(0o777)
    previous = os.umask(umask)
    try:
        commit(tmp_path / "ledger", next_generation)
    finally:
        os.umask(previous)
    modes = {
        path: stat.S_IMODE(path.stat().st_mode) for path in [tmp_path / "ledger", *(tmp_path / "ledger").rglob("*")]
    }
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}


def test_a_writer_that_was_overtaken_starts_again_on_top_of_the_other(tmp_path: Path) -> None:
    bases = []

    def overtaken(base: Manifest, stage: Stage) -> Manifest:
        bases.append(base.version)
        if len(bases) == 1:
            commit(tmp_path, add_tag("faster"))
        return add_tag("slower")(base, stage)

    commit(tmp_path, overtaken)
    assert bases == [0, 1]
    assert sum(segment.rows for segment in read_latest(tmp_path).tables["tags"]) == 2
    assert files_of(tmp_path) == named_files(tmp_path), "the overtaken attempt left files behind"


def test_the_result_of_a_step_is_that_of_the_attempt_that_was_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @dataclass(frozen=True)
    class Tagged:
        name: str

        def apply(self, base: Manifest, stage: Stage) -> tuple[Manifest, int]:
            return add_tag(self.name)(base, stage), base.version

    overtake(monkeypatch, lambda: commit(tmp_path, next_generation))
    one, other = Tagged("same"), Tagged("same")
    committed = commit_change(tmp_path, Change(leaves=[one], adds=other, derived=DerivedData()))
    assert committed.version == read_latest(tmp_path)
    assert (committed.version.version, committed.result(one), committed.result(other)) == (2, 1, 1)


def test_rows_that_break_the_schema_are_never_written(tmp_path: Path) -> None:
    commit(tmp_path, next_generation)
    bad = pa.RecordBatch.from_pylist([{"entity_type": "x"}], schema=pa.schema([("entity_type", pa.string())]))
    with pytest.raises(RowError):
        commit(tmp_path, lambda base, stage: with_tables(base, {"tags": [stage.write(TAGS, [bad])]}))
    assert read_generation(tmp_path) == 1
    assert files_of(tmp_path) == named_files(tmp_path)


def test_an_error_of_the_source_is_not_blamed_on_the_ledger(tmp_path: Path) -> None:
    def unreadable() -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pylist([], schema=arrow_schema(TAGS))
        raise FileNotFoundError("a log")

    with pytest.raises(FileNotFoundError, match="a log"):
        commit(tmp_path, lambda base, stage: with_tables(base, {"tags": [stage.write(TAGS, unreadable())]}))
    assert files_of(tmp_path) == set()


WITHOUT_HARD_LINKS = """
def refuse(*_): raise OSError(errno.EPERM, 'no links')
def slow_rename(part, final): time.sleep(0.01); rename(part, final)
rename, Path.rename, durable.link = Path.rename, slow_rename, refuse
"""


@pytest.mark.parametrize("file_system", ["", WITHOUT_HARD_LINKS], ids=["with hard links", "without hard links"])
def test_concurrent_writers_lose_nothing(tmp_path: Path, file_system: str) -> None:
    writers, commits = 4, 8
    program = f"""
import errno, sys, time
from pathlib import Path
from aix.store import durable
from tests.support.changes import commit
from tests.store.test_commit import add_tag
{file_system}
for number in range({commits}):
    commit(Path(sys.argv[1]), add_tag(f"{{sys.argv[2]}}-{{number}}"))
"""
    processes = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path), str(n)]) for n in range(writers)]
    assert [process.wait() for process in processes] == [0] * writers
    latest = read_latest(tmp_path)
    assert latest.version == writers * commits
    ids = {
        row["entity_id"]
        for segment in latest.tables["tags"]
        for row in pq.read_table(tmp_path / segment.path).to_pylist()
    }
    assert ids == {f"{writer}-{number}" for writer in range(writers) for number in range(commits)}
    assert files_of(tmp_path) - {"versions/.lock"} == named_files(tmp_path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerUnwritableError) as caught:
        commit(tmp_path / "file" / "ledger", next_generation)
    assert str(tmp_path / "file" / "ledger") in str(caught.value)


def test_a_real_limit_of_the_system_leaves_the_ledger_whole(tmp_path: Path) -> None:
    commit(tmp_path, next_generation)
    program = """
import resource, signal, sys
from pathlib import Path
from aix.errors import LedgerUnwritableError
from tests.support.changes import commit
from tests.support.numbered_ledgers import write_generation
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
try:
    commit(Path(sys.argv[1]), lambda base, stage: write_generation(500, base, stage))
except LedgerUnwritableError as error:
    print(error)
"""
    command = [sys.executable, "-c", program, str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "File too large" in said
    assert read_generation(tmp_path) == 1
    assert files_of(tmp_path) == named_files(tmp_path)


def test_the_first_commit_to_an_older_ledger_brings_every_file_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = pa.table({"entity_type": ["sessions"], "entity_id": ["a"], "label": ["t"], "added_at": [7]})
    pq.write_table(old, tmp_path / "old.parquet")
    manifest = {"version": 1, "schema_version": 1, "tables": {"tags": [{"path": "old.parquet", "rows": 1}]}}
    manifest_path(tmp_path, 1).parent.mkdir()
    manifest_path(tmp_path, 1).write_text(json.dumps(manifest))
    renamed = TableChange(added={"tag": "label"}, dropped=("label",))
    monkeypatch.setattr(
        migrations, "MIGRATIONS", (migrations.Migration(version=2, reason="a test", tables={"tags": renamed}),)
    )
    assert commit(tmp_path, lambda base, _: base).version == 1, "nothing changed, nothing is written"
    assert files_of(tmp_path) == {"old.parquet", "versions/0000000001.json"}
    version = commit(tmp_path, add_tag("b"))
    assert version.schema_version == SCHEMA_VERSION
    tables = [pq.read_table(tmp_path / segment.path) for segment in version.tables["tags"]]
    assert all(table.schema.equals(arrow_schema(TAGS)) for table in tables)
    assert [row["entity_id"] for table in tables for row in table.to_pylist()] == ["a", "b"]
    assert tables[0].to_pylist()[0]["tag"] == "t"


def test_a_failed_write_never_reaches_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The encoder lives on in the error, and writes its end when it is collected."""
    commit(tmp_path / "ledger", next_generation)

    writes = iter([os.write, os.write])

    def soon_full(descriptor: int, data: memoryview) -> int:
        for real_write in writes:
            return real_write(descriptor, data)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(durable, "write", soon_full)
    with pytest.raises(LedgerUnwritableError) as caught:
        commit(tmp_path / "ledger", next_generation)
    monkeypatch.undo()
    others = [(tmp_path / str(number)).open("wb") for number in range(20)]
    del caught
    gc.collect()
    for other in others:
        other.close()
    assert [(tmp_path / str(number)).stat().st_size for number in range(20)] == [0] * 20


def test_a_link_whose_answer_was_lost_is_a_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link_and_lose_the_answer(part: Path, final: Path) -> None:
        os.link(part, final)
        raise FileExistsError

    monkeypatch.setattr(durable, "link", link_and_lose_the_answer)
    assert commit(tmp_path, next_generation).version == 1 == read_generation(tmp_path)


def test_versions_that_cannot_be_listed_stop_a_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(tmp_path, next_generation)

    def refuse(_: Path) -> Iterator[Path]:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(LedgerDamagedError, match="Permission denied"):
        commit(tmp_path, next_generation)


def test_an_unchanged_commit_makes_the_version_it_answers_with_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(tmp_path, next_generation)
    synced: list[Path] = []
    monkeypatch.setattr(durable, "fsync", lambda number: synced.append(Path(f"/proc/self/fd/{number}").readlink()))
    commit(tmp_path, lambda base, _: base)
    assert synced == [tmp_path / "versions"]


def test_files_that_cannot_be_removed_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(Path, "unlink", refuse)
    assert commit(tmp_path, next_generation).version == 1
    monkeypatch.setattr(durable, "write", refuse)
    with pytest.raises(LedgerUnwritableError, match="Input/output error"):
        commit(tmp_path, next_generation)
    assert read_generation(tmp_path) == 1


def test_only_what_the_version_names_stays(tmp_path: Path) -> None:
    def wasteful(base: Manifest, stage: Stage) -> Manifest:
        add_tag("never named")(base, stage)
        return add_tag("named")(base, stage)

    commit(tmp_path, wasteful)
    assert files_of(tmp_path) == named_files(tmp_path)


def test_a_file_of_another_attempt_is_not_named(tmp_path: Path) -> None:
    commit(tmp_path, next_generation)
    foreign = Segment(path="data/gone.parquet", rows=1)
    with pytest.raises(ValueError, match=r"gone\.parquet"):
        commit(tmp_path, lambda base, _: with_tables(base, {**base.tables, "tags": [foreign]}))
    assert read_generation(tmp_path) == 1


def test_an_empty_entry_of_a_table_is_no_change(tmp_path: Path) -> None:
    write_ledger(tmp_path, {})
    manifest = {"version": 1, "schema_version": SCHEMA_VERSION, "tables": {"tags": []}}
    manifest_path(tmp_path, 1).write_text(json.dumps(manifest))
    assert commit(tmp_path, lambda base, _: base).version == 1


def test_a_file_system_that_cannot_sync_folders_is_good_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def sync(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr(durable, "fsync", sync)
    assert commit(tmp_path, next_generation).version == 1
