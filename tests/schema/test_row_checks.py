"""Rows that break the schema are stopped before they are written, and the message says where."""

import pickle
from typing import Any

import pyarrow as pa
import pytest

from aix.errors import RowError
from aix.schema import TABLES
from aix.schema.arrow import arrow_schema, find_problems
from tests.support.sample_ledger import SAMPLE_ROWS, batch_from_rows

ALIASES = TABLES["session_aliases"]
GOOD: dict[str, Any] = {"alias": "a", "session_label": "s", "created_at": 1, "reason": "manual"}


@pytest.mark.parametrize("name", SAMPLE_ROWS)
def test_good_rows_pass(name: str) -> None:
    batch = batch_from_rows(TABLES[name], SAMPLE_ROWS[name])
    assert batch.schema.equals(arrow_schema(TABLES[name]))
    assert find_problems(TABLES[name], batch) == []


def test_defaults_are_filled_in() -> None:
    row = {"label": "l", "thread_id": "t", "persona_id": "p", "created_at": 1, "updated_at": 2}
    filled = batch_from_rows(TABLES["sessions"], [row]).to_pylist()[0]
    assert (filled["status"], filled["is_subagent"], filled["origin"]) == ("active", 0, None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alias": None}, "alias: is NULL in row 1"),
        ({"created_at": None}, "created_at: is NULL in row 1"),
        ({"created_at": "yesterday"}, "created_at: str is not BIGINT"),
        ({"created_at": 2**63}, "created_at: Python int too large to convert to C long"),
        ({"created_at": 1.5}, "created_at: float is not BIGINT"),
        ({"created_at": True}, "created_at: bool is not BIGINT"),
        ({"alias": b"abc"}, "alias: bytes is not VARCHAR"),
        ({"session_label": 7}, "session_label: int is not VARCHAR"),
        ({"reason": "whim"}, "reason: 'whim' is not one of manual, identity_merge, identity_promotion in row 1"),
        ({"raison": "manual"}, "raison: the table has no such column"),
    ],
)
def test_a_bad_row_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(RowError) as caught:
        batch_from_rows(ALIASES, [GOOD, GOOD | {"alias": "b"} | change])
    assert message in str(caught.value)
    assert caught.value.table == "session_aliases"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_every_problem_of_a_batch_is_found_and_counted() -> None:
    rows = [GOOD | {"alias": None, "reason": "whim"} for _ in range(10)]
    schema = pa.schema([field.with_nullable(True) for field in arrow_schema(ALIASES)])
    problems = find_problems(ALIASES, pa.RecordBatch.from_pylist(rows, schema=schema))
    assert [(problem.column, problem.count, problem.rows) for problem in problems] == [
        ("alias", 10, (0, 1, 2)),
        ("reason", 10, (0, 1, 2)),
    ]
    assert str(problems[0]) == "alias: is NULL in row 0, 1, 2 …"


def test_columns_out_of_order_missing_or_of_another_type_are_problems() -> None:
    batch = batch_from_rows(ALIASES, [GOOD])
    shuffled = batch.select(["session_label", "alias", "created_at", "reason"])
    assert "out of order" in str(find_problems(ALIASES, shuffled))
    assert "missing ['reason']" in str(find_problems(ALIASES, batch.select(["alias", "session_label", "created_at"])))
    renamed = batch.rename_columns(["alias", "session_label", "created_at", "raison"])
    assert "missing ['reason'], unknown ['raison']" in str(find_problems(ALIASES, renamed))
    narrow = batch.set_column(2, "created_at", pa.array([1], pa.int32()))
    assert "is int32, not int64" in str(find_problems(ALIASES, narrow))


def test_an_allowed_null_is_no_foreign_word() -> None:
    assert batch_from_rows(ALIASES, [GOOD | {"reason": None}]).num_rows == 1


def test_no_rows_are_good_rows() -> None:
    assert batch_from_rows(ALIASES, []).num_rows == 0
