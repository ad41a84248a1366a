"""`ledger.duckdb` shows one whole version to any DuckDB client, and nothing depends on it."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pytest

import aix
from aix.derived import catalog
from aix.derived.catalog import CATALOG, CATALOG_NOTE, refresh_catalog, write_catalog
from aix.query.views import create_library_views, library_views
from aix.schema import TABLES
from aix.store.engine import engine
from aix.store.manifest import manifest_path, read_latest, read_manifest
from tests.support.changes import commit
from tests.support.numbered_ledgers import next_generation, read_generation, rows_of
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger

pytestmark = pytest.mark.long

COUNT = {name: f'select count(*) from "{name}"' for name in TABLES}
GENERATIONS = """
    select tag, count(*) from tags group by tag
    union all select name, count(*) from chat_users group by name
    union all select program_type, count(*) from programs group by program_type
"""


def catalog_rows(ledger: Path, sql: str) -> list[tuple[object, ...]]:
    with duckdb.connect(str(ledger / CATALOG), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def catalog_generation(ledger: Path) -> int:
    """The generation that the catalog shows, having made sure that every table is of it."""
    [(generation, rows)] = set(catalog_rows(ledger, GENERATIONS))
    assert rows == len(rows_of(int(str(generation)))["tags"])
    return int(str(generation))


def writer(ledger: Path, commits: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.support.numbered_ledgers", str(ledger), str(commits)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_a_plain_client_sees_every_table(tmp_path: Path) -> None:
    write_ledger(tmp_path, SAMPLE_ROWS)
    refresh_catalog(tmp_path)
    for name in TABLES:
        assert catalog_rows(tmp_path, COUNT[name]) == [(len(SAMPLE_ROWS.get(name, [])),)]


def test_it_is_whole_though_the_same_duckdb_is_asked_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB does not write the log of a file that is detached into it while a transaction knows the file."""
    write_ledger(tmp_path, SAMPLE_ROWS)
    with engine(tmp_path) as other:

        def create_while_asked(*args: Any, **options: Any) -> None:  # noqa: ANN401 - whatever it is called with
            create_library_views(*args, **options)
            with suppress(duckdb.Error):
                other.execute("begin")
            other.execute("select table_name from information_schema.tables").fetchall()

        monkeypatch.setattr(catalog, "create_library_views", create_while_asked)
        write_catalog(tmp_path, read_latest(tmp_path))
        other.execute("rollback")
    for name in TABLES:
        assert catalog_rows(tmp_path, COUNT[name]) == [(len(SAMPLE_ROWS.get(name, [])),)]


@pytest.fixture(scope="module")
def older_duckdb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with another release of DuckDB than the one that writes."""
    folder = tmp_path_factory.mktemp("duckdb")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--target", str(folder), "duckdb==1.5.*"], check=True, capture_output=True)
    return folder


def test_duckdb_1_5_opens_it(tmp_path: Path, older_duckdb: Path) -> None:
    write_ledger(tmp_path, SAMPLE_ROWS)
    refresh_catalog(tmp_path)
    program = """
import duckdb, sys
connection = duckdb.connect(sys.argv[1], read_only=True)
print(duckdb.__version__, *connection.execute("select count(*) from turns").fetchone())
print(*[name for name, in connection.execute("select view_name from duckdb_views() where not internal").fetchall()])
"""
    command = [sys.executable, "-c", program, str(tmp_path / CATALOG)]
    said = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": str(older_duckdb)}, capture_output=True, text=True, check=True
    ).stdout
    first, views = said.splitlines()
    assert first.startswith("1.5.")
    assert first.endswith(f" {len(SAMPLE_ROWS['turns'])}")
    assert set(views.split()) == {*TABLES, *library_views()}


def test_a_reader_that_opens_it_all_the_time_sees_whole_versions(tmp_path: Path) -> None:
    commit(tmp_path, next_generation)
    writers = [writer(tmp_path, 30), writer(tmp_path, 30)]
    seen = []
    while any(process.poll() is None for process in writers):
        seen.append(catalog_generation(tmp_path))
        time.sleep(0.02)
    for process in writers:
        process.communicate()
        assert process.returncode == 0
    assert len(set(seen)) > 10
    assert read_latest(tmp_path).version == 61
    assert catalog_generation(tmp_path) == 61, "of two writers, the slower one left an older catalog"


def test_whoever_has_it_open_keeps_the_version(tmp_path: Path) -> None:
    commit(tmp_path, next_generation)
    with duckdb.connect(str(tmp_path / CATALOG), read_only=True) as connection:
        before = connection.execute(GENERATIONS).fetchall()
        commit(tmp_path, next_generation)
        assert connection.execute(GENERATIONS).fetchall() == before
    assert catalog_generation(tmp_path) == 2


def test_a_killed_writer_leaves_a_catalog_that_opens(tmp_path: Path) -> None:
    for kill in range(6):
        process = writer(tmp_path, 1000)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.03 * kill)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert catalog_generation(tmp_path) <= read_generation(tmp_path)
        aix.open(tmp_path)
        assert catalog_generation(tmp_path) == read_generation(tmp_path)


@pytest.mark.parametrize("umask", [0, 0o277])
def test_it_is_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    write_ledger(tmp_path, {})
    previous = os.umask(umask)
    try:
        refresh_catalog(tmp_path)
    finally:
        os.umask(previous)
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in (CATALOG, CATALOG_NOTE)} == {0o600}
    assert {path.name for path in tmp_path.iterdir()} == {"versions", CATALOG, CATALOG_NOTE}


@pytest.mark.parametrize("name", ["it's", 'a"b', "we[i]rd", "any*", "one?", "id=1", "näve 日本"])
def test_a_moved_folder_is_found_again(tmp_path: Path, name: str) -> None:
    write_ledger(tmp_path / "ledger", SAMPLE_ROWS)
    refresh_catalog(tmp_path / "ledger")
    moved = (tmp_path / "ledger").rename(tmp_path / name)
    aix.open(moved)
    assert catalog_rows(moved, COUNT["turns"]) == [(len(SAMPLE_ROWS["turns"]),)]


def test_the_views_name_files_by_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_ledger(Path("ledger"), SAMPLE_ROWS)
    aix.open("ledger")
    monkeypatch.chdir("/")
    assert catalog_rows(tmp_path / "ledger", COUNT["turns"]) == [(len(SAMPLE_ROWS["turns"]),)]


def test_what_is_current_is_left_alone_without_duckdb(tmp_path: Path) -> None:
    write_ledger(tmp_path, SAMPLE_ROWS)
    refresh_catalog(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path)
    written = (tmp_path / CATALOG).stat()
    program = "import sys, aix; aix.open(sys.argv[1]); print('duckdb' in sys.modules)"
    for folder in (tmp_path, tmp_path / "link"):
        command = [sys.executable, "-c", program, str(folder)]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"
    assert (tmp_path / CATALOG).stat() == written


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"version":1}', None])
def test_a_note_that_says_nothing_is_no_hindrance(tmp_path: Path, damage: bytes | None) -> None:
    write_ledger(tmp_path, SAMPLE_ROWS)
    refresh_catalog(tmp_path)
    (tmp_path / CATALOG).write_bytes(b"")
    if damage is None:
        (tmp_path / CATALOG_NOTE).unlink()
    else:
        (tmp_path / CATALOG_NOTE).write_bytes(damage)
    refresh_catalog(tmp_path)
    assert catalog_rows(tmp_path, COUNT["turns"]) == [(len(SAMPLE_ROWS["turns"]),)]


def test_a_catalog_of_another_version_than_its_note_says_is_replaced(tmp_path: Path) -> None:
    for _ in range(2):
        commit(tmp_path, next_generation)
    note = (tmp_path / CATALOG_NOTE).read_bytes()
    write_catalog(tmp_path, read_manifest(manifest_path(tmp_path, 1)))
    (tmp_path / CATALOG_NOTE).write_bytes(note)
    assert catalog_generation(tmp_path) == 1
    refresh_catalog(tmp_path)
    assert catalog_generation(tmp_path) == 2


def test_a_catalog_with_the_views_of_another_release_is_replaced(tmp_path: Path) -> None:
    commit(tmp_path, next_generation)
    note = json.loads((tmp_path / CATALOG_NOTE).read_bytes())
    (tmp_path / CATALOG_NOTE).write_text(json.dumps(note | {"views": "of old"}))
    written = (tmp_path / CATALOG).stat().st_ino
    aix.open(tmp_path)
    assert (tmp_path / CATALOG).stat().st_ino != written
    assert json.loads((tmp_path / CATALOG_NOTE).read_bytes())["views"] == note["views"]


def test_a_deleted_catalog_comes_back(tmp_path: Path) -> None:
    commit(tmp_path, next_generation)
    (tmp_path / CATALOG).unlink()
    aix.open(tmp_path)
    assert catalog_generation(tmp_path) == 1


def test_what_a_client_wrote_into_it_is_gone_with_the_next_version(tmp_path: Path) -> None:
    commit(tmp_path, next_generation)
    program = """
import duckdb, os, sys
connection = duckdb.connect(sys.argv[1])
connection.execute("create table mine (a int)")
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path / CATALOG)], check=True)
    assert (tmp_path / f"{CATALOG}.wal").exists()
    commit(tmp_path, next_generation)
    assert catalog_generation(tmp_path) == 2


def test_what_killed_writers_left_does_no_harm(tmp_path: Path) -> None:
    commit(tmp_path, next_generation)
    for name in (".0.part", ".0.part.wal"):
        (tmp_path / name).write_bytes(b"half")
    commit(tmp_path, next_generation)
    assert catalog_generation(tmp_path) == 2
    assert aix.open(tmp_path).sql("select count(*) from tags").rows() == [(len(rows_of(2)["tags"]),)]


def test_commits_and_readers_go_on_where_it_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "ledger" / CATALOG / "in the way").mkdir(parents=True)
    assert commit(tmp_path / "ledger", next_generation).version == 1
    assert aix.open(tmp_path / "ledger").sql("select count(*) from tags").rows() == [(len(rows_of(1)["tags"]),)]
    assert not list((tmp_path / "ledger").glob(".*.part*"))


def test_a_damaged_version_does_not_stop_the_commit_that_mends_it(tmp_path: Path) -> None:
    version = commit(tmp_path, next_generation)
    shutil.copy("/dev/null", tmp_path / version.tables["tags"][0].path)
    assert commit(tmp_path, next_generation).version == 2
    assert catalog_generation(tmp_path) == 2


def test_a_commit_is_made_where_there_is_no_room_for_a_catalog(tmp_path: Path) -> None:
    program = (
        "import resource, sys; from pathlib import Path; from tests.support.numbered_ledgers import next_generation;"
        "from tests.support.changes import commit; resource.setrlimit(resource.RLIMIT_FSIZE, (2**17, 2**17));"
        "print(commit(Path(sys.argv[1]), next_generation).version)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "ledger")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "1\n"
    assert not (tmp_path / "ledger" / CATALOG).exists()
    refresh_catalog(tmp_path / "ledger")
    assert (tmp_path / "ledger" / CATALOG).exists()
