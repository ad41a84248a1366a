"""Joining is commutative, associative and idempotent, for every column of every table."""

import json
import math
import os
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aix.merge.join import Statement, join, join_json, join_sets
from aix.schema import TABLES, Column, Join, Table, Type, Unit
from tests.support.sample_ledger import batch_from_rows

EXAMPLES = max(15, int(os.environ.get("AIX_PROPERTY_EXAMPLES", "0")))
# Few different values, so that equal ones meet; the awkward ones among them.
TEXTS = st.sampled_from(["", "a", "b", "aa", "unknown", "é", "\x1b", "z" * 50])
NUMBERS = st.sampled_from([-1, 0, 1, 2**63 - 1])
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.sampled_from(["", "a", "b", 1.5, 1.0]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3),
    max_leaves=6,
)
JSON_TEXTS = st.one_of(
    JSON_VALUES.map(json.dumps),
    JSON_VALUES.map(lambda value: json.dumps(value, indent=1)),
    st.sampled_from(
        ["", "{", "NaN", '{"a":1,"a":2}', "[" * 200 + "]" * 200, "[" * 5000, "1e400", "1e999999999", "1.00"]
    ),
)


def values_of(column: Column) -> st.SearchStrategy[object]:
    if column.words:
        return st.sampled_from(column.words)
    if column.unit in (Unit.JSON, Unit.JSON_ARRAY, Unit.JSON_OBJECT):
        return JSON_TEXTS
    return {
        Type.VARCHAR: TEXTS,
        Type.BIGINT: NUMBERS,
        Type.BOOLEAN: st.booleans(),
        Type.PRICE: st.sampled_from([Decimal(0), Decimal("0.000000000001")]),
        Type.COST: st.sampled_from([Decimal(0), Decimal("0.000000000001")]),
        Type.VECTOR: st.lists(st.sampled_from([0.0, 1.5]), max_size=2),
    }[column.type]


def has_sets(table: Table) -> bool:
    return any(column.join is Join.SET for column in table)


def statements_of(table: Table) -> st.SearchStrategy[Statement]:
    """Statements about one row of the table; columns where the later side wins are left out."""
    columns = {
        column.name: st.just("key") if column.name in table.key else st.none() | values_of(column)
        for column in table
        if column.join is not Join.LATEST
    }
    inferred = st.frozensets(st.sampled_from(sorted(columns)))
    return st.builds(Statement, st.fixed_dictionaries(columns), inferred)


@pytest.mark.parametrize("name", [name for name, table in TABLES.items() if not has_sets(table)])
def test_joining_obeys_its_laws(name: str) -> None:
    table = TABLES[name]
    rows = statements_of(table)

    @settings(max_examples=EXAMPLES)
    @given(rows, rows, rows)
    def laws(one: Statement, two: Statement, three: Statement) -> None:
        assert join(table, one, two) == join(table, two, one)
        assert join(table, join(table, one, two), three) == join(table, one, join(table, two, three))
        both = join(table, one, two)
        assert join(table, both, both) == both == join(table, both, one)
        for column, value in join(table, one, one).values.items():
            said = one.values.get(column)
            assert value == (table.column(column).default if said is None else said)

    laws()


@settings(max_examples=1000)
@given(JSON_TEXTS, JSON_TEXTS, JSON_TEXTS)
def test_the_union_of_json_obeys_its_laws(one: str, two: str, three: str) -> None:
    assert join_json(one, two) == join_json(two, one)
    assert join_json(join_json(one, two), three) == join_json(one, join_json(two, three))
    assert join_json(one, one) == one
    assert join_json(one, None) == one == join_json(None, one)


LINTS = TABLES["message_lints"]
SETS = st.lists(statements_of(LINTS), max_size=3)


@given(SETS, SETS, SETS)
def test_joining_sets_obeys_its_laws(one: list[Statement], two: list[Statement], three: list[Statement]) -> None:
    def rows(side: object) -> list[str]:
        assert isinstance(side, list)
        return sorted(repr((sorted(row.values.items()), sorted(row.inferred))) for row in side)

    assert rows(join_sets(LINTS, one, two)) == rows(join_sets(LINTS, two, one))
    assert rows(join_sets(LINTS, join_sets(LINTS, one, two), three)) == rows(
        join_sets(LINTS, one, join_sets(LINTS, two, three))
    )
    assert rows(join_sets(LINTS, one, one)) == rows(one)


def joined(table: str, column: str, one: object, two: object, *inferred: str) -> object:
    """Join two values of a column, of which the first is inferred when the column is named."""
    first = Statement({column: one}, frozenset(inferred))
    return join(TABLES[table], first, Statement({column: two})).values[column]


@pytest.mark.parametrize(
    ("table", "column", "one", "two", "expected"),
    [
        ("turns", "started_at", 7, 5, 5),
        ("turns", "completed_at", 7, 5, 7),
        ("turns", "completed_at", None, 5, 5),
        ("turns", "role", "manager", "unified", "manager"),
        ("tool_calls", "status", "completed", "pending", "completed"),
        ("messages", "content", "Hello wor", "Hello world", "Hello world"),
        ("messages", "content", "b", "aa", "aa"),
        ("messages", "content", "", None, ""),
        ("compactions", "model", "o3", "unknown", "o3"),
        ("compactions", "summary", "", "short", "short"),
        ("requests", "output_tokens", 12, 240, 240),
        ("requests", "is_usage_final", False, True, True),
        ("requests", "reported_cost_usd", Decimal("0.1"), None, Decimal("0.1")),
        ("messages", "metadata_json", '{"uuids": ["b"], "n": 1}', '{"uuids": ["a"]}', '{"n":1,"uuids":["a","b"]}'),
        ("import_sources", "fingerprint", "old", "new", "new"),
        ("import_sources", "fingerprint", "old", None, "old"),
    ],
)
def test_each_rule_keeps_what_it_should(table: str, column: str, one: object, two: object, expected: object) -> None:
    assert joined(table, column, one, two) == expected


def test_what_was_read_beats_what_was_inferred_whatever_the_rule() -> None:
    assert joined("turns", "started_at", 5, 7, "started_at") == 7
    assert joined("compactions", "model", "a longer name", "o3", "model") == "o3"
    assert joined("compactions", "tokens_after", 900, 800, "tokens_after") == 800
    assert joined("compactions", "model", "guessed", "unknown", "model") == "guessed"


def test_a_value_stays_marked_as_inferred_until_it_is_known() -> None:
    turns = TABLES["turns"]
    guess = Statement({"started_at": 5}, frozenset({"started_at"}))
    assert join(turns, guess, Statement({})).inferred == {"started_at"}
    assert join(turns, guess, guess).inferred == {"started_at"}
    assert join(turns, guess, Statement({"started_at": 9})).inferred == frozenset()


def test_evidence_comes_with_the_outcome_it_is_for() -> None:
    decisions = TABLES["permission_decisions"]
    read = Statement({"outcome": "ran", "evidence": "result", "is_inferred": False})
    guessed = Statement({"outcome": "denied_user", "evidence": "a long guess", "is_inferred": True})
    assert join(decisions, read, guessed).values == {
        **dict.fromkeys(decisions.column_names),
        "outcome": "ran",
        "evidence": "result",
        "is_inferred": False,
    }
    later = Statement({"outcome": "denied_user", "evidence": None, "is_inferred": False})
    assert join(decisions, read, later).values["evidence"] is None


def test_the_larger_set_of_a_message_stays_whole() -> None:
    small = [Statement({"id": 9, "file_path": "z"})]
    large = [Statement({"id": 1, "file_path": "b"}), Statement({"id": 2, "file_path": "c"})]
    assert join_sets(LINTS, small, large) == join_sets(LINTS, large, small) == large


def test_how_a_row_of_a_set_is_spelled_makes_no_difference() -> None:
    one, other = [Statement({"id": 1, "message": "a"})], [Statement({"id": 1, "message": "b"})]
    spelled_out = [Statement({name: other[0].values.get(name) for name in LINTS.column_names})]
    assert join_sets(LINTS, one, spelled_out) == spelled_out
    assert join_sets(LINTS, one, other) == other


def test_rows_that_are_taken_together_are_not_mixed_column_by_column() -> None:
    with pytest.raises(ValueError, match="taken together"):
        join(LINTS, Statement({"id": 1}), Statement({"id": 1}))


def test_a_default_says_no_more_than_a_placeholder_and_is_filled_in() -> None:
    decisions = TABLES["permission_decisions"]
    guess = Statement({"outcome": "denied_user", "is_inferred": True})
    assert join(decisions, guess, Statement({"outcome": "unknown"})).values["outcome"] == "denied_user"
    assert join(decisions, Statement({}), Statement({})).values["outcome"] == "unknown"
    filled = join(TABLES["turns"], Statement({"id": "T", "started_at": 1}), Statement({"id": "T"})).values
    assert batch_from_rows(TABLES["turns"], [filled]).num_rows == 1


def test_json_that_was_read_is_not_mixed_with_json_that_was_inferred() -> None:
    assert joined("messages", "metadata_json", '{"n":200}', '{"n":1}', "metadata_json") == '{"n":1}'


def test_vectors_have_one_order_whatever_is_in_them() -> None:
    for one, other in (([math.nan], [1.0]), ([-0.0], [0.0])):
        both = [repr(joined("embeddings", "vec", *pair)) for pair in ((one, other), (other, one))]
        assert both[0] == both[1]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ('{"a": 1}', "[1, 2, 3, 4]", '{"a":1}'),
        ("[1]", '"a long text"', "[1]"),
        ('{"a": 1}', "not JSON at all", '{"a":1}'),
        ("[" * 200 + "]" * 200, "[1]", "[1]"),
        ("[2, 1]", "[1, 3]", "[1,2,3]"),
        ("[1]", '["1"]', '["1",1]'),
        ('{"a": 1.50}', '{"b": 1e400}', '{"a":1.50,"b":1e400}'),
    ],
)
def test_unions_of_json(one: str, other: str, expected: str) -> None:
    assert join_json(one, other) == join_json(other, one) == expected
