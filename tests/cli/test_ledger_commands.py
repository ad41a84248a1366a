"""`aix import`, `aix export`, `aix forget` and `aix vacuum` as users run them."""

import json
import sqlite3
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import duckdb
import polars as pl
import pytest

import aix
from aix.merge import groups
from aix.schema import TABLES
from aix.store.manifest import read_latest
from aix.store.raw_copies import keep_raw, kept_digests
from tests.merge.test_groups import conversation
from tests.merge.test_raw_copies import make_older
from tests.support.command_line import AIX, run_in_process, run_on_terminal
from tests.support.priced_ledger import make_priced_ledger
from tests.support.row_batches import as_text, deliver, dump
from tests.support.sample_conversation import ABANDONED, MAIN, SUBAGENT
from tests.support.sample_ledger import SAMPLE_ROWS

pytestmark = pytest.mark.long


def run_json(*arguments: str) -> list[dict[str, object]]:
    process = run_in_process(*arguments, "--json")
    assert (process.returncode, process.stderr) == (0, "")
    rows: list[dict[str, object]] = json.loads(process.stdout)
    return rows


def failure(*arguments: str, code: int) -> str:
    process = run_in_process(*arguments)
    assert (process.returncode, process.stdout) == (code, "")
    return process.stderr


def test_importing_a_ledger_tells_what_is_new(tmp_path: Path) -> None:
    deliver(tmp_path / "one", conversation("a", 2))
    deliver(tmp_path / "two", conversation("a", 1), conversation("b", 3))
    (tmp_path / "log").write_text("x")
    keep_raw(tmp_path / "two", tmp_path / "log")
    counts = run_json("import", str(tmp_path / "two"), "--ledger", str(tmp_path / "one"))
    [turns] = [row for row in counts if row["table"] == "turns"]
    assert (turns["rows"], turns["new"], turns["contradictions"]) == (5, 3, 0)
    assert list(kept_digests(tmp_path / "one")) == []
    again = run_json("import", str(tmp_path / "two"), "--ledger", str(tmp_path / "one"), "--keep-raw")
    assert {row["new"] for row in again} == {0}
    assert len(list(kept_digests(tmp_path / "one"))) == 1


def test_importing_what_is_no_ledger_says_so(tmp_path: Path) -> None:
    assert "is not a ledger" in failure("import", str(tmp_path), "--ledger", str(tmp_path / "x"), code=3)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("flags", [[], ["--canonical"]])
def test_an_export_as_parquet_holds_every_table(tmp_path: Path, flags: list[str]) -> None:
    deliver(tmp_path / "ledger", SAMPLE_ROWS)
    arguments = ["export", "--format", "parquet", "-o", str(tmp_path / "out"), "--ledger", str(tmp_path / "ledger")]
    process = run_in_process(*arguments, *flags)
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")
    exported = {path.stem for path in (tmp_path / "out").iterdir()}
    assert exported == {table.name for table in TABLES.values() if table.canonical or not flags}
    expected = dump(tmp_path / "ledger")
    for name in exported:
        assert as_text(pl.read_parquet(tmp_path / "out" / f"{name}.parquet").rows()) == expected.get(name, [])
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "out").iterdir()} == {0o600}


def test_an_export_as_duckdb_holds_every_table_and_replaces_the_file(tmp_path: Path) -> None:
    deliver(tmp_path / "ledger", SAMPLE_ROWS)
    deliver(tmp_path / "ledger", conversation("later"))
    target = tmp_path / "out.duckdb"
    target.write_text("something else")
    arguments = ["export", "--format", "duckdb", "-o", str(target), "--ledger", str(tmp_path / "ledger")]
    for version, flags in ((2, []), (1, ["--at", "1"])):
        assert run_in_process(*arguments, *flags).returncode == 0
        with duckdb.connect(str(target), read_only=True) as connection:
            found = {name: as_text(connection.table(name).fetchall()) for name in TABLES}
            [(sessions,)] = connection.execute("select count(*) from sessions").fetchall()
        assert sessions == 2 + version
        if version == 2:
            assert {name: rows for name, rows in found.items() if rows} == dump(tmp_path / "ledger")
    assert target.stat().st_mode & 0o777 == 0o600
    assert {path.name for path in tmp_path.iterdir()} == {"ledger", "out.duckdb"}


@pytest.mark.parametrize("flags", [[], ["--canonical"]], ids=["all", "canonical"])
def test_an_export_as_sqlite_holds_every_row_and_the_costs(tmp_path: Path, flags: list[str]) -> None:
    ledger, target = make_priced_ledger(tmp_path / "ledger"), tmp_path / "out.sqlite"
    target.write_text("something else")
    process = run_in_process("export", "--format", "sqlite", "-o", str(target), "--ledger", str(ledger), *flags)
    assert process.returncode == 0, process.stderr
    with closing(sqlite3.connect(target)) as connection:
        names = {name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")}
        rows = {name: connection.execute(f'select * from "{name}"').fetchall() for name in names}
        assert connection.execute("pragma integrity_check").fetchall() == [("ok",)]
        linked = {row[2] for row in connection.execute("pragma foreign_key_list(messages)")}
    expected = {table.name for table in TABLES.values() if table.canonical or not flags}
    assert names == (expected if flags else expected | {"request_costs"})
    assert "turns" in linked
    with aix.open(ledger) as opened:
        for name in sorted(expected):
            columns = [f'"{column.name}"' for column in TABLES[name]]
            known = opened.sql(f'select {", ".join(columns)} from "{name}"').rows()
            assert as_plain(rows[name]) == as_plain(known), name
        if not flags:
            costs = opened.sql("select request_id, cost_usd from v_requests_cost").rows()
            assert costs
            assert {row[0]: row[1] for row in rows["request_costs"]} == {
                name: None if cost is None else float(cost) for name, cost in costs
            }
    assert target.stat().st_mode & 0o777 == 0o600


def as_plain(rows: list[tuple[object, ...]]) -> list[str]:
    """Return rows as SQLite has them, in an order of their own."""
    numbers = {bool: int, Decimal: float}
    return sorted(repr([numbers.get(type(each), lambda value: value)(each) for each in row]) for row in rows)


def test_an_export_never_lands_on_something_else(tmp_path: Path) -> None:
    deliver(tmp_path / "ledger", SAMPLE_ROWS)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("years of work")
    ledger = ["--ledger", str(tmp_path / "ledger")]
    full = str(tmp_path / "full")
    assert "not an empty folder" in failure("export", "--format", "parquet", "-o", full, *ledger, code=2)
    assert "is a folder" in failure("export", "--format", "duckdb", "-o", full, *ledger, code=2)
    nowhere = str(tmp_path / "no" / "where")
    assert run_in_process("export", "--format", "parquet", "-o", nowhere, *ledger).returncode == 0
    assert (tmp_path / "full" / "thesis.txt").exists()


def test_forgetting_says_what_was_removed_and_what_would_be(tmp_path: Path) -> None:
    deliver(tmp_path, SAMPLE_ROWS)
    place = ("--ledger", str(tmp_path))
    planned = run_in_process("forget", MAIN, "--dry-run", *place)
    assert planned.stderr.splitlines() == [
        "aix: 1 session and 1 subagent would be removed for good; nothing was removed (--dry-run)",
        "aix: 2 turns stay: session 0a1b2c3d, which is kept, shares them",
    ]
    nothing = run_in_process("forget", "--before", "1960-01-01", *place)
    assert (nothing.stdout, nothing.stderr) == ("", "aix: nothing in the ledger matches; nothing was removed\n")
    assert run_in_process("forget", MAIN, *place).stderr.startswith("aix: removed 1 session and 1 subagent for good")
    assert run_in_process("vacuum", *place).stderr == "aix: there is nothing to remove\n"


def test_forgetting_asks_before_rows_of_no_session_go_too(tmp_path: Path) -> None:
    deliver(tmp_path, SAMPLE_ROWS)
    command = ("forget", "--match", "Edit(src/**)", "--ledger", str(tmp_path))
    planned = run_in_process(*command, "--dry-run")
    assert planned.stderr.startswith("aix: 1 permission rule would be removed for good; nothing was removed")
    assert "permission_rules" in planned.stdout
    shown, _ = run_on_terminal(AIX, *command, answer="n")
    assert "Remove 1 permission rule? [y/N]" in shown
    assert run_in_process(*command, "--dry-run").stdout == planned.stdout


@pytest.mark.parametrize("answer", ["n", "y"])
def test_forgetting_asks_on_a_terminal(tmp_path: Path, answer: str) -> None:
    deliver(tmp_path, SAMPLE_ROWS)
    before = len(run_json("sessions", "--ledger", str(tmp_path)))
    shown, code = run_on_terminal(AIX, "forget", MAIN, "--ledger", str(tmp_path), answer=answer)
    assert code == 0
    assert "this removes 1 session and 1 subagent for good" in shown
    assert ("removed 1 session and 1 subagent for good" in shown, "nothing was removed" in shown) == (
        answer == "y",
        answer == "n",
    )
    assert len(run_json("sessions", "--ledger", str(tmp_path))) == before - (2 if answer == "y" else 0)


def test_forgetting_prints_what_went(tmp_path: Path) -> None:
    deliver(tmp_path, SAMPLE_ROWS)
    planned = run_json("forget", MAIN, "--dry-run", "--ledger", str(tmp_path))
    assert [row["name"] for row in planned if row["what"] == "session"] == sorted([MAIN, SUBAGENT])
    assert {"what": "stays, and keeps shared turns", "name": ABANDONED, "count": 2} in planned
    assert read_latest(tmp_path).version == 1
    went = run_json("forget", MAIN, "--ledger", str(tmp_path))
    assert [row["name"] for row in went if row["what"] == "session"] == sorted([MAIN, SUBAGENT])
    assert {"what": "rows", "name": "turns", "count": 4} in went
    assert {"what": "stays, and keeps shared turns", "name": ABANDONED, "count": 2} in went


@pytest.mark.parametrize(
    ("arguments", "gone"),
    [
        (["--before", "1970-01-02"], {"old"}),
        (["--before", "2100-01-01T00:00:00"], {"old", "new"}),
        (["--match", "text of new-0"], {"new"}),
        (["--source", "/logs/old.jsonl"], {"old"}),
        (["ne"], {"new"}),
    ],
)
def test_what_to_forget_can_be_said_in_several_ways(tmp_path: Path, arguments: list[str], gone: set[str]) -> None:
    old, new = conversation("old"), conversation("new")
    new["sessions"][0]["updated_at"] = 1_700_000_000_000
    deliver(tmp_path, {**old, "session_context": [{"label": "old", "raw_path": "/logs/old.jsonl"}]}, new)
    went = run_json("forget", *arguments, "--ledger", str(tmp_path))
    assert {row["name"] for row in went if row["what"] == "session"} == gone


def test_the_day_of_before_begins_in_the_configured_time_zone(tmp_path: Path) -> None:
    rows = conversation("s")
    rows["sessions"][0]["updated_at"] = 82_800_000  # 1970-01-01T23:00Z, which is the next day in Berlin
    deliver(tmp_path, rows)
    arguments = ["forget", "--before", "1970-01-02", "--dry-run", "--json", "--ledger", str(tmp_path)]
    assert len(json.loads(run_in_process(*arguments).stdout)) == 1
    assert json.loads(run_in_process(*arguments, AIX_TIMEZONE="Europe/Berlin").stdout) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Name what to forget"),
        (["a", "--match", "b"], "exactly one of"),
        (["--match", ""], "needs a text"),
        (["--before", "tomorrow"], "tomorrow"),
        (["nobody"], "no session named 'nobody'"),
    ],
)
def test_unclear_wishes_forget_nothing(tmp_path: Path, arguments: list[str], message: str) -> None:
    deliver(tmp_path, conversation("a"))
    assert message in failure("forget", *arguments, "--ledger", str(tmp_path), code=2)
    assert read_latest(tmp_path).version == 1


def test_vacuum_shows_what_it_would_do_and_then_does_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "_TIMES_LARGER", 0)
    for name in ("a", "b"):
        deliver(tmp_path, conversation(name))
    deliver(tmp_path, conversation("a", 2))
    content = dump(tmp_path)
    make_older(tmp_path, 30)
    (tmp_path / "data" / "turns-young.parquet").write_text("half")
    planned = run_json("vacuum", "--dry-run", "--ledger", str(tmp_path))
    assert read_latest(tmp_path).version == 3
    done = run_json("vacuum", "--ledger", str(tmp_path))
    assert planned == done
    kinds = [row["what"] for row in done]
    assert kinds.count("group written again") == 2
    assert kinds.count("version") == 2
    assert dump(tmp_path) == content
    newest = read_latest(tmp_path)
    assert (newest.version, len(newest.indexes)) == (4, 1)
    assert run_json("vacuum", "--grace", "0", "--ledger", str(tmp_path))
    assert run_json("vacuum", "--grace", "0", "--ledger", str(tmp_path)) == []
    assert not (tmp_path / "data" / "turns-young.parquet").exists()
    assert dump(tmp_path) == content


def test_vacuum_of_nothing_says_that_there_is_no_ledger(tmp_path: Path) -> None:
    assert "No ledger yet." in failure("vacuum", "--ledger", str(tmp_path), code=3)
