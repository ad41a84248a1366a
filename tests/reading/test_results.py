"""A result in every common form: the same rows, with a value for each type."""

import datetime
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from aix.errors import (
    MissingLibraryError,
    SqlError,
)
from aix.reading.ledger import Ledger
from aix.schema import TABLES
from tests.store.test_ledgers_of_all_versions import open_views
from tests.support.sample_ledger import write_ledger


@pytest.fixture(scope="module")
def views(sample: Ledger) -> Iterator[duckdb.DuckDBPyConnection]:
    with open_views(sample.path) as connection:
        yield connection


@pytest.mark.parametrize("name", TABLES)
def test_every_form_of_a_result_holds_the_same_rows(
    sample: Ledger, views: duckdb.DuckDBPyConnection, name: str
) -> None:
    result = sample.sql(f'select * from "{name}"')
    expected = views.table(name).fetchall()
    assert result.columns == TABLES[name].column_names
    assert result.types == tuple(str(column.type) for column in TABLES[name])
    assert result.rows() == list(result) == expected
    assert [tuple(row.values()) for row in result.arrow().to_pylist()] == expected
    assert result.polars().rows() == expected
    frame = result.pandas()
    cells = frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None)
    assert [tuple(list(cell) if hasattr(cell, "tolist") else cell for cell in row) for row in cells] == expected


def test_a_statement_of_aix_gives_the_same_rows_and_columns_as_one_of_a_user(sample: Ledger) -> None:
    query = "select id, started_at from turns -- of 'sessions'\nwhere started_at > $least order by id"
    own, users = sample.own_sql(query, {"least": 2_000}), sample.sql(query, {"least": 2_000})
    assert own.rows() == list(own) == users.rows() != []
    assert own.dicts() == users.dicts()
    assert (own.columns, own.types) == (users.columns, users.types)
    assert own.part(1, 1).rows() == users.part(1, 1).rows()
    with pytest.raises(SqlError, match="nowhere"):
        sample.own_sql("from nowhere").rows()


def test_parameters_are_bound_by_place_or_name(sample: Ledger) -> None:
    query = "select count(*) from turns where started_at between $1 and $2"
    assert sample.sql(query, [2_000, 2_500]).rows() == [(3,)]
    assert sample.sql("select $low as low, $text as text", {"low": 1, "text": "'; drop"}).rows() == [(1, "'; drop")]
    assert sample.sql("select $1 as n", [2**62]).polars().rows() == [(2**62,)]
    assert sample.sql("select ? as n", [None]).arrow().to_pylist() == [{"n": None}]
    with pytest.raises(SqlError, match="not provided"):
        sample.sql("select $1")


def test_several_results_are_read_at_once_and_more_than_once(sample: Ledger) -> None:
    one, other = sample.sql("select * from range(5_000) order by 1"), sample.sql("select * from range(5_000)")
    pairs = zip(one, other, strict=True)
    assert next(pairs) == ((0,), (0,))
    assert len(list(pairs)) == 4_999
    assert one.rows() == one.polars().rows()
    threads = [threading.Thread(target=one.rows) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.long
@pytest.mark.parametrize("form", ["rows", "arrow"])
@pytest.mark.parametrize("parameters", [None, [400_000]])
def test_a_result_larger_than_memory_streams(tmp_path: Path, form: str, parameters: list[int] | None) -> None:
    write_ledger(tmp_path, {})
    program = f"""
import resource, sys
import pyarrow, aix
count = {"'$1'" if parameters else "400_000"}
result = aix.open(sys.argv[1]).sql(f"select repeat('x', 2_000) || i as text from range({{count}}) t(i)", {parameters})
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
if {form!r} == "rows":
    rows = sum(1 for _ in result)
else:
    with result.arrow_reader() as reader:
        rows = sum(batch.num_rows for batch in reader)
print(rows, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    command = [sys.executable, "-c", program, str(tmp_path)]
    rows, grown_mb = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert int(rows) == 400_000
    assert int(grown_mb) < 300, "the result is 800 MB"


def test_an_order_is_kept_on_the_way_out(sample: Ledger) -> None:
    result = sample.sql("select i, cast(i as utinyint) as small from range(250) t(i) order by hash(i)")
    rows = result.rows()
    assert rows != sorted(rows)
    assert result.polars().rows() == rows == sample.sql("from range(250) t(i) select i, i order by hash(i)").rows()


def test_columns_of_one_name_get_names_of_their_own(sample: Ledger) -> None:
    result = sample.sql("select 1 as a, 2 as a, 3 as A")
    assert len({name.lower() for name in result.columns}) == 3
    assert result.rows() == result.polars().rows() == [(1, 2, 3)]


def test_pandas_is_asked_for_when_it_is_missing(sample: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingLibraryError) as caught:
        sample.sql("select 1").pandas()
    assert "pip install pandas" in caught.value.remedy


def test_pandas_keeps_whole_numbers_beside_null(sample: Ledger) -> None:
    frame = sample.sql("values (9007199254740993, true), (null, null)").pandas()
    assert frame.iloc[0, 0] == 9_007_199_254_740_993
    assert frame.isna().to_numpy().tolist() == [[False, False], [True, True]]


def test_what_pandas_cannot_hold_is_said(sample: Ledger) -> None:
    with pytest.raises(SqlError, match="pandas cannot hold"):
        sample.sql("select date 'infinity'").pandas()


UUID = "00000000-0000-0000-0000-00000000000a"


# What each type becomes: as a Python value, and as a polars value where that is another one.
NATIVE: list[tuple[str, object, object]] = [
    ("true", True, True),
    ("127::tinyint", 127, 127),
    ("255::utinyint", 255, 255),
    ("18446744073709551615::ubigint", 2**64 - 1, 2**64 - 1),
    ("sum(1)", 1, 1),
    ("('1' || repeat('0', 37))::hugeint", 10**37, 10**37),
    ("0.5::float", 0.5, 0.5),
    ("1e300", 1e300, 1e300),
    ("json('[1]')", "[1]", "[1]"),
    ("null", None, None),
    ("date '2026-02-05'", "2026-02-05", datetime.date(2026, 2, 5)),
    ("date 'infinity'", "infinity", ...),
    ("time '12:30:00'", "12:30:00", datetime.time(12, 30)),
    ("time '24:00:00'", "24:00:00", ...),
    ("timetz '12:30:00+02'", "12:30:00+02", "12:30:00+02"),
    ("timestamp '2026-02-05 12:00:00'", "2026-02-05 12:00:00", datetime.datetime(2026, 2, 5, 12)),
    ("timestamp_s '2026-02-05 12:00:00'", "2026-02-05 12:00:00", datetime.datetime(2026, 2, 5, 12)),
    ("timestamp_ns '2026-02-05 12:00:00'", "2026-02-05 12:00:00", datetime.datetime(2026, 2, 5, 12)),
    ("timestamp 'infinity'", "infinity", ...),
    ("timestamptz '2026-02-05 12:00:00+02'", "2026-02-05 10:00:00+00", ...),
    ("interval 90 minutes", "01:30:00", "01:30:00"),
    ("'\\x00a'::blob", b"\x00a", b"\x00a"),
    ("'0101'::bit", "0101", "0101"),
    ("'a'::enum('a', 'b''c')", "a", "a"),
    (f"uuid '{UUID}'", UUID, UUID),
    ("[1, null]", [1, None], [1, None]),
    ("[1, 2]::integer[2]", [1, 2], [1, 2]),
    ("[date '2026-02-05']", ["2026-02-05"], [datetime.date(2026, 2, 5)]),
    ("{'a': 1, 'b \"c': [interval 1 day]}", {"a": 1, 'b "c': ["1 day"]}, {"a": 1, 'b "c': ["1 day"]}),
    ("row(1, 'x')", "(1, x)", "(1, x)"),
    ("map {'k': 1}", {"k": 1}, ...),
    ("map {[1]: 1}", {"key": [[1]], "value": [1]}, ...),
    ("union_value(n := 1)", "1", "1"),
]


@pytest.mark.parametrize(("expression", "value", "in_polars"), NATIVE, ids=[expression for expression, *_ in NATIVE])
def test_every_type_has_a_value_outside(sample: Ledger, expression: str, value: object, in_polars: object) -> None:
    result = sample.sql(f"select {expression} as x")
    assert result.rows() == [(value,)]
    frame = result.polars()
    assert frame.shape == (1, 1)
    if in_polars is not ...:  # what polars itself cannot turn into a Python value, or does so in its own way
        assert frame.rows() == [(in_polars,)]
