"""One DuckDB for everything that is asked in a block."""

from pathlib import Path

import duckdb
import pytest

from aix.store import engine as engines
from aix.store.engine import engine, one_engine


def test_nothing_is_opened_when_nothing_is_asked(tmp_path: Path) -> None:
    with one_engine(tmp_path):
        assert [shared.database for shared in engines._shared.values()] == [None]
    assert not engines._shared
    assert not list(tmp_path.iterdir()), "there is no staging folder"


def test_questions_of_a_block_share_a_database_and_no_tables(tmp_path: Path) -> None:
    with one_engine(tmp_path):
        with engine(tmp_path) as connection:
            connection.execute("create table t as select 1")
            opened = engines._shared[tmp_path].database
        with engine(tmp_path) as connection:
            assert engines._shared[tmp_path].database is opened
            assert connection.execute("show tables").fetchall() == []
    assert not engines._shared


def test_a_database_that_cannot_be_opened_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with one_engine(tmp_path):
        with monkeypatch.context() as patch:
            patch.setattr(engines, "_MEMORY_LIMIT", "nothing")
            with pytest.raises(duckdb.Error, match="Memory"), engine(tmp_path):
                pass
        with engine(tmp_path) as connection:
            assert connection.execute("select 1").fetchall() == [(1,)]
    assert not engines._shared


def test_the_outermost_block_decides_whether_the_ledger_is_left_alone(tmp_path: Path) -> None:
    with one_engine(tmp_path, is_reader=True), engine(tmp_path):
        assert not list(tmp_path.iterdir())
    with one_engine(tmp_path), engine(tmp_path, is_reader=True):
        assert list(tmp_path.iterdir())
