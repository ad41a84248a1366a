"""How much of each column is known, by origin: every column is counted, and nothing is judged."""

from pathlib import Path

import duckdb
import pytest

import aix
from aix.errors import UnknownNameError
from aix.health import check_names, find_check
from aix.query.packs import find_query
from aix.query.query_file import query_root
from aix.schema import TABLES
from aix.schema.canonical import CANONICAL_TABLES
from tests.support.sample_conversation import FIRST, MAIN
from tests.support.sample_ledger import SAMPLE_ROWS, batch_from_rows, write_ledger

SQL = (query_root() / "health" / "coverage.sql").read_text("utf-8")
EXTENSIONS = (
    "requests", "turn_context", "session_context", "tool_call_facts", "message_facts", "permission_decisions",
    "permission_rules",
)  # fmt: skip
COUNTED = (*(table.name for table in CANONICAL_TABLES), *EXTENSIONS)

Coverage = list[tuple[str | None, str, str, int, int, float]]


def coverage(folder: Path) -> Coverage:
    with aix.open(folder) as ledger:
        return ledger.sql(SQL).rows()


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Coverage:
    folder = tmp_path_factory.mktemp("sample")
    write_ledger(folder, SAMPLE_ROWS)
    return coverage(folder)


def test_every_column_is_listed_in_the_order_of_the_schema(sample: Coverage) -> None:
    expected = [(table, column.name) for table in COUNTED for column in TABLES[table]]
    listed = dict.fromkeys((table, column) for _, table, column, *_ in sample)
    assert sorted(listed) == sorted(expected)
    of_one_origin = [(table, column) for origin, table, column, *_ in sample if origin == sample[0][0]]
    assert of_one_origin == [each for each in expected if each in set(of_one_origin)]


def test_all_rows_are_counted_and_the_known_ones_are_those_that_are_not_null(sample: Coverage) -> None:
    for table in COUNTED:
        for column in TABLES[table]:
            rows = [row for row in sample if row[1:3] == (table, column.name)]
            stored = batch_from_rows(TABLES[table], SAMPLE_ROWS[table])[column.name]
            assert sum(row[3] for row in rows) == len(stored)
            assert sum(row[4] for row in rows) == len(stored) - stored.null_count
            assert [row[5] for row in rows] == [row[4] / row[3] for row in rows]


def test_rows_go_to_the_origin_of_their_turn_or_session(tmp_path: Path) -> None:
    requests = [
        {"id": "0" * 26, "requested_at": 1, "turn_id": FIRST, "model": "a"},
        {"id": "1" * 26, "requested_at": 1, "session_label": MAIN},
        {"id": "2" * 26, "requested_at": 1},
    ]
    write_ledger(tmp_path, {**SAMPLE_ROWS, "requests": requests})
    found = {row[0]: row[3:] for row in coverage(tmp_path) if row[1:3] == ("requests", "model")}
    assert found == {"session-log": (2, 1, 0.5), None: (1, 0, 0.0)}


def test_an_empty_ledger_has_no_coverage(tmp_path: Path) -> None:
    write_ledger(tmp_path, {})
    assert coverage(tmp_path) == []


def test_it_is_one_statement_and_no_check() -> None:
    [statement] = duckdb.extract_statements(SQL)
    assert statement.type == duckdb.StatementType.SELECT
    assert find_query("health/coverage").severity is None
    assert "coverage" not in check_names()
    with pytest.raises(UnknownNameError):
        find_check("coverage")
