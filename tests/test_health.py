"""Every invariant of the ledger has a check, and every check finds what it is for."""

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from aix.errors import LedgerDamagedError, LedgerNotFoundError, UnknownNameError
from aix.health import Examination, Severity, Status, check, check_names, find_check
from aix.ids import h63
from aix.ledger.commit import Stage, commit
from aix.ledger.manifest import Manifest, Segment, manifest_path
from aix.library.query import Query
from aix.library.views import library_views
from aix.schema import SCHEMA_VERSION, TABLES
from aix.schema.checks import batch_from_rows
from tests.sample_ledger import (
    ABANDONED,
    AFTER,
    CHILD,
    COMPACTION,
    FIRST,
    MAIN,
    ORIGIN,
    OTHER,
    SAMPLE_ROWS,
    SECOND,
    SUBAGENT,
    Row,
    compact_json,
    write_ledger,
)

FIXTURES = Path(__file__).parent.parent / "fixtures" / "ledgers"
NOWHERE = "7" * 26
MESSAGES = {row["id"]: row for row in SAMPLE_ROWS["messages"]}
[QUESTION, ANSWER] = [key for key, row in MESSAGES.items() if row["turn_id"] == FIRST]
[_, OTHER_ANSWER] = [key for key, row in MESSAGES.items() if row["turn_id"] == SECOND]

CHECKS = {name: find_check(name) for name in check_names()}
VERDICTS = "rule_verdicts"

Rows = dict[str, list[Row]]
Change = Callable[[Rows], object]


def put(table: str, key: str | int, /, **values: object) -> Change:
    """Change columns of the row with that key, the first part of it where there are several."""

    def change(rows: Rows) -> None:
        [row] = [row for row in rows[table] if row[TABLES[table].key[0]] == key]
        row.update(values)

    return change


def add(table: str, **values: object) -> Change:
    return lambda rows: rows[table].append(values)


def drop(table: str, **values: object) -> Change:
    def change(rows: Rows) -> None:
        kept = [row for row in rows[table] if not values.items() <= row.items()]
        assert len(kept) < len(rows[table])
        rows[table] = kept

    return change


def changed(*changes: Change) -> Rows:
    """The sample, changed."""
    rows = {name: copy.deepcopy(table_rows) for name, table_rows in SAMPLE_ROWS.items()}
    for change in changes:
        change(rows)
    return rows


def movement(label: str, thread_id: str, changed_at: int) -> int:
    return h63("session_history", label, thread_id, changed_at)


def thread(*ancestry: str, **values: object) -> Row:
    return {"ancestry": compact_json(ancestry), "depth": len(ancestry), **values}


@dataclass(frozen=True)
class Case:
    """A ledger that breaks something: by check, the rows it must name."""

    claim: str
    changes: tuple[Change, ...]
    broken: Mapping[str, set[str]]
    lost: Mapping[str, list[Row]] = field(default_factory=dict)
    """Rows of the version before that this one has not."""
    forbidden: Sequence[str] = ()
    """Calls that the only rule of the ledger denies."""


FORBID = put("permission_rules", ORIGIN, kind="deny")
MESSAGE: Row = {"turn_id": OTHER, "role": "user", "source": "human", "sequence": 1, "created_at": 2_600}

CASES = [
    Case("a lost turn", (), {"append_only": {NOWHERE}}, {"turns": [{"id": NOWHERE, "started_at": 1}]}),
    Case("a lost message", (), {"append_only": {NOWHERE}}, {"messages": [{**MESSAGE, "id": NOWHERE}]}),
    Case(
        "a lost call",
        (),
        {"append_only": {"call_3"}},
        {"tool_calls": [{**SAMPLE_ROWS["tool_calls"][0], "id": "call_3"}]},
    ),
    Case(
        "a parent that is not there",
        (put("turns", OTHER, parent_turn_id=NOWHERE), put("threads", OTHER, **thread(OTHER, total_tokens=None))),
        {"parent_exists": {OTHER}},
    ),
    Case("a root that is deep", (put("threads", CHILD, depth=2),), {"acyclic": {CHILD}}),
    Case("a leaf that is not deep enough", (put("threads", AFTER, depth=3),), {"acyclic": {AFTER}}),
    Case("a thread without depth", (put("threads", AFTER, depth=None),), {"acyclic": {AFTER}}),
    Case(
        "a turn that is its own parent",
        (put("turns", CHILD, parent_turn_id=CHILD, has_children=1),),
        {"acyclic": {CHILD}, "ancestry": {CHILD}, "total_tokens": {CHILD}},
    ),
    Case(
        "turns that are each other's ancestors",
        (put("turns", FIRST, parent_turn_id=AFTER), put("turns", AFTER, has_children=1)),
        {"acyclic": {FIRST}, "ancestry": {FIRST}, "total_tokens": {FIRST}, "parent_starts_first": {FIRST}},
    ),
    Case(
        "a cycle without depths",
        (
            put("turns", CHILD, parent_turn_id=CHILD, has_children=1),
            put("threads", CHILD, depth=None, ancestry=None),
        ),
        {"acyclic": {CHILD}, "ancestry": {CHILD}, "total_tokens": {CHILD}},
    ),
    Case("a turn before its parent", (put("turns", OTHER, started_at=999),), {"parent_starts_first": {OTHER}}),
    Case("children denied", (put("turns", FIRST, has_children=0),), {"has_children": {FIRST}}),
    Case("children claimed", (put("turns", AFTER, has_children=1),), {"has_children": {AFTER}}),
    Case("a thread without a turn", (add("threads", turn_id=NOWHERE),), {"thread_per_turn": {NOWHERE}}),
    Case(
        "a turn without a thread",
        (drop("threads", turn_id=OTHER),),
        {
            "thread_per_turn": {OTHER},
            "session_pointer": {ABANDONED},
            "history_logged": {str(movement(label, OTHER, 2_500)) for label in (MAIN, ABANDONED)},
        },
    ),
    Case(
        "the ancestry of a turn that was moved",
        (put("threads", AFTER, **thread(FIRST, OTHER, COMPACTION, AFTER)),),
        {"ancestry": {AFTER}},
    ),
    Case(
        "an ancestry that skips a turn but ends as it should",
        (put("threads", AFTER, ancestry=compact_json([FIRST, COMPACTION, AFTER])),),
        {"ancestry": {AFTER}},
    ),
    Case(
        "an ancestry that ends in another turn",
        (put("threads", AFTER, ancestry=compact_json([FIRST, SECOND, COMPACTION, OTHER])),),
        {"ancestry": {AFTER}},
    ),
    Case("a root with ancestors", (put("threads", CHILD, **thread(FIRST, CHILD, depth=1)),), {"ancestry": {CHILD}}),
    Case("no ancestry", (put("threads", AFTER, ancestry=None),), {"ancestry": {AFTER}}),
    Case("an empty ancestry", (put("threads", AFTER, ancestry=""),), {"ancestry": {AFTER}}),
    Case(
        "a wrong ancestry in the middle",
        (put("threads", SECOND, ancestry=compact_json([OTHER, SECOND])),),
        {"ancestry": {SECOND, COMPACTION}},
    ),
    Case("a total that is not the sum", (put("threads", AFTER, total_tokens=387),), {"total_tokens": {AFTER}}),
    Case("a total that is not known", (put("threads", AFTER, total_tokens=None),), {"total_tokens": {AFTER}}),
    Case(
        "a total too large for its column",
        (
            put("turns", CHILD, total_tokens=2**63 - 1, output_tokens=2**63 - 1),
            put("turns", CHILD, parent_turn_id=AFTER, started_at=4_000),
            put("turns", AFTER, has_children=1),
            put("threads", CHILD, **thread(FIRST, SECOND, COMPACTION, AFTER, CHILD, total_tokens=2**63 - 2)),
            drop("requests", turn_id=CHILD),
        ),
        {"total_tokens": {CHILD}},
    ),
    Case(
        "a session without a head",
        (
            add("sessions", label="s", thread_id=NOWHERE, persona_id="ada", created_at=1, updated_at=1),
            add("session_history", id=1, session_label="s", thread_id=NOWHERE, changed_at=1),
        ),
        {"session_pointer": {"s"}, "history_logged": {"1"}},
    ),
    Case("a gap between messages", (put("messages", ANSWER, sequence=2),), {"ordered_messages": {FIRST}}),
    Case("two messages in one place", (put("messages", ANSWER, sequence=0),), {"ordered_messages": {FIRST}}),
    Case(
        "messages that start at 1",
        (put("messages", QUESTION, sequence=1), put("messages", ANSWER, sequence=2)),
        {"ordered_messages": {FIRST}},
    ),
    Case(
        "a call from a message of another turn",
        (put("tool_calls", "call_1", message_id=OTHER_ANSWER),),
        {"calls_in_turn": {"call_1"}},
    ),
    Case(
        "a decision about a turn that is not there",
        (put("permission_decisions", "call_1", turn_id=NOWHERE),),
        {"references_to_turns": {"call_1"}},
    ),
    Case(
        "a call of a message that is not there",
        (put("tool_calls", "call_1", message_id=NOWHERE),),
        {"references_to_messages": {"call_1"}},
    ),
    Case(
        "facts of a call that is not there",
        (put("tool_call_facts", "call_1", call_id="call_3"),),
        {"references_to_tool_calls": {"call_3"}},
    ),
    Case(
        "a call that spawned a session that is not there",
        (put("tool_calls", "call_1", spawned_session_label="nowhere"),),
        {"references_to_sessions": {"call_1"}},
    ),
    Case(
        "a request of a session that is not there",
        (put("requests", SAMPLE_ROWS["requests"][0]["id"], session_label="nowhere"),),
        {"loose_references": {SAMPLE_ROWS["requests"][0]["id"]}},
    ),
    Case("an open call", (put("tool_calls", "call_1", status="running"),), {"complete_tool_calls": {"call_1"}}),
    Case(
        "a call without result", (put("tool_calls", "call_1", result_json=None),), {"complete_tool_calls": {"call_1"}}
    ),
    Case("a call too many", (put("turns", FIRST, tool_call_count=2),), {"tool_call_count": {FIRST}}),
    Case("calls that are not counted", (put("turns", FIRST, tool_call_count=None),), {"tool_call_count": {FIRST}}),
    Case(
        "a summary of another branch",
        (put("compactions", COMPACTION, summarized_through_turn_id=OTHER),),
        {"history_walkable": {COMPACTION}},
    ),
    Case(
        "a kept turn of another branch",
        (put("compactions", COMPACTION, first_kept_turn_id=OTHER),),
        {"history_walkable": {COMPACTION}},
    ),
    Case(
        "a summary of itself",
        (put("compactions", COMPACTION, summarized_through_turn_id=COMPACTION),),
        {"history_walkable": {COMPACTION}},
    ),
    Case("a compaction without details", (drop("compactions"),), {"compaction_details": {COMPACTION}}),
    Case(
        "details of an exchange",
        (add("compactions", turn_id=SECOND, summary="", summarized_through_turn_id=FIRST, model="m"),),
        {"compaction_details": {SECOND}},
    ),
    Case(
        "a head that is not the last movement",
        (put("session_history", movement(MAIN, AFTER, 3_600), changed_at=2_999),),
        {"history_logged": {MAIN}},
    ),
    Case(
        "a session that never moved",
        (drop("session_history", session_label=ABANDONED),),
        {"history_logged": {ABANDONED}},
    ),
    Case(
        "an end that no session names",
        (drop("sessions", label=ABANDONED), drop("session_history", session_label=ABANDONED)),
        {"leaf_is_session": {OTHER}},
    ),
    Case(
        "a head with children that nobody goes on from",
        (put("sessions", MAIN, thread_id=COMPACTION), drop("session_history", thread_id=AFTER)),
        {"leaf_is_session": {AFTER}},
    ),
    Case("a question as answer", (put("turns", FIRST, response_message_id=QUESTION),), {"ids_resolve": {FIRST}}),
    Case("another turn's answer", (put("turns", FIRST, response_message_id=OTHER_ANSWER),), {"ids_resolve": {FIRST}}),
    Case(
        "another turn's question",
        (put("turns", SECOND, query_message_ids=compact_json([QUESTION])),),
        {"ids_resolve": {SECOND}},
    ),
    *(
        Case(f"queries that are {text!r}", (put("turns", FIRST, query_message_ids=text),), {"ids_resolve": {FIRST}})
        for text in ("{", '{"a":1}', "[1]", '[""]', f'["{QUESTION}",null]')
    ),
    Case("an answer with a source", (put("messages", ANSWER, source="human"),), {"source_role": {ANSWER}}),
    Case("a question without a source", (put("messages", QUESTION, source=None),), {"source_role": {QUESTION}}),
    Case(
        "a call that does not name what it spawned",
        (put("tool_calls", "call_2", spawned_session_label=None),),
        {"subagent_links": {SUBAGENT}},
    ),
    Case(
        "a call of another turn",
        (put("sessions", SUBAGENT, parent_turn_id=FIRST),),
        {"subagent_links": {SUBAGENT}},
    ),
    Case(
        "a subagent whose parent is not there",
        (put("sessions", SUBAGENT, parent_session_label="nowhere"),),
        {"subagent_parents": {SUBAGENT}},
    ),
    Case(
        "a subagent whose parent is not known",
        (put("sessions", SUBAGENT, parent_session_label=None),),
        {"subagent_parents": {SUBAGENT}},
    ),
    Case("an alias that hides a session", (put("session_aliases", "s-1", alias=SUBAGENT),), {"aliases": {SUBAGENT}}),
    Case(
        "an alias of an alias",
        (add("session_aliases", alias="s-2", session_label="s-1", created_at=1),),
        {"aliases": {"s-2"}},
    ),
    Case("tokens of no request", (put("turns", FIRST, input_tokens=11),), {"tokens_sum": {FIRST}}),
    Case("a zero for unknown tokens", (put("turns", SECOND, reasoning_tokens=0),), {"tokens_sum": {SECOND}}),
    Case(
        "a total that is not that of the requests",
        (put("turns", CHILD, total_tokens=51), put("threads", CHILD, total_tokens=51)),
        {"tokens_sum": {CHILD}},
    ),
    *(
        Case(f"the id {key!r}", (add("messages", id=key, **MESSAGE),), {"ulid_form": {key}})
        for key in ("", "x", "8" * 26, "I" * 26, "7" * 27, "7" * 26 + "\n", "\x1b[31m")
    ),
    Case(
        "a tag that was given twice",
        (lambda rows: rows["tags"].append(dict(rows["tags"][0])),),
        {"unique_keys": {compact_json(["sessions", MAIN, "refactoring"])}},
    ),
    Case("another persona", (put("sessions", SUBAGENT, persona_id="bo"),), {"persona_inherited": {SUBAGENT}}),
    Case("a denied call that ran", (FORBID,), {"deny_wins": {"call_1"}}, forbidden=("call_1",)),
    Case(
        "a call that ran before a rule denied it",
        (FORBID, put("permission_rules", ORIGIN, first_seen_at=1_401)),
        {},
        forbidden=("call_1",),
    ),
    Case(
        "a denied call that did not run",
        (FORBID, put("permission_decisions", "call_1", outcome="denied_rule")),
        {},
        forbidden=("call_1",),
    ),
]


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
        connection.execute(f"create table main.{VERDICTS} as {library_views()[VERDICTS].statement}")
        yield connection


@contextmanager
def examined(
    sample: duckdb.DuckDBPyConnection,
    rows: Rows,
    lost: Mapping[str, list[Row]] | None = None,
    forbidden: Sequence[str] = (),
) -> Iterator[Examination]:
    """Other rows in the place of the sample's."""
    sample.begin()
    try:
        for name, table in TABLES.items():
            if rows.get(name, []) != SAMPLE_ROWS[name]:
                _replace(sample, f'main."{name}"', batch_from_rows(table, rows.get(name, [])))
        for name, lost_rows in (lost or {}).items():
            _replace(sample, f'previous."{name}"', batch_from_rows(TABLES[name], lost_rows))
        for call_id in forbidden:
            sample.execute(
                f"insert into {VERDICTS} by name "
                "select $1 as call_id, 'deny' as decision, scope, file, kind, rule from permission_rules",
                [call_id],
            )
        yield Examination(sample, Path(), has_previous=True)
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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.claim.encode("unicode_escape").decode())
def test_a_broken_ledger_is_found_out_and_nothing_else_is_claimed(
    case: Case, sample: duckdb.DuckDBPyConnection
) -> None:
    with examined(sample, changed(*case.changes), case.lost, case.forbidden) as examination:
        assert broken(examination) == case.broken


def test_every_check_has_a_ledger_that_breaks_it_and_maybe_others() -> None:
    assert {name for case in CASES for name in case.broken} == CHECKS.keys()


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


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION + 1))
def test_ledgers_of_all_versions_are_whole(version: int) -> None:
    findings = check(FIXTURES / f"schema_{version}")
    assert [finding.name for finding in findings] == list(CHECKS)
    assert {finding.status for finding in findings} == {Status.OK, Status.SKIP}


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

    def change(base: Manifest, stage: Stage) -> dict[str, list[Segment]]:
        kept = {name: list(base.tables[name]) for name in keep}
        return kept | {
            name: [stage.write(TABLES[name], [batch_from_rows(TABLES[name], table_rows)])]
            for name, table_rows in rows.items()
            if name not in keep
        }

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
