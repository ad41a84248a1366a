"""The extension tables, written down by hand: those of the specification (1.12), and what derived columns need."""

import pytest

from aix.schema import EXTENSION_TABLES, TABLES

SPECIFIED = {
    "requests": "id turn_id session_label message_id seq requested_at model provider origin_message_id"
    " origin_request_id parent_request_id input_tokens output_tokens cache_read_tokens cache_write_tokens"
    " cache_write_5m_tokens cache_write_1h_tokens reasoning_tokens context_tokens web_search_count is_usage_final"
    " estimated_output_tokens stop_reason service_tier speed latency_ms reported_cost_usd git_branch cwd kind",
    "turn_context": "turn_id root_turn_id origin origin_session_id turn_key continues_turn_id continued_by_turn_id"
    " is_interrupted git_branch client_version effort thinking principal on_behalf_of situation context_gauge_tokens"
    " ended_at stated_model stated_provider",
    "permission_decisions": "call_id turn_id mode class raw_target outcome evidence is_inferred",
    "permission_rules": "origin scope file position kind rule first_seen_at last_seen_at",
    "tool_call_facts": "call_id params_hash params_bytes result_bytes result_chars is_error",
    "message_facts": "message_id text_chars thinking_chars position is_query is_response is_error",
    "session_turns": "session_label turn_id",
    "inferred_values": "table_name row_key column_name basis",
    "session_context": "label title project context_token_limit context_tokens_used raw_path fingerprint",
    "import_sources": "source_key importer importer_version kind path fingerprint size_bytes mtime_ns watermark machine"
    " last_run_id",
    "import_runs": "id started_at finished_at tool_version argv",
    "import_log": "run_id source_key seq session_label status reason counts_json",
    "import_problems": "run_id source_key seq line byte_offset kind reason sample",
    "chat_users": "id name email image extra_json updated_at",
    "chat_agents": "id name description personality tools created_by kind system_agent_kind avatar_url last_active_at"
    " is_public is_private invited_users is_removal_restricted extra_json updated_at",
    "chat_agent_changes": "id agent_id action changed_by changed_at extra_json",
    "chat_conversations": "id title created_by created_at last_message_at extra_json updated_at",
    "chat_participants": "id conversation_id kind user_id agent_id added_at added_by status is_removed removed_at"
    " removed_by extra_json updated_at",
    "dag_events": "event_id claimed_event_id kind occurred_at agent_id run_id seq position correlation_id payload_json",
    "dag_nodes": "kind node_id valid_from valid_to payload_json",
    "dag_edges": "id type src_kind src dst_kind dst valid_from valid_to payload_json",
    "programs": "id program_type lifecycle config_json updated_at",
    "program_events": "event_id claimed_event_id kind program_id occurred_at position principal_type principal"
    " on_behalf_of payload_json",
    "tags": "entity_type entity_id tag added_at",
    "embeddings": "entity_type entity_id model dim vec",
    "file_paths": "file_path workspace_path relative_path",
    "prices": "id provider model match_rule valid_from valid_to tier_start_tokens variant unit price_usd source"
    " source_version checked_at precedence",
    "model_prices": "provider model variant valid_from valid_to tier_start_tokens tier_end_tokens input_usd output_usd"
    " cache_read_usd cache_write_5m_usd cache_write_1h_usd web_search_usd price_basis",
}
WORDS = {
    "requests.kind": "main compaction side advisor",
    "permission_decisions.class": "read write exec net mcp spawn ask meta",
    "permission_decisions.outcome": "ran denied_user denied_rule denied_mode denied_hook denied_directory not_granted"
    " interrupted failed pending unknown",
    "permission_rules.scope": "managed user project local command_line persona",
    "permission_rules.kind": "allow ask deny directory mode",
    "import_log.status": "imported upserted skipped failed",
}


def test_the_extension_tables_are_those_of_the_specification() -> None:
    assert {table.name for table in EXTENSION_TABLES} == set(SPECIFIED)
    assert not any(table.canonical for table in EXTENSION_TABLES)


@pytest.mark.parametrize("name", SPECIFIED)
def test_columns_equal_the_specification(name: str) -> None:
    assert list(TABLES[name].column_names) == SPECIFIED[name].split()


@pytest.mark.parametrize("name", WORDS)
def test_words_equal_the_specification(name: str) -> None:
    table, column = name.split(".")
    assert set(TABLES[table].column(column).words) == set(WORDS[name].split())
