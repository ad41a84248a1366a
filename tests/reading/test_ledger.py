"""A ledger as a Python object: one version, opened wherever its folder is."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

import aix
from aix.errors import (
    LedgerDamagedError,
    LedgerNotFoundError,
    UnknownNameError,
    UnknownVersionError,
)
from aix.reading.ledger import Ledger
from aix.schema import SCHEMA_VERSION, TABLES
from aix.schema.arrow import arrow_schema
from tests.store.test_ledgers_of_all_versions import FIXTURES, VERSIONS, open_views
from tests.support.changes import commit
from tests.support.numbered_ledgers import next_generation, rows_of
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    folder = tmp_path_factory.mktemp("empty")
    write_ledger(folder, {})
    return aix.open(folder)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_a_lazy_frame_with_the_types_of_the_schema(sample: Ledger, empty: Ledger, name: str) -> None:
    frame = sample.table(name)
    assert isinstance(frame, pl.LazyFrame)
    assert frame.collect().rows() == sample.sql(f'select * from "{name}"').rows()
    nothing = empty.table(name).collect()
    assert nothing.height == 0
    assert nothing.schema == frame.collect().schema == pl.DataFrame(arrow_schema(TABLES[name]).empty_table()).schema


@pytest.mark.parametrize("version", VERSIONS)
def test_a_ledger_of_any_schema_version_reads_as_one_of_today(tmp_path: Path, version: int) -> None:
    shutil.copytree(FIXTURES / f"schema_{version}", tmp_path / "ledger")
    with aix.open(tmp_path / "ledger") as ledger, open_views(tmp_path / "ledger") as connection:
        for name in ("turns", "turn_context", "message_facts", "session_turns"):
            expected = connection.table(name).fetchall()
            assert ledger.sql(f"from {name}").rows() == expected, name
            frame = ledger.table(name).collect()
            assert frame.rows() == expected, name
            assert frame.schema == pl.DataFrame(arrow_schema(TABLES[name]).empty_table()).schema, name


def test_the_fixtures_cover_every_schema_version() -> None:
    assert {path.name for path in FIXTURES.iterdir()} == {f"schema_{version}" for version in VERSIONS}
    assert max(VERSIONS) == SCHEMA_VERSION


@pytest.mark.parametrize("name", ["it's", 'a"b', "we[i]rd", "any*", "one?", "id=1", "näve 日本", "semi;colon"])
def test_a_folder_of_any_name_is_read(tmp_path: Path, name: str) -> None:
    write_ledger(tmp_path / name, SAMPLE_ROWS)
    ledger = aix.open(tmp_path / name)
    rows = ledger.sql("from turns").rows()
    assert len(rows) == len(SAMPLE_ROWS["turns"])
    assert ledger.table("turns").collect().rows() == rows


def test_a_ledger_behind_a_link_is_read(tmp_path: Path) -> None:
    write_ledger(tmp_path / "ledger", SAMPLE_ROWS)
    (tmp_path / "link").symlink_to(tmp_path / "ledger")
    assert len(aix.open(tmp_path / "link").sql("from turns").rows()) == len(SAMPLE_ROWS["turns"])
    (tmp_path / "ledger" / "data").rename(tmp_path / "elsewhere")
    (tmp_path / "ledger" / "data").symlink_to(tmp_path / "elsewhere")
    assert len(aix.open(tmp_path / "ledger").sql("from turns").rows()) == len(SAMPLE_ROWS["turns"])


def test_a_path_that_duckdb_cannot_open_is_named(tmp_path: Path) -> None:
    write_ledger(tmp_path / "ledger", SAMPLE_ROWS)
    folder = (tmp_path / "ledger").rename(os.fsdecode(bytes(tmp_path) + b"/\xff"))
    with pytest.raises(LedgerDamagedError, match="not UTF-8"):
        aix.open(folder).sql("from turns")


def test_without_a_path_the_configured_ledger_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_ledger(tmp_path / "mine", SAMPLE_ROWS)
    monkeypatch.setenv("AIX_LEDGER", str(tmp_path / "mine"))
    assert aix.open().path == tmp_path / "mine"
    monkeypatch.setenv("AIX_LEDGER", str(tmp_path / "nowhere"))
    with pytest.raises(LedgerNotFoundError):
        aix.open()


def test_a_reader_keeps_its_version(tmp_path: Path) -> None:
    commit(tmp_path, next_generation)
    with aix.open(tmp_path) as ledger:
        rows = iter(ledger.sql("select tag from tags, range(200_000)"))
        lazy = ledger.table("tags")
        assert next(rows) == ("1",)
        for _ in range(3):
            commit(tmp_path, next_generation)
        assert set(rows) == {("1",)}
        assert ledger.sql("select distinct name from chat_users").rows() == [("1",)]
        assert set(lazy.collect()["tag"]) == {"1"}
        assert ledger.version == 1
    assert aix.open(tmp_path).version == 4


def test_every_version_can_be_asked(tmp_path: Path) -> None:
    for _ in range(3):
        commit(tmp_path, next_generation)
    ledger = aix.open(tmp_path)
    assert ledger.versions() == (1, 2, 3)
    for version in ledger.versions():
        then = ledger.at(version)
        assert then.version == version
        assert then.sql("select distinct tag from tags").rows() == [(str(version),)]
        assert then.table("programs").collect().height == len(rows_of(version)["programs"])


def test_a_version_that_is_not_there_is_answered_with_those_that_are(tmp_path: Path) -> None:
    for _ in range(5):
        commit(tmp_path, next_generation)
    (tmp_path / "versions" / "0000000002.json").unlink()
    with pytest.raises(UnknownVersionError) as caught:
        aix.open(tmp_path).at(2)
    assert str(caught.value) == "the ledger has no version 2"
    assert caught.value.remedy == "the versions are: 1, 3 to 5"


def test_an_unknown_table_is_answered_with_the_nearest(sample: Ledger) -> None:
    with pytest.raises(UnknownNameError) as caught:
        sample.table("turn")
    assert "turns" in caught.value.remedy


def test_a_file_that_goes_missing_is_named(tmp_path: Path) -> None:
    write_ledger(tmp_path, SAMPLE_ROWS)
    ledger = aix.open(tmp_path)
    ledger.sql("from turns")
    shutil.rmtree(tmp_path / "data" / "turns")
    with pytest.raises(LedgerDamagedError, match=r"turns/part-1\.parquet"):
        ledger.sql("from turns").rows()
    with pytest.raises(LedgerDamagedError, match="table turns"):
        aix.open(tmp_path).sql("select 1")


@pytest.mark.long
def test_several_threads_ask_one_ledger_at_once(sample: Ledger) -> None:
    asked = [f'from "{name}"' for name in ("v_turn_owner", *TABLES)] * 2

    def rows_of(ledger: Ledger, sql: str) -> list[tuple[object, ...]]:
        return sorted(ledger.sql(sql).rows(), key=repr)

    expected = [rows_of(sample, sql) for sql in asked]
    with aix.open(sample.path) as shared, ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda sql: rows_of(shared, sql), asked)) == expected


def test_a_query_is_asked_by_its_name_or_itself(sample: Ledger) -> None:
    [query] = [query for query in aix.queries() if query.name == "overview/table_rows"]
    assert sample.query(query).rows() == sample.query(query.name).rows() != []


@pytest.mark.long
def test_large_sorts_spill_into_a_private_folder_that_goes_with_the_connection(sample: Ledger, tmp_path: Path) -> None:
    program = """
import os, stat, sys, tempfile
tempfile.tempdir = sys.argv[2]
import aix
ledger = aix.open(sys.argv[1])
[(folder,)] = ledger.sql("select current_setting('temp_directory')").rows()
print(oct(stat.S_IMODE(os.stat(folder).st_mode)), os.path.dirname(folder) == sys.argv[2])
"""
    command = [sys.executable, "-c", program, str(sample.path), str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    assert said == "0o700 True\n"
    assert list(tmp_path.iterdir()) == []
