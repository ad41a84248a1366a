"""Every invariant of the ledger has a check, and every check finds what it is for."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from aix.errors import LedgerDamagedError, LedgerNotFoundError, UnknownNameError
from aix.health import Examination, Severity, Status, check, check_names, find_check
from aix.query.query_file import Query
from aix.query.views import library_views, views_named
from aix.schema import SCHEMA_VERSION, TABLES
from aix.store.commit import Stage
from aix.store.manifest import Manifest, manifest_path
from tests import ROOT
from tests.support.broken_graphs import GRAPH_CASES, GRAPHS_WITHOUT_FAULTS
from tests.support.broken_ledgers import CASES, MESSAGE, NOWHERE, Case, Change, Rows, add, changed, movement, put
from tests.support.changes import commit
from tests.support.numbered_ledgers import with_tables
from tests.support.sample_conversation import CHILD, COMPACTION, FIRST, MAIN, OTHER, SECOND, Row
from tests.support.sample_ledger import SAMPLE_ROWS, batch_from_rows, write_ledger

FIXTURES = ROOT / "fixtures" / "ledgers"


def tables_read(query: Query) -> set[str]:
    """Return the tables that a view or a check reads, itself or through views."""
    views = views_named(" ".join(query.names), library_views())
    return {name for each in [query, *views] for name in each.names & TABLES.keys()}


CHECKS = {name: find_check(name) for name in check_names()}
VERDICTS = "rule_verdicts"
VIEWS = views_named(" ".join(word for query in CHECKS.values() for word in query.names), library_views(), {VERDICTS})
READ_BY = {query.name: tables_read(query) for query in [*VIEWS, *CHECKS.values()]}


@pytest.fixture(scope="module")
def sample() -> Iterator[duckdb.DuckDBPyConnection]:
    """The sample as tables in memory, with an empty version before."""
    with duckdb.connect() as connection:
        connection.execute("create schema previous")
        for schema, tables in (("main", SAMPLE_ROWS), ("previous", {})):
            for name, table in TABLES.items():
                read = pa.Table.from_batches([batch_from_rows(table, tables.get(name, []))])
                connection.register("read", read)
                connection.execute(f'create table {schema}."{name}" as select * from read')
                connection.unregister("read")
        for view in VIEWS:
            connection.execute(f"create table main.{view.name} as {view.statement}")
        yield connection


@contextmanager
def examined(
    sample: duckdb.DuckDBPyConnection,
    rows: Rows,
    lost: Mapping[str, list[Row]] | None = None,
    forbidden: Sequence[str] = (),
) -> Iterator[Examination]:
    """Other rows in the place of the sample's; checks that read none of the changed tables are left out."""
    sample.begin()
    try:
        other = [name for name in TABLES if rows.get(name, []) != SAMPLE_ROWS[name]]
        changed_tables = {*other, *(lost or {})}
        are_all_run = bool(forbidden) or not changed_tables
        untouched = {query.name for query in CHECKS.values() if READ_BY[query.name].isdisjoint(changed_tables)}
        for name in other:
            _replace(sample, f'main."{name}"', batch_from_rows(TABLES[name], rows.get(name, [])))
        for view in VIEWS:
            if not READ_BY[view.name].isdisjoint(other):
                sample.execute(f"delete from {view.name}")
                sample.execute(f"insert into {view.name} {view.statement}")
        for name, lost_rows in (lost or {}).items():
            _replace(sample, f'previous."{name}"', batch_from_rows(TABLES[name], lost_rows))
        for call_id in forbidden:
            sample.execute(
                f"insert into {VERDICTS} by name "
                "select $1 as call_id, 'deny' as decision, scope, file, kind, rule from permission_rules",
                [call_id],
            )
        yield Examination(sample, Path(), has_previous=True, without_rows=() if are_all_run else untouched)
    finally:
        sample.rollback()


def _replace(connection: duckdb.DuckDBPyConnection, table: str, batch: pa.RecordBatch) -> None:
    connection.register("read", pa.Table.from_batches([batch]))
    connection.execute(f"delete from {table}")
    connection.execute(f"insert into {table} select * from read")


def broken(examination: Examination) -> dict[str, set[str]]:
    """By check, the rows it names; each with a reason that is a sentence."""
    named = {name: list(examination.offending_rows(query)) for name, query in CHECKS.items()}
    for row in chain.from_iterable(named.values()):
        assert re.fullmatch(r"[A-Z0-9].*\.", row.reason, re.DOTALL), row
    return {name: {row.row_id for row in rows} for name, rows in named.items() if rows}


@pytest.mark.parametrize("case", [*CASES, *GRAPH_CASES], ids=lambda case: case.claim.encode("unicode_escape").decode())
def test_a_broken_ledger_is_found_out_and_nothing_else_is_claimed(
    case: Case, sample: duckdb.DuckDBPyConnection
) -> None:
    with examined(sample, changed(*case.changes), case.lost, case.forbidden) as examination:
        assert broken(examination) == case.broken


GATED = [(case, name) for case in [*CASES, *GRAPH_CASES] for name in sorted(case.broken) if CHECKS[name].only_with]


@pytest.mark.parametrize(("case", "name"), GATED, ids=lambda each: getattr(each, "claim", each))
def test_a_check_finds_nothing_without_the_tables_that_it_says_it_needs(
    case: Case, name: str, sample: duckdb.DuckDBPyConnection
) -> None:
    rows = {table: listed for table, listed in changed(*case.changes).items() if table not in CHECKS[name].only_with}
    with examined(sample, rows, case.lost, case.forbidden) as examination:
        assert list(examination.offending_rows(CHECKS[name])) == []


def test_every_check_has_a_ledger_that_breaks_it_and_maybe_others() -> None:
    assert {name for case in [*CASES, *GRAPH_CASES] for name in case.broken} == CHECKS.keys()


@pytest.mark.parametrize(
    "changes",
    [
        (),
        # Nothing that a summary covered is on disk.
        (
            put(
                "compactions",
                COMPACTION,
                summarized_through_turn_id=COMPACTION,
                metadata_json='{"model_inferred": true, "unresolved": true}',
            ),
        ),
        # What was kept lies before the last turn that was summarised.
        (put("compactions", COMPACTION, first_kept_turn_id=FIRST),),
        # A session stops where another goes on.
        (
            add("sessions", label="s", thread_id=SECOND, persona_id="ada", created_at=1, updated_at=1),
            add("session_history", id=1, session_label="s", thread_id=SECOND, changed_at=1),
        ),
        # Two heads at the same time.
        (put("session_history", movement(MAIN, COMPACTION, 3_000), changed_at=3_600),),
        # JSON with blanks.
        (
            lambda rows: [
                row.update(ancestry=json.dumps(json.loads(row["ancestry"])))
                for row in rows["threads"]
                if row["turn_id"] != CHILD
            ],
        ),
        # An open call in a turn that goes on.
        (put("tool_calls", "call_1", status="pending", result_json=None), put("turns", FIRST, status="failed")),
        # A sum that fits into no column.
        (
            lambda rows: rows["requests"].extend(
                {"id": digit * 26, "turn_id": OTHER, "requested_at": 1, "input_tokens": 2**62} for digit in "012"
            ),
        ),
        *GRAPHS_WITHOUT_FAULTS,
    ],
)
def test_what_may_be_is_not_found_fault_with(changes: tuple[Change, ...], sample: duckdb.DuckDBPyConnection) -> None:
    with examined(sample, changed(*changes)) as examination:
        assert broken(examination) == {}


def test_an_empty_ledger_breaks_nothing(sample: duckdb.DuckDBPyConnection) -> None:
    with examined(sample, {}) as examination:
        assert broken(examination) == {}


REFERENCES = [(table.name, column.name) for table in TABLES.values() for column in table if column.references]
LOOSE = {
    # What the logs of others say, and what a source may leave out; see docs/decisions.md.
    ("sessions", "parent_session_label"),
    ("requests", "session_label"),
    ("requests", "parent_request_id"),
    ("import_sources", "last_run_id"),
    ("import_log", "run_id"),
    ("import_log", "source_key"),
    ("import_problems", "run_id"),
    ("import_problems", "source_key"),
    ("chat_agents", "created_by"),
    ("chat_participants", "user_id"),
    ("chat_participants", "agent_id"),
    ("chat_participants", "added_by"),
    ("chat_participants", "removed_by"),
    ("chat_conversations", "created_by"),
    ("chat_agent_changes", "agent_id"),
    ("chat_agent_changes", "changed_by"),
    ("program_events", "program_id"),
}


def row_id(row: Mapping[str, Any], columns: tuple[str, ...]) -> str:
    values = [None if row.get(name) is None else str(row[name]) for name in columns]
    return str(values[0]) if len(columns) == 1 else json.dumps(values, separators=(",", ":"), ensure_ascii=False)


@pytest.mark.parametrize(("table", "column"), REFERENCES)
def test_every_reference_of_the_schema_is_checked(table: str, column: str, sample: duckdb.DuckDBPyConnection) -> None:
    rows = changed()
    row = rows[table][0]
    row[column] = NOWHERE
    with examined(sample, rows) as examination:
        severities = {
            query.severity
            for query in CHECKS.values()
            if column in query.sql
            for found in examination.offending_rows(query)
            if (found.table_name, found.row_id) == (table, row_id(row, TABLES[table].key))
            and NOWHERE in found.row_id + found.reason
        }
    assert severities == {Severity.WARNING if (table, column) in LOOSE else Severity.HARD}


UNIQUE = [(table.name, columns) for table in TABLES.values() for columns in (table.key, *table.unique)]


@pytest.mark.parametrize(("table", "columns"), UNIQUE)
def test_every_key_of_the_schema_is_checked(
    table: str, columns: tuple[str, ...], sample: duckdb.DuckDBPyConnection
) -> None:
    rows = changed()
    row = dict(rows[table][0])
    if columns != TABLES[table].key:
        [key] = TABLES[table].key
        row[key] = "another" if isinstance(row[key], str) else row[key] + 1
    rows[table].append(row)
    stored = batch_from_rows(TABLES[table], [row]).to_pylist()[0]
    with examined(sample, rows) as examination:
        found = set(examination.offending_rows(CHECKS["unique_keys"]))
    assert (table, row_id(stored, columns), f"2 rows have the same {', '.join(columns)}.") in found


@pytest.mark.parametrize("query", CHECKS.values(), ids=CHECKS)
def test_a_check_says_what_it_holds_and_how_bad_it_is(query: Query) -> None:
    assert query.invariant
    assert query.severity in list(Severity)
    assert query.columns == CHECKS["ancestry"].columns
    assert not query.title.endswith(".")


NOTED = {version: {"dag_edge_types", "dag_event_claims"} for version in range(2, 6)}
"""By version: the notes on a graph whose events have made-up ids, and an edge to nowhere."""


@pytest.mark.long
@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION + 1))
def test_ledgers_of_all_versions_are_whole(version: int) -> None:
    findings = check(FIXTURES / f"schema_{version}")
    assert [finding.name for finding in findings] == list(CHECKS)
    noted = {finding.name for finding in findings if finding.status is Status.INFO}
    assert noted == NOTED.get(version, set())
    assert {finding.status for finding in findings if finding.name not in noted} == {Status.OK, Status.SKIP}


def test_a_finding_counts_all_rows_and_shows_the_first(tmp_path: Path) -> None:
    requests = [{"id": f"{n:04}", "requested_at": 1} for n in range(2_500)]
    write_ledger(tmp_path, {"requests": requests})
    findings = {finding.name: finding for finding in check(tmp_path)}
    assert findings["ulid_form"].status is Status.ALARM
    assert findings["ulid_form"].count == 2_500
    assert findings["ulid_form"].first_ids == ("0000", "0001", "0002", "0003", "0004")
    assert findings["aliases"].reason == "Every alias stands for a session and is not itself the label of one."


def rewrite(ledger: Path, rows: Mapping[str, list[Row]], *, keep: tuple[str, ...] = ()) -> None:
    """Commit a version with these rows; the files of the tables to keep stay as they are."""

    def change(base: Manifest, stage: Stage) -> Manifest:
        kept = {name: list(base.tables[name]) for name in keep}
        new = {
            name: [stage.write(TABLES[name], [batch_from_rows(TABLES[name], table_rows)])]
            for name, table_rows in rows.items()
            if name not in keep
        }
        return with_tables(base, kept | new)

    commit(ledger, change)


def append_only(ledger: Path) -> tuple[Status, tuple[str, ...]]:
    [finding] = [finding for finding in check(ledger) if finding.name == "append_only"]
    return finding.status, finding.first_ids


def test_two_versions_are_compared(tmp_path: Path) -> None:
    rows = {name: SAMPLE_ROWS[name] for name in ("turns", "messages")}
    rewrite(tmp_path, rows)
    assert append_only(tmp_path) == (Status.SKIP, ())
    rewrite(tmp_path, {"messages": [*rows["messages"], {**MESSAGE, "id": NOWHERE}]}, keep=("turns",))
    assert append_only(tmp_path) == (Status.OK, ())
    rewrite(tmp_path, rows, keep=("turns",))
    assert append_only(tmp_path) == (Status.ALARM, (NOWHERE,))


def test_nothing_is_missed_once_older_versions_are_gone(tmp_path: Path) -> None:
    rewrite(tmp_path, {"turns": SAMPLE_ROWS["turns"]})
    rewrite(tmp_path, {})
    assert append_only(tmp_path)[0] is Status.ALARM
    manifest_path(tmp_path, 1).unlink()
    assert append_only(tmp_path) == (Status.SKIP, ())


def test_an_older_schema_before_is_compared_too(tmp_path: Path) -> None:
    write_ledger(tmp_path, {"messages": SAMPLE_ROWS["messages"]})
    manifest = manifest_path(tmp_path, 1)
    manifest.write_text(manifest.read_text().replace(f'"schema_version": {SCHEMA_VERSION}', '"schema_version": 1'))
    rewrite(tmp_path, {"tags": SAMPLE_ROWS["tags"]})
    assert append_only(tmp_path)[0] is Status.ALARM


def test_no_ledger_and_no_check_are_said_so(tmp_path: Path) -> None:
    with pytest.raises(LedgerNotFoundError):
        check(tmp_path)
    with pytest.raises(UnknownNameError, match="ancestri"):
        find_check("ancestri")


def test_a_damaged_file_is_an_error_of_the_ledger(tmp_path: Path) -> None:
    write_ledger(tmp_path, SAMPLE_ROWS)
    file = tmp_path / "data" / "turns" / "part-1.parquet"
    content = bytearray(file.read_bytes())
    content[4:400] = bytes(396)
    file.write_bytes(content)
    with pytest.raises(LedgerDamagedError, match="cannot be made"):
        check(tmp_path)
