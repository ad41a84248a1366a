"""The table of a query for people: the important columns first, short names, words instead of codes."""

import io
from collections.abc import Mapping
from datetime import UTC
from pathlib import Path

import pytest

from aix.output import Listing, ListingColumn
from aix.output.tables import write_to_terminal
from aix.query.packs import find_query
from aix.query.query_file import Query, parse_query
from aix.query.result_table import result_table

NAMES = {"log:5b1f03ab-1": "5b1f03ab"}


def made(columns: Mapping[str, str], shown: str = "") -> Query:
    header = ["title: T", "question: Q?", "why: W.", "grain: row"]
    header += ["param run: text = none; only this run"] if "run_id" in columns else []
    header += [f"column {name}: {kind}; meaning" for name, kind in columns.items()]
    header += [f"shown: {shown}"] if shown else []
    return parse_query("pack/made", Path("made.sql"), "".join(f"-- {line}\n" for line in header) + "select 1\n")


def table(columns: Mapping[str, str], *rows: tuple[object, ...], shown: str = "") -> Listing:
    listed = tuple(ListingColumn(name, kind) for name, kind in columns.items())
    made_of = result_table(made(columns, shown), listed, rows, UTC, lambda: NAMES)
    return Listing(made_of.columns, list(made_of.rows))


def test_the_important_columns_come_first_and_go_last() -> None:
    columns = {"request_id": "VARCHAR", "model": "VARCHAR", "basis": "VARCHAR", "cost_usd": "DECIMAL(38,12)"}
    found = table(columns, ("01ABCDEFGHJKMNPQ", "large-4-20250514", None, 1.5), shown="model, cost_usd")
    assert [column.name for column in found.columns] == ["model", "cost", "request", "basis"]
    assert found.rows == [("large-4", "$1.50", "01ABCDEF", None)]
    first, second, third, empty = [column.priority for column in found.columns]
    assert first < second < third < empty
    assert [column.tone for column in found.columns] == ["", "cost", "", "dim"]


def test_without_important_columns_the_rightmost_goes_first() -> None:
    found = table({"model": "VARCHAR", "requests": "BIGINT", "turns": "BIGINT"}, ("large", 2, 1))
    assert [column.name for column in found.columns] == ["model", "requests", "turns"]
    assert [column.priority for column in found.columns] == [1, 2, 3]


def test_the_same_id_in_all_rows_leaves_first_where_a_parameter_chooses_it_and_kinds_stay_whole() -> None:
    columns = {"run_id": "VARCHAR", "kind": "VARCHAR", "agent_id": "VARCHAR"}
    several = table(columns, ("run-1", "tool_call", "ada"), ("run-2", "tool_call", "ada"))
    assert [column.name for column in several.columns] == ["run", "kind", "agent"]
    assert several.columns[1].least == len("mcp.resource_list_changed")
    one = table(columns, ("run-1", "tool_call", "ada"), ("run-1", "tool_result", "ada"))
    assert [column.name for column in one.columns] == ["kind", "agent", "run"]
    assert one.columns[2].priority > 1000


def test_names_are_those_that_other_commands_accept() -> None:
    columns = {"session_label": "VARCHAR", "turn_id": "VARCHAR", "project": "VARCHAR"}
    rows = [
        ("log:5b1f03ab-1", "7F3KQ2MX01AAAA", "/home/ada/website"),
        ("log:unknown", "7F3KQ2MX02AAAA", None),
    ]
    found = table(columns, *rows)
    assert found.rows == [("5b1f03ab", "7F3KQ2MX01", "/home/ada/website"), ("log:unknown", "7F3KQ2MX02", None)]
    assert [column.cut for column in found.columns] == ["start", "end", "start"]


def test_ids_that_are_names_stay_whole_and_random_ones_keep_their_beginning() -> None:
    names = ("postgres-container-eu-west-1", "support-agent-production", "run-2026-11-10-nightly")
    random = ("8b0c7e0e-3a55-4f4e-9f0a-6c1f6b0a0001", "3fa24df0a1b2c3d4e5f6", "toolu_01AbCdEfGhIjKlMnOp")
    assert table({"agent_id": "VARCHAR"}, *((name,) for name in names)).rows == [(name,) for name in names]
    assert table({"agent_id": "VARCHAR"}, *((each,) for each in random)).rows == [(each[:8],) for each in random]


def test_identifiers_of_logs_are_no_codes_and_one_of_several_names_may_be_missing() -> None:
    columns = {"event_kind": "VARCHAR", "reason": "VARCHAR", "situation": "VARCHAR"}
    rows = [("TASK_CREATED", "approval_denied", "deep_work"), ("NodeTagged", "It is so.", None)]
    assert table(columns, *rows).rows == [("TASK_CREATED", "denied by the policy", "deep_work"), rows[1]]
    assert table({"task_id": "VARCHAR", "agent_id": "VARCHAR"}, (None, None)).rows == [(None, None)]
    assert table({"task_id": "VARCHAR", "turns": "BIGINT"}, (None, 1)).rows == [("unknown", "1")]


def test_codes_are_words_and_names_of_logs_are_left_alone() -> None:
    columns = {"trigger": "VARCHAR", "evidence": "VARCHAR", "is_mid_task": "BOOLEAN", "tool_name": "VARCHAR"}
    rows = [("context_limit", "boundary", True, "context_limit"), (None, "summary_only", False, None)]
    found = table(columns, *rows)
    assert [column.name for column in found.columns] == ["trigger", "evidence", "interrupted a task", "tool"]
    assert found.rows == [("auto", "logged", "yes", "context_limit"), ("unknown", "summary only", "no", None)]


def test_models_keep_the_date_that_tells_them_apart() -> None:
    rows = [("large-4-20250514",), ("large-4-20260101",), ("small-4-20250514",)]
    assert table({"model": "VARCHAR"}, *rows).rows == rows
    assert table({"key": "VARCHAR"}, *rows[1:]).rows == [("large-4",), ("small-4",)]


def test_months_have_names_and_other_periods_their_first_day() -> None:
    columns = {"period_start": "DATE", "period_end": "DATE", "spent_usd": "DECIMAL(38,12)"}
    assert table(columns, ("2026-02-01", "2026-03-01", None)).rows == [("Feb 2026", "2026-03-01", None)]
    assert table(columns, ("2026-02-02", "2026-02-09", None)).rows == [("2026-02-02", "2026-02-09", None)]
    assert table({"month": "DATE"}, ("2025-12-01",)).rows == [("Dec 2025",)]


def test_shares_of_messages_say_of_which() -> None:
    columns = {"messages": "BIGINT", "routed_messages": "BIGINT", "message_share": "DOUBLE", "handled_share": "DOUBLE"}
    titles = [column.name for column in table(columns).columns]
    assert titles == ["messages", "via triage", "share of unmentioned", "answered %"]


def test_two_columns_never_have_one_heading() -> None:
    found = table({"lost_usd": "DOUBLE", "lost_at": "BIGINT", "likely_output_tokens": "BIGINT"})
    assert [column.name for column in found.columns] == ["lost usd", "lost at", "estimated output tokens"]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("persona_not_granted", {"severity", "persona", "rule", "tool", "calls"}),
        ("persona_changes", {"severity", "from persona", "persona", "gained"}),
        ("persona_credentials", {"severity", "persona", "credential", "calls"}),
        ("persona_sandbox", {"severity", "persona", "access", "place", "calls"}),
    ],
)
def test_audits_of_personas_name_the_persona_at_80_columns(
    name: str, wanted: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    query = find_query(f"permission_usage/{name}")
    columns = [ListingColumn(each.name, each.type) for each in query.columns]
    row = [
        290 if each.is_number else None if each.type == "BOOLEAN" else "a text of 30 characters and so"
        for each in columns
    ]
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    table_of_one = result_table(query, columns, [row], UTC, dict)
    assert {column.name for column in table_of_one.columns} >= wanted
    assert not wanted.intersection(write_to_terminal(table_of_one, io.StringIO()))
