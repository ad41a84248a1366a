"""The Agents Ledger Schema, written down by hand: the canonical tables are these columns, in this order."""

import re

import pyarrow as pa
import pytest

from aix.schema import TABLES
from aix.schema.arrow import arrow_schema
from aix.schema.canonical import CANONICAL_TABLES

# name TYPE [NOT NULL] [PRIMARY KEY] [DEFAULT x] [: word | word …]; lists that the definition leaves open have no words.
DEFINITION = {
    "turns": """
        id TEXT PRIMARY KEY
        parent_turn_id TEXT
        turn_type TEXT NOT NULL DEFAULT normal : normal | compaction
        status TEXT NOT NULL DEFAULT pending : pending | streaming | completed | failed
        started_at INTEGER NOT NULL
        completed_at INTEGER
        model TEXT
        provider TEXT
        role TEXT NOT NULL DEFAULT unified : manager | worker | unified
        toolset_name TEXT
        tools_available TEXT
        permissions_granted TEXT
        permissions_used TEXT
        input_tokens INTEGER
        output_tokens INTEGER
        cached_input_tokens INTEGER
        cache_write_tokens INTEGER
        reasoning_tokens INTEGER
        total_tokens INTEGER
        query_message_ids TEXT
        response_message_id TEXT
        has_children INTEGER DEFAULT 0
        tool_call_count INTEGER DEFAULT 0
        source_event_id TEXT
        workspace_path TEXT
    """,
    "threads": """
        turn_id TEXT PRIMARY KEY
        ancestry TEXT
        total_tokens INTEGER
        depth INTEGER
        persona_id TEXT
        system_prompt_hash TEXT
        thread_key TEXT
    """,
    "sessions": """
        label TEXT PRIMARY KEY
        thread_id TEXT NOT NULL
        persona_id TEXT NOT NULL
        is_subagent INTEGER DEFAULT 0
        parent_session_label TEXT
        parent_turn_id TEXT
        spawn_tool_call_id TEXT
        task_description TEXT
        task_status TEXT : pending | running | completed | failed
        routing_key TEXT
        origin TEXT
        origin_session_id TEXT
        created_at INTEGER NOT NULL
        updated_at INTEGER NOT NULL
        status TEXT NOT NULL DEFAULT active : active | archived | deleted
    """,
    "messages": """
        id TEXT PRIMARY KEY
        turn_id TEXT NOT NULL
        role TEXT NOT NULL : user | assistant | system | tool
        content TEXT
        source TEXT : human | trigger | agent | webhook | cron | event
        sequence INTEGER NOT NULL
        created_at INTEGER NOT NULL
        thinking TEXT
        context_json TEXT
        metadata_json TEXT
    """,
    "tool_calls": """
        id TEXT PRIMARY KEY
        turn_id TEXT NOT NULL
        message_id TEXT
        tool_name TEXT NOT NULL
        tool_number INTEGER
        params_json TEXT NOT NULL
        result_json TEXT
        error TEXT
        status TEXT NOT NULL DEFAULT pending : pending | running | completed | failed
        spawned_session_label TEXT
        started_at INTEGER NOT NULL
        completed_at INTEGER
        sequence INTEGER NOT NULL
    """,
    "compactions": """
        turn_id TEXT PRIMARY KEY
        summary TEXT NOT NULL
        summarized_through_turn_id TEXT NOT NULL
        first_kept_turn_id TEXT
        turns_summarized INTEGER
        compaction_type TEXT NOT NULL DEFAULT summary
        model TEXT NOT NULL
        provider TEXT
        tokens_before INTEGER
        tokens_after INTEGER
        summary_tokens INTEGER
        summarization_input_tokens INTEGER
        summarization_output_tokens INTEGER
        duration_ms INTEGER
        trigger TEXT : context_limit | manual | periodic
        metadata_json TEXT
    """,
    "session_history": """
        id INTEGER PRIMARY KEY
        session_label TEXT NOT NULL
        thread_id TEXT NOT NULL
        changed_at INTEGER NOT NULL
    """,
    "session_aliases": """
        alias TEXT PRIMARY KEY
        session_label TEXT NOT NULL
        created_at INTEGER NOT NULL
        reason TEXT : identity_promotion | identity_merge | manual
    """,
    "message_files": """
        id INTEGER PRIMARY KEY
        message_id TEXT NOT NULL
        kind TEXT NOT NULL : read | written | referenced | attached
        file_path TEXT NOT NULL
        line_start INTEGER
        line_end INTEGER
    """,
    "message_lints": """
        id INTEGER PRIMARY KEY
        message_id TEXT NOT NULL
        file_path TEXT
        message TEXT
        lint_source TEXT
        start_line INTEGER
        start_col INTEGER
        end_line INTEGER
        end_col INTEGER
        severity TEXT : error | warning | info
    """,
    "message_codeblocks": """
        id INTEGER PRIMARY KEY
        message_id TEXT NOT NULL
        idx INTEGER NOT NULL
        language TEXT
        content TEXT NOT NULL
        file_path TEXT
        line_start INTEGER
        line_end INTEGER
    """,
}
UNIQUE = {
    "threads": (("thread_key",),),
    "message_files": (("message_id", "kind", "file_path", "line_start"),),
    "message_codeblocks": (("message_id", "idx"),),
}
REFERENCES = """
    turns.parent_turn_id turns.id
    threads.turn_id turns.id
    sessions.thread_id threads.turn_id
    sessions.parent_turn_id turns.id
    messages.turn_id turns.id
    tool_calls.turn_id turns.id
    tool_calls.message_id messages.id
    compactions.turn_id turns.id
    compactions.summarized_through_turn_id turns.id
    compactions.first_kept_turn_id turns.id
    session_history.session_label sessions.label
    session_history.thread_id threads.turn_id
    session_aliases.session_label sessions.label
    message_files.message_id messages.id
    message_lints.message_id messages.id
    message_codeblocks.message_id messages.id
"""
LINE = re.compile(r"(\w+) (TEXT|INTEGER)( PRIMARY KEY)?( NOT NULL)?(?: DEFAULT (\w+))?(?: : (.+))?")


def parse(text: str) -> list[re.Match[str]]:
    matches = [LINE.fullmatch(line.strip()) for line in text.strip().splitlines()]
    assert all(matches), text
    return [match for match in matches if match]


def test_the_canonical_tables_are_the_eleven_of_the_definition() -> None:
    assert [table.name for table in CANONICAL_TABLES] == list(DEFINITION)
    assert all(table.canonical for table in CANONICAL_TABLES)


@pytest.mark.parametrize("name", DEFINITION)
def test_columns_equal_the_definition(name: str) -> None:
    table = TABLES[name]
    defined = parse(DEFINITION[name])
    assert list(table.column_names) == [line[1] for line in defined]
    for column, line in zip(table, defined, strict=True):
        where = f"{name}.{column.name}"
        assert column.type == {"TEXT": "VARCHAR", "INTEGER": "BIGINT"}[line[2]], where
        assert column.nullable == (not line[3] and not line[4]), where
        assert str(column.default) == str(line[5]), where
        assert set(column.words) == set((line[6] or "").split(" | ")) - {""}, where


@pytest.mark.parametrize("name", DEFINITION)
def test_keys_equal_the_definition(name: str) -> None:
    assert TABLES[name].key == tuple(line[1] for line in parse(DEFINITION[name]) if line[3])
    assert TABLES[name].unique == UNIQUE.get(name, ())


def test_every_foreign_key_of_the_definition_is_declared() -> None:
    for line in REFERENCES.split("\n    ")[1:]:
        source, target = line.split()
        table, column = source.split(".")
        assert TABLES[table].column(column).references == target, source


@pytest.mark.parametrize("name", DEFINITION)
def test_arrow_schemas_equal_the_definition(name: str) -> None:
    types = {"TEXT": pa.string(), "INTEGER": pa.int64()}
    fields = [(line[1], types[line[2]], not line[3] and not line[4]) for line in parse(DEFINITION[name])]
    assert [(field.name, field.type, field.nullable) for field in arrow_schema(TABLES[name])] == fields


def test_arrow_fields_carry_their_meaning() -> None:
    field = arrow_schema(TABLES["turns"]).field("started_at")
    assert field.metadata == {b"description": b"When the first query was sent.", b"unit": b"Unix ms"}
