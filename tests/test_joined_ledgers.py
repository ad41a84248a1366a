"""A ledger that rows were joined into and forgotten from: private, consistent, and readable while it changes."""

import os
from pathlib import Path

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest

import aix
from aix.health import check
from aix.ledger.collection import collect
from aix.ledger.manifest import read_latest
from aix.ledger.raw import keep_raw
from aix.ledger.removal import forget
from aix.ledger.selection import Selection
from aix.ledger.tidying import merge_groups
from aix.schema import TABLES
from tests.deliveries import as_text, deliver, dump
from tests.growing_ledger import rows_of_step
from tests.sample_ledger import MAIN, SAMPLE_ROWS

pytestmark = pytest.mark.long


def grow(ledger: Path, steps: int) -> None:
    for step in range(steps):
        deliver(ledger, rows_of_step(step, 0), rows_of_step(step, 1))


def broken(ledger: Path) -> list[str]:
    """The hard checks that fail, but for the form of ids: those of these tests are short."""
    return [finding.name for finding in check(ledger) if finding.status == "alarm" and finding.name != "ulid_form"]


def test_what_was_joined_and_forgotten_keeps_every_invariant(tmp_path: Path) -> None:
    grow(tmp_path, 7)
    deliver(tmp_path, SAMPLE_ROWS)
    assert broken(tmp_path) == []
    forget(tmp_path, Selection(labels=[MAIN, "fork-2", "long-1"]))
    assert broken(tmp_path) == []
    merge_groups(tmp_path)
    assert broken(tmp_path) == []


def test_plain_readers_see_what_the_views_show_after_forgetting(tmp_path: Path) -> None:
    grow(tmp_path, 6)
    deliver(tmp_path, SAMPLE_ROWS)
    forget(tmp_path, Selection(labels=["long-0", MAIN]))
    deliver(tmp_path, rows_of_step(3, 0))
    version = read_latest(tmp_path)
    expected = dump(tmp_path)
    for name in TABLES:
        files = [str(tmp_path / segment.path) for segment in version.tables.get(name, ())]
        if not files:
            assert name not in expected
            continue
        assert as_text(pl.read_parquet(files, hive_partitioning=False).rows()) == expected[name]
        rows = [tuple(row.values()) for file in files for row in pq.read_table(file).to_pylist()]
        assert as_text(rows) == expected[name]
        listed = ", ".join(f"'{file}'" for file in files)
        assert as_text(duckdb.execute(f"from read_parquet([{listed}])").fetchall()) == expected[name]


def test_everything_in_a_ledger_is_private_whatever_the_umask(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    (tmp_path / "log").write_text("x")
    umask = os.umask(0)
    try:
        grow(ledger, 3)
        keep_raw(ledger, tmp_path / "log")
        forget(ledger, Selection(labels=["fork-1"]))
        merge_groups(ledger)
    finally:
        os.umask(umask)
    modes = {oct(path.stat().st_mode & 0o777) for path in [ledger, *ledger.rglob("*")] if path.is_dir()}
    assert modes == {"0o700"}
    assert {oct(path.stat().st_mode & 0o777) for path in ledger.rglob("*") if path.is_file()} == {"0o600"}


@pytest.mark.parametrize("client", ["a plain DuckDB client", "aix.open"])
def test_a_query_that_runs_across_a_vacuum_ends_with_its_own_version(tmp_path: Path, client: str) -> None:
    grow(tmp_path, 5)
    query = "select m.id, t.status from messages m join turns t on t.id = m.turn_id, range(2000) order by all"
    expected = duckdb.connect(str(tmp_path / "ledger.duckdb"), read_only=True).execute(query).fetchall()
    if client == "aix.open":
        rows = iter(aix.open(tmp_path).sql(query))
    else:
        running = duckdb.connect(str(tmp_path / "ledger.duckdb"), read_only=True).execute(query)
        rows = iter(running.fetchone, None)
    begun = [next(rows)]
    grow(tmp_path, 8)
    merge_groups(tmp_path)
    collect(tmp_path)
    assert begun + list(rows) == expected
    with aix.open(tmp_path) as newest:
        assert newest.version > 5
