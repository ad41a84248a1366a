"""Ledgers whose SQL sees texts only after a function has changed them, limits of time, and bounded parts of results."""

from collections.abc import Iterator
from threading import Timer
from time import monotonic

import pytest

from aix.errors import SqlError, TimeLimitError
from aix.reading.ledger import Ledger, open_ledger
from aix.reading.time_limit import TimeLimit
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger

ENDLESS = "select count(*) from range(10_000_000) a, range(10_000_000) b where a.range + b.range = 3"


def hide(text: str) -> str:
    return "hidden" if text else ""


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    folder = tmp_path_factory.mktemp("sample") / "ledger"
    write_ledger(folder, SAMPLE_ROWS)
    with open_ledger(folder) as opened:
        yield opened


def test_every_way_to_the_rows_gives_hidden_texts(ledger: Ledger) -> None:
    with ledger.hiding(hide) as hidden:
        contents = {"hidden", "", None}
        assert {content for (content,) in hidden.sql("select content from messages")} <= contents
        assert set(hidden.messages("s-1").polars()["content"].to_list()) <= contents
        assert set(hidden.at(1).sql("select content from messages").arrow()["content"].to_pylist()) <= contents
        assert set(hidden.under().sql("select content from messages").polars()["content"].to_list()) <= contents
        assert set(hidden.table("messages").collect()["content"].to_list()) <= contents
        titles = {title for (title,) in hidden.sql("select title from v_session_titles")}
        assert titles <= contents
        hidden.under().close()


def test_ids_words_and_figures_stay(ledger: Ledger) -> None:
    query = "select id, turn_id, role, sequence, created_at from messages order by id"
    with ledger.hiding(hide) as hidden:
        assert hidden.sql(query).rows() == ledger.sql(query).rows()
        assert hidden.turns("s-1").polars()["id"].to_list() == ledger.turns("s-1").polars()["id"].to_list()


def test_vectors_are_left_out(ledger: Ledger) -> None:
    with ledger.hiding(str) as hidden:
        assert {vector for (vector,) in hidden.sql("select vec from embeddings")} <= {None}


def test_the_ledger_itself_is_not_changed(ledger: Ledger) -> None:
    with ledger.hiding(hide):
        assert ("Done.",) in ledger.sql("select content from messages").rows()
    [path, *_] = ledger.path.glob("data/messages/*.parquet")
    assert ledger.sql(f"select count(*) from '{path}'").rows() == [(9,)]
    stem = str(path.with_suffix(""))
    forms = [f"'{path}'", f'"{stem}".parquet', f'"{path.parent}"."{path.name}"', f'main."{path}"', f'"{stem}".PARQUET']
    with ledger.hiding(str) as hidden:
        for form in forms:
            with pytest.raises(SqlError, match="no file is read here"):
                hidden.sql(f"select count(*) from {form}")
            with pytest.raises(SqlError, match="no file is read here"):
                hidden.sql(f"with a as (select 1), b as (from {form}) select (select count(*) from b) from a")
        assert hidden.sql("with a as (select 1 as n) select n from main.turns, a limit 1").rows() == [(1,)]


def test_a_statement_is_stopped_when_its_time_is_over(ledger: Ledger) -> None:
    began = monotonic()
    with TimeLimit(0.2), pytest.raises(TimeLimitError, match=r"it was stopped after 0\.2 s"):
        ledger.sql(ENDLESS).rows()
    assert monotonic() - began < 20
    assert ledger.sql("select 1").rows() == [(1,)]


def test_another_thread_can_end_the_time(ledger: Ledger) -> None:
    with TimeLimit(600) as limit:
        timer = Timer(0.1, limit.stop)
        timer.start()
        with pytest.raises(TimeLimitError):
            ledger.sql(ENDLESS).rows()
        timer.join()


def test_time_that_was_ended_before_a_block_stays_over(ledger: Ledger) -> None:
    limit = TimeLimit(600)
    limit.stop()
    with limit, pytest.raises(TimeLimitError):
        ledger.sql("select 1").rows()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("12", 12),
        ("true", True),
        ("1.5::double", 1.5),
        ("'abcdefgh'", "abcde"),
        ("'abc'", "abc"),
        ("[1, 2, 3]", "[1,2,"),
        ("{'a': 'b'}", '{"a":'),
        ("map {'a': 1}", '{"a":'),
        ("'abc'::blob", "abc"),
        ("date '2026-11-01'", "2026-"),
        ("null", None),
        ("range(1_000_000)", "[0,1,"),
    ],
)
def test_a_bounded_part_has_numbers_and_short_texts(ledger: Ledger, value: str, shown: object) -> None:
    assert ledger.sql(f"select {value} as x").part(0, 1, 5).rows() == [(shown,)]


def test_a_plan_is_not_divided(ledger: Ledger) -> None:
    plan = ledger.sql("explain select 1")
    assert plan.part(0, 1, 5).rows() == plan.rows()
