"""Promises of every table and column, canonical or not."""

import re
from collections.abc import Callable

import pytest

from aix.errors import UnknownNameError
from aix.schema import TABLES, Column, Join, Table, Type, Unit, find_table

TEXT_UNITS = {
    Unit.NAME,
    Unit.WORD,
    Unit.TEXT,
    Unit.PATH,
    Unit.HASH,
    Unit.JSON,
    Unit.JSON_ARRAY,
    Unit.JSON_OBJECT,
}
UNIT_OF_SUFFIX = {
    "_at": {Unit.TIME},
    "_ms": {Unit.DURATION},
    "_tokens": {Unit.TOKENS},
    "_bytes": {Unit.BYTES},
    "_chars": {Unit.CHARACTERS},
    "_count": {Unit.COUNT},
    "_usd": {Unit.USD},
    "_hash": {Unit.HASH},
    "_path": {Unit.PATH},
    "_json": {Unit.JSON, Unit.JSON_ARRAY, Unit.JSON_OBJECT},
    "_id": {Unit.ID},
}


def columns_where(breaks: Callable[[Table, Column], bool]) -> list[str]:
    return [f"{table.name}.{column.name}" for table in TABLES.values() for column in table if breaks(table, column)]


def test_every_column_is_described_in_one_sentence_or_more_on_one_line() -> None:
    assert not columns_where(lambda _, column: not re.fullmatch(r"[A-Z0-9`].*[.]", column.description))


@pytest.mark.parametrize(("suffix", "units"), UNIT_OF_SUFFIX.items())
def test_a_name_that_carries_a_unit_has_that_unit(suffix: str, units: set[Unit]) -> None:
    assert not columns_where(lambda _, column: column.name.endswith(suffix) and column.unit not in units)


def test_flags_and_only_flags_are_named_as_questions() -> None:
    questions = ("is_", "has_")
    assert not columns_where(lambda _, column: column.name.startswith(questions) != (column.unit is Unit.FLAG))


def test_the_type_of_a_column_follows_from_its_unit() -> None:
    def allowed(table: Table, unit: Unit) -> set[Type]:
        match unit:
            case Unit.ID:
                return {Type.VARCHAR, Type.BIGINT}
            case Unit.FLAG:
                return {Type.BIGINT if table.canonical else Type.BOOLEAN}
            case Unit.USD:
                return {Type.PRICE, Type.COST}
            case Unit.VECTOR:
                return {Type.VECTOR}
            case _:
                return {Type.VARCHAR if unit in TEXT_UNITS else Type.BIGINT}

    assert not columns_where(lambda table, column: column.type not in allowed(table, column.unit))


def test_closed_lists_of_words_and_only_they_have_words() -> None:
    assert not columns_where(lambda _, column: bool(column.words) != (column.unit is Unit.WORD))
    assert not columns_where(lambda _, column: bool(column.words) and column.default not in (None, *column.words))


def test_join_rules_fit_their_columns() -> None:
    json_sets = {Unit.JSON_ARRAY, Unit.JSON_OBJECT}
    assert not columns_where(lambda table, column: (column.join is Join.KEY) != (column.name in table.key))
    assert not columns_where(lambda _, column: column.join is Join.KEY and column.nullable)
    assert not columns_where(lambda _, column: column.join is Join.FURTHEST and not column.words)
    assert not columns_where(lambda _, column: column.join is Join.UNION and column.unit not in json_sets)


def test_these_columns_and_no_others_are_computed_from_other_rows() -> None:
    derived = """
        turns.status turns.completed_at turns.model turns.provider turns.permissions_used turns.input_tokens
        turns.output_tokens turns.cached_input_tokens turns.cache_write_tokens turns.reasoning_tokens turns.total_tokens
        turns.query_message_ids turns.response_message_id turns.has_children turns.tool_call_count
        threads.ancestry threads.total_tokens threads.depth messages.sequence compactions.turns_summarized
        session_history.session_label session_history.thread_id session_history.changed_at
        turn_context.root_turn_id turn_context.continued_by_turn_id
    """
    assert columns_where(lambda _, column: column.join is Join.DERIVED) == derived.split()


def test_times_and_counts_of_facts_join_towards_the_whole() -> None:
    def joins(*suffixes: str) -> set[Join]:
        stated = [column for table in TABLES.values() for column in table if column.join is not Join.DERIVED]
        return {column.join for column in stated if column.name.endswith(suffixes)}

    assert joins("started_at", "created_at", "requested_at", "first_seen_at", "added_at") == {Join.MIN}
    assert joins("completed_at", "updated_at", "ended_at", "last_seen_at", "finished_at") == {Join.MAX}
    assert {column.join for column in TABLES["requests"] if column.unit is Unit.TOKENS} == {Join.MAX}


def test_rows_that_are_taken_together_are_those_of_a_message() -> None:
    by_set = {table.name for table in TABLES.values() if any(column.join is Join.SET for column in table)}
    assert by_set == {"message_files", "message_lints", "message_codeblocks"}


def test_a_row_with_columns_that_go_along_has_one_word_to_go_with() -> None:
    for table in TABLES.values():
        if any(column.join is Join.ALONG for column in table):
            assert [column.join for column in table].count(Join.FURTHEST) == 1


def test_a_reference_names_a_column_of_the_same_type() -> None:
    def dangles(_: Table, column: Column) -> bool:
        if column.references is None:
            return False
        table, name = column.references.split(".")
        return TABLES[table].column(name).type != column.type

    assert not columns_where(dangles)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_table_is_described_and_its_keys_exist(table: Table) -> None:
    assert table.description.endswith(".")
    assert len(set(table.column_names)) == len(table.columns)
    assert table.key
    for group in (table.key, *table.unique):
        assert set(group) <= set(table.column_names)


def test_an_unknown_table_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError) as caught:
        find_table("turn")
    assert caught.value.name == "turn"
    assert "turns" in caught.value.remedy
