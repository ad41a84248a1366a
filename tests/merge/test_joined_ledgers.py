"""A ledger that rows were joined into and forgotten from: private, consistent, and readable while it changes."""

import json
import os
from pathlib import Path

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest

import aix
from aix.cli.root import aix as root_command
from aix.health import check
from aix.merge.forget import forget
from aix.merge.ledger_merge import Contradiction, Version, find_contradictions
from aix.merge.rewriting import tidy_groups
from aix.merge.selection import Selection
from aix.pipeline.report import Status
from aix.pipeline.run import Settings
from aix.schema import TABLES
from aix.schema.sql import name_list
from aix.store.garbage import collect
from aix.store.manifest import read_latest
from aix.store.raw_copies import keep_raw
from tests.support.conversations import call, context, message, request, session, turn
from tests.support.growing_ledger import rows_of_step
from tests.support.row_batches import as_text, deliver, dump, facts
from tests.support.sample_conversation import MAIN, Row
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger

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
    tidy_groups(tmp_path)
    assert broken(tmp_path) == []


def test_plain_readers_see_what_the_views_show_after_forgetting(tmp_path: Path) -> None:
    grow(tmp_path, 6)
    deliver(tmp_path, SAMPLE_ROWS)
    forget(tmp_path, Selection(labels=["long-0", MAIN]))
    deliver(tmp_path, rows_of_step(3, 0))
    version = read_latest(tmp_path)
    assert not version.dead
    expected = dump(tmp_path)
    for name, table in TABLES.items():
        files = [str(tmp_path / segment.path) for segment in version.tables.get(name, ())]
        if not files:
            assert name not in expected
            continue
        columns = list(table.column_names)
        assert as_text(pl.read_parquet(files, hive_partitioning=False).select(columns).rows()) == expected[name]
        rows = [tuple(row.values()) for file in files for row in pq.read_table(file, columns=columns).to_pylist()]
        assert as_text(rows) == expected[name]
        listed = ", ".join(f"'{file}'" for file in files)
        rows = duckdb.execute(f"select {name_list(table)} from read_parquet([{listed}])").fetchall()
        assert as_text(rows) == expected[name]


def test_everything_in_a_ledger_is_private_whatever_the_umask(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    (tmp_path / "log").write_text("x")
    umask = os.umask(0)
    try:
        grow(ledger, 3)
        keep_raw(ledger, tmp_path / "log")
        forget(ledger, Selection(labels=["fork-1"]))
        tidy_groups(ledger)
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
    tidy_groups(tmp_path)
    collect(tmp_path)
    assert begun + list(rows) == expected
    with aix.open(tmp_path) as newest:
        assert newest.version > 5


OWN: dict[str, list[Row]] = {
    "turns": [turn("T", started_at=5, workspace_path="/w")],
    "turn_context": [context("T", client_version="1.0")],
    "sessions": [session("s", "T", 9)],
    "session_context": [{"label": "s", "title": "First", "raw_path": "/here/s.jsonl"}],
    "messages": [
        message("M", "T", "user", 5, content="Delete the\nold logs"),
        message("N", "T", "assistant", 6, content="Done", thinking="Which"),
    ],
    "tool_calls": [call("C", "T", message_id="N", params_json='{"path": "/logs"}', started_at=6, completed_at=7)],
    "requests": [request("R", "T", 6, message_id="N", model="model-a", output_tokens=3)],
    "tags": [{"entity_type": "sessions", "entity_id": "s", "tag": "mine", "added_at": 4}],
}


def changed(table: str, key: str, **values: object) -> dict[str, list[Row]]:
    name = TABLES[table].key[0]
    return {**OWN, table: [{**row, **values} if row[name] == key else row for row in OWN[table]]}


def inferred(rows: dict[str, list[Row]], table: str, key: str, column: str) -> dict[str, list[Row]]:
    return {**rows, "inferred_values": [{"table_name": table, "row_key": key, "column_name": column, "basis": "b"}]}


CONTRADICTIONS = {
    "content": (changed("messages", "M", content="Keep the old logs"), "Delete the\nold logs", "Keep the old logs"),
    "created_at": (changed("messages", "M", created_at=2), "5", "2"),
    "model": (changed("requests", "R", model="model-a-1"), "model-a", "model-a-1"),
    "params_json": (
        changed("tool_calls", "C", params_json='{"path": "/etc"}'),
        '{"path": "/logs"}',
        '{"path": "/etc"}',
    ),
    "started_at": (changed("tool_calls", "C", started_at=8), "6", "8"),
    "client_version": (changed("turn_context", "T", client_version="2.0"), "1.0", "2.0"),
}
HONEST = {
    "the same": OWN,
    "a text that has grown": changed("messages", "N", content="Done, and more", thinking="Which one?"),
    "a text that has yet to grow": changed("messages", "N", content="Do", thinking=None),
    "parameters that have grown": changed("tool_calls", "C", params_json='{"path": "/logs", "all": true}'),
    "a call that ended later": changed("tool_calls", "C", completed_at=9, result_json="12"),
    "counts that have grown": changed("requests", "R", output_tokens=99, is_usage_final=True),
    "another title and place": changed("session_context", "s", title="Second", raw_path="/there/s.jsonl"),
    "a tag of another day": changed("tags", "sessions", added_at=1),
    "a time that was inferred": inferred(changed("messages", "M", created_at=2), "messages", "M", "created_at"),
    "another turn": changed("requests", "R", turn_id=None),
}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ledger = tmp_path_factory.mktemp("joined")
    write_ledger(ledger, OWN)
    return ledger


def has_findings(*arguments: str) -> bool:
    """Run a command line in this process; say whether it ends as a check with findings does."""
    return root_command.main(list(arguments), prog_name="aix", standalone_mode=False) is True


def compare(own: Path, other: Path) -> list[Contradiction]:
    return find_contradictions([Version(own, read_latest(own))], Version(other, read_latest(other)))


@pytest.mark.parametrize("column", CONTRADICTIONS)
def test_a_changed_copy_contradicts(own: Path, tmp_path: Path, column: str) -> None:
    rows, ours, theirs = CONTRADICTIONS[column]
    write_ledger(tmp_path, rows)
    [found] = compare(own, tmp_path)
    assert (found.rows, found.columns, found.column) == (1, {column: 1}, column)
    assert (found.own, found.other) == (ours, theirs)
    [reverse] = compare(tmp_path, own)
    assert (reverse.own, reverse.other) == (theirs, ours)


@pytest.mark.parametrize("difference", HONEST)
def test_what_honest_ledgers_differ_in_is_no_contradiction(own: Path, tmp_path: Path, difference: str) -> None:
    write_ledger(tmp_path, HONEST[difference])
    assert compare(own, tmp_path) == compare(tmp_path, own) == []


def test_contradictions_are_shown_before_the_join_and_refused_by_strict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger, other = tmp_path / "own", tmp_path / "other"
    deliver(ledger, OWN)
    told = changed("messages", "M", content="\x1b[2JKeep\nall of the logs", created_at=2)
    deliver(
        other,
        {
            **told,
            "requests": [{**OWN["requests"][0], "model": "model-b"}],
            "tags": [{"entity_type": "sessions", "entity_id": "s", "tag": "theirs", "added_at": 4}],
        },
    )
    before = dump(ledger)
    for flags, fails in ((["--dry-run"], False), (["--strict"], True), (["--dry-run", "--strict"], True)):
        assert has_findings("import", str(other), *flags, "--json", "--ledger", str(ledger)) is fails
        captured = capsys.readouterr()
        counted = {row["table"]: row for row in json.loads(captured.out)}
        assert {name: row["contradictions"] for name, row in counted.items() if row["contradictions"]} == {
            "messages": 1,
            "requests": 1,
        }
        example = [counted["requests"][name] for name in ("example_row", "example_column", "own_value", "other_value")]
        assert example == ["R", "model", "model-a", "model-b"]
        assert "1 row of messages contradicts this ledger, in content (1), created_at (1)" in captured.err
        assert '"Delete the\\nold logs" here and "\\u001b[2JKeep\\nall of the logs" there' in captured.err
        assert dump(ledger) == before
        assert not list((ledger / "staging").glob("*"))
        assert counted.get("tags", {"new": 0})["new"] == (flags == ["--dry-run"]), "what is refused adds nothing"
    report = aix.import_histories([other], ledger, Settings(strict=True))
    assert report.statuses == {Status.FAILED: 1}
    assert {(found.table, found.rows) for found in report.contradictions} == {("messages", 1), ("requests", 1)}
    report = aix.import_histories([other], ledger)
    assert report.statuses == {Status.IMPORTED: 1}
    assert len(report.contradictions) == 2
    assert report.new_rows["tags"] == 1


def test_contradicting_ledgers_give_the_same_rows_in_any_order(tmp_path: Path) -> None:
    deliver(tmp_path / "two", CONTRADICTIONS["content"][0], CONTRADICTIONS["model"][0])
    deliver(tmp_path / "one", OWN)
    orders = (("one", "two", "one"), ("two", "one"))
    for place, names in enumerate(orders):
        for name in names:
            aix.import_histories([tmp_path / name], tmp_path / str(place))
    assert facts(tmp_path / "0") == facts(tmp_path / "1")
