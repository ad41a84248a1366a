"""Every column that Claude Code has something for is filled in a case that is named here."""

import pytest

from aix.schema import TABLES
from tests.importers.claude_code.outlines import expected_tables

FILLED = {
    "turns": {
        "plain_loop": """
            id parent_turn_id turn_type status started_at completed_at model provider role toolset_name
            permissions_granted permissions_used input_tokens output_tokens cached_input_tokens cache_write_tokens
            total_tokens query_message_ids response_message_id has_children tool_call_count source_event_id
            workspace_path
        """,
        "sdk_stream": "tools_available",
    },
    "threads": {"rewind": "turn_id ancestry total_tokens depth persona_id thread_key"},
    "sessions": {
        "nested_layout": """
            label thread_id persona_id is_subagent parent_session_label parent_turn_id spawn_tool_call_id
            task_description task_status routing_key origin origin_session_id created_at updated_at status
        """,
    },
    "messages": {
        "plain_loop": "id turn_id role content source sequence created_at thinking context_json metadata_json",
    },
    "tool_calls": {
        "nested_layout": """
            id turn_id message_id tool_name params_json result_json status spawned_session_label started_at completed_at
            sequence
        """,
        "denials": "error",
    },
    "compactions": {
        "compaction_with_summariser": """
            turn_id summary summarized_through_turn_id turns_summarized compaction_type model provider tokens_before
            tokens_after summary_tokens summarization_input_tokens summarization_output_tokens duration_ms trigger
            metadata_json
        """,
        "compaction_preserved": "first_kept_turn_id",
    },
    "session_history": {"rewind": "id session_label thread_id changed_at"},
    "session_aliases": {"titles_and_aliases": "alias session_label created_at reason"},
    "message_files": {"files_of_calls": "id message_id kind file_path line_start line_end"},
    "message_lints": {
        "lints": "id message_id file_path message lint_source start_line start_col end_line end_col severity",
    },
    "message_codeblocks": {"codeblocks": "id message_id idx language content file_path line_start line_end"},
    "requests": {
        "plain_loop": """
            id turn_id session_label message_id seq requested_at model provider origin_message_id origin_request_id
            input_tokens output_tokens cache_read_tokens cache_write_tokens context_tokens is_usage_final
            estimated_output_tokens stop_reason service_tier git_branch cwd kind
        """,
        "usage_extras": "parent_request_id cache_write_5m_tokens cache_write_1h_tokens web_search_count speed",
        "reported_cost": "latency_ms reported_cost_usd",
    },
    "turn_context": {
        "plain_loop": "turn_id root_turn_id origin origin_session_id turn_key git_branch client_version ended_at",
        "compaction_auto": "continues_turn_id continued_by_turn_id",
        "interrupts": "is_interrupted",
        "usage_extras": "effort",
        "images_and_thinking": "thinking",
    },
    "session_context": {"titles_and_aliases": "label title project raw_path"},
    "session_turns": {"rewind": "session_label turn_id"},
    "tool_call_facts": {"denials": "call_id params_hash params_bytes result_bytes result_chars is_error"},
    "message_facts": {
        "images_and_thinking": "message_id text_chars thinking_chars position",
        "compaction_auto": "is_query",
        "api_errors": "is_error",
    },
    "file_paths": {"files_of_calls": "file_path workspace_path relative_path"},
    "inferred_values": {"sdk_stream": "table_name row_key column_name basis"},
    "permission_decisions": {
        "permission_modes": "call_id turn_id mode class raw_target outcome evidence is_inferred",
    },
    "permission_rules": {"settings_files": "origin scope file position kind rule first_seen_at last_seen_at"},
}
NEVER_FILLED = {
    "turns": {"reasoning_tokens"},  # part of the output
    "threads": {"system_prompt_hash"},  # no log holds the system prompt
    "tool_calls": {"tool_number"},
    "requests": {"reasoning_tokens"},
    "turn_context": {
        "principal",
        "on_behalf_of",
        "situation",
        "context_gauge_tokens",
        "stated_model",
        "stated_provider",
    },
    "session_context": {"context_token_limit", "context_tokens_used", "fingerprint"},
    "message_facts": {"is_response"},  # the role says it
}
NAMED = [
    (table, column, name) for table, cases in FILLED.items() for name, text in cases.items() for column in text.split()
]


@pytest.mark.parametrize(("table", "column", "name"), NAMED)
def test_a_column_is_filled_in_the_case_named(table: str, column: str, name: str) -> None:
    assert any(column in row for row in expected_tables(name)[table])


@pytest.mark.parametrize("table", FILLED)
def test_a_column_is_either_filled_or_said_to_be_empty(table: str) -> None:
    filled = {column for each, column, _ in NAMED if each == table}
    assert filled.isdisjoint(NEVER_FILLED.get(table, set()))
    assert filled | NEVER_FILLED.get(table, set()) == set(TABLES[table].column_names)
