-- title: How much of each column is known, by origin
-- question: For each tool, which columns do its logs fill, and for what share of the rows?
-- why: Figures of two tools can be compared only where both report them, and an importer must not lose what it had.
-- grain: origin, table and column
-- column origin: VARCHAR; the tool whose logs were imported; NULL for rows that belong to no turn and no session
-- column table_name: VARCHAR; the table: the canonical ones, and the extensions that importers fill
-- column column_name: VARCHAR; the column
-- column row_count: BIGINT; rows of that origin in the table
-- column known_count: BIGINT; rows in which the column is not NULL
-- column known_share: DOUBLE; the second by the first, from 0 to 1
-- caveat: An empty list, an empty text and 0 are known.
-- caveat: What cannot apply to a row, such as the error of a call that succeeded, is NULL there, so few shares are 1.
-- caveat: A table without rows of an origin has none here. Columns that AIX derives are known for every tool.
with of_turns as (
  select c.origin as origin, count(*) as row_count, count(t.id) as known_id,
    count(t.parent_turn_id) as known_parent_turn_id, count(t.turn_type) as known_turn_type,
    count(t.status) as known_status, count(t.started_at) as known_started_at,
    count(t.completed_at) as known_completed_at, count(t.model) as known_model, count(t.provider) as known_provider,
    count(t.role) as known_role, count(t.toolset_name) as known_toolset_name,
    count(t.tools_available) as known_tools_available, count(t.permissions_granted) as known_permissions_granted,
    count(t.permissions_used) as known_permissions_used, count(t.input_tokens) as known_input_tokens,
    count(t.output_tokens) as known_output_tokens, count(t.cached_input_tokens) as known_cached_input_tokens,
    count(t.cache_write_tokens) as known_cache_write_tokens, count(t.reasoning_tokens) as known_reasoning_tokens,
    count(t.total_tokens) as known_total_tokens, count(t.query_message_ids) as known_query_message_ids,
    count(t.response_message_id) as known_response_message_id, count(t.has_children) as known_has_children,
    count(t.tool_call_count) as known_tool_call_count, count(t.source_event_id) as known_source_event_id,
    count(t.workspace_path) as known_workspace_path
  from turns t
  left join turn_context c on c.turn_id = t.id
  group by c.origin
),
of_threads as (
  select c.origin as origin, count(*) as row_count, count(t.turn_id) as known_turn_id,
    count(t.ancestry) as known_ancestry, count(t.total_tokens) as known_total_tokens, count(t.depth) as known_depth,
    count(t.persona_id) as known_persona_id, count(t.system_prompt_hash) as known_system_prompt_hash,
    count(t.thread_key) as known_thread_key
  from threads t
  left join turn_context c on c.turn_id = t.turn_id
  group by c.origin
),
of_sessions as (
  select t.origin as origin, count(*) as row_count, count(t.label) as known_label,
    count(t.thread_id) as known_thread_id, count(t.persona_id) as known_persona_id,
    count(t.is_subagent) as known_is_subagent, count(t.parent_session_label) as known_parent_session_label,
    count(t.parent_turn_id) as known_parent_turn_id, count(t.spawn_tool_call_id) as known_spawn_tool_call_id,
    count(t.task_description) as known_task_description, count(t.task_status) as known_task_status,
    count(t.routing_key) as known_routing_key, count(t.origin) as known_origin,
    count(t.origin_session_id) as known_origin_session_id, count(t.created_at) as known_created_at,
    count(t.updated_at) as known_updated_at, count(t.status) as known_status
  from sessions t
  group by t.origin
),
of_messages as (
  select c.origin as origin, count(*) as row_count, count(t.id) as known_id, count(t.turn_id) as known_turn_id,
    count(t.role) as known_role, count(t.content) as known_content, count(t.source) as known_source,
    count(t.sequence) as known_sequence, count(t.created_at) as known_created_at,
    count(t.thinking) as known_thinking, count(t.context_json) as known_context_json,
    count(t.metadata_json) as known_metadata_json
  from messages t
  left join turn_context c on c.turn_id = t.turn_id
  group by c.origin
),
of_tool_calls as (
  select c.origin as origin, count(*) as row_count, count(t.id) as known_id, count(t.turn_id) as known_turn_id,
    count(t.message_id) as known_message_id, count(t.tool_name) as known_tool_name,
    count(t.tool_number) as known_tool_number, count(t.params_json) as known_params_json,
    count(t.result_json) as known_result_json, count(t.error) as known_error, count(t.status) as known_status,
    count(t.spawned_session_label) as known_spawned_session_label, count(t.started_at) as known_started_at,
    count(t.completed_at) as known_completed_at, count(t.sequence) as known_sequence
  from tool_calls t
  left join turn_context c on c.turn_id = t.turn_id
  group by c.origin
),
of_compactions as (
  select c.origin as origin, count(*) as row_count, count(t.turn_id) as known_turn_id,
    count(t.summary) as known_summary, count(t.summarized_through_turn_id) as known_summarized_through_turn_id,
    count(t.first_kept_turn_id) as known_first_kept_turn_id, count(t.turns_summarized) as known_turns_summarized,
    count(t.compaction_type) as known_compaction_type, count(t.model) as known_model,
    count(t.provider) as known_provider, count(t.tokens_before) as known_tokens_before,
    count(t.tokens_after) as known_tokens_after, count(t.summary_tokens) as known_summary_tokens,
    count(t.summarization_input_tokens) as known_summarization_input_tokens,
    count(t.summarization_output_tokens) as known_summarization_output_tokens,
    count(t.duration_ms) as known_duration_ms, count(t."trigger") as known_trigger,
    count(t.metadata_json) as known_metadata_json
  from compactions t
  left join turn_context c on c.turn_id = t.turn_id
  group by c.origin
),
of_session_history as (
  select s.origin as origin, count(*) as row_count, count(t.id) as known_id,
    count(t.session_label) as known_session_label, count(t.thread_id) as known_thread_id,
    count(t.changed_at) as known_changed_at
  from session_history t
  left join sessions s on s.label = t.session_label
  group by s.origin
),
of_session_aliases as (
  select s.origin as origin, count(*) as row_count, count(t.alias) as known_alias,
    count(t.session_label) as known_session_label, count(t.created_at) as known_created_at,
    count(t.reason) as known_reason
  from session_aliases t
  left join sessions s on s.label = t.session_label
  group by s.origin
),
of_message_files as (
  select c.origin as origin, count(*) as row_count, count(t.id) as known_id,
    count(t.message_id) as known_message_id, count(t.kind) as known_kind, count(t.file_path) as known_file_path,
    count(t.line_start) as known_line_start, count(t.line_end) as known_line_end
  from message_files t
  left join messages m on m.id = t.message_id
  left join turn_context c on c.turn_id = m.turn_id
  group by c.origin
),
of_message_lints as (
  select c.origin as origin, count(*) as row_count, count(t.id) as known_id,
    count(t.message_id) as known_message_id, count(t.file_path) as known_file_path,
    count(t.message) as known_message, count(t.lint_source) as known_lint_source,
    count(t.start_line) as known_start_line, count(t.start_col) as known_start_col,
    count(t.end_line) as known_end_line, count(t.end_col) as known_end_col, count(t.severity) as known_severity
  from message_lints t
  left join messages m on m.id = t.message_id
  left join turn_context c on c.turn_id = m.turn_id
  group by c.origin
),
of_message_codeblocks as (
  select c.origin as origin, count(*) as row_count, count(t.id) as known_id,
    count(t.message_id) as known_message_id, count(t.idx) as known_idx, count(t.language) as known_language,
    count(t.content) as known_content, count(t.file_path) as known_file_path,
    count(t.line_start) as known_line_start, count(t.line_end) as known_line_end
  from message_codeblocks t
  left join messages m on m.id = t.message_id
  left join turn_context c on c.turn_id = m.turn_id
  group by c.origin
),
of_requests as (
  select coalesce(c.origin, s.origin) as origin, count(*) as row_count, count(t.id) as known_id,
    count(t.turn_id) as known_turn_id, count(t.session_label) as known_session_label,
    count(t.message_id) as known_message_id, count(t.seq) as known_seq, count(t.requested_at) as known_requested_at,
    count(t.model) as known_model, count(t.provider) as known_provider,
    count(t.origin_message_id) as known_origin_message_id, count(t.origin_request_id) as known_origin_request_id,
    count(t.parent_request_id) as known_parent_request_id, count(t.input_tokens) as known_input_tokens,
    count(t.output_tokens) as known_output_tokens, count(t.cache_read_tokens) as known_cache_read_tokens,
    count(t.cache_write_tokens) as known_cache_write_tokens,
    count(t.cache_write_5m_tokens) as known_cache_write_5m_tokens,
    count(t.cache_write_1h_tokens) as known_cache_write_1h_tokens,
    count(t.reasoning_tokens) as known_reasoning_tokens, count(t.context_tokens) as known_context_tokens,
    count(t.web_search_count) as known_web_search_count, count(t.is_usage_final) as known_is_usage_final,
    count(t.estimated_output_tokens) as known_estimated_output_tokens, count(t.stop_reason) as known_stop_reason,
    count(t.service_tier) as known_service_tier, count(t.speed) as known_speed,
    count(t.latency_ms) as known_latency_ms, count(t.reported_cost_usd) as known_reported_cost_usd,
    count(t.git_branch) as known_git_branch, count(t.cwd) as known_cwd, count(t.kind) as known_kind
  from requests t
  left join turn_context c on c.turn_id = t.turn_id
  left join sessions s on s.label = t.session_label
  group by coalesce(c.origin, s.origin)
),
of_turn_context as (
  select t.origin as origin, count(*) as row_count, count(t.turn_id) as known_turn_id,
    count(t.root_turn_id) as known_root_turn_id, count(t.origin) as known_origin,
    count(t.origin_session_id) as known_origin_session_id, count(t.turn_key) as known_turn_key,
    count(t.continues_turn_id) as known_continues_turn_id,
    count(t.continued_by_turn_id) as known_continued_by_turn_id, count(t.is_interrupted) as known_is_interrupted,
    count(t.git_branch) as known_git_branch, count(t.client_version) as known_client_version,
    count(t.effort) as known_effort, count(t.thinking) as known_thinking, count(t.principal) as known_principal,
    count(t.on_behalf_of) as known_on_behalf_of, count(t.situation) as known_situation,
    count(t.context_gauge_tokens) as known_context_gauge_tokens, count(t.ended_at) as known_ended_at,
    count(t.stated_model) as known_stated_model, count(t.stated_provider) as known_stated_provider
  from turn_context t
  group by t.origin
),
of_session_context as (
  select s.origin as origin, count(*) as row_count, count(t.label) as known_label, count(t.title) as known_title,
    count(t.project) as known_project, count(t.context_token_limit) as known_context_token_limit,
    count(t.context_tokens_used) as known_context_tokens_used, count(t.raw_path) as known_raw_path,
    count(t.fingerprint) as known_fingerprint
  from session_context t
  left join sessions s on s.label = t.label
  group by s.origin
),
of_tool_call_facts as (
  select c.origin as origin, count(*) as row_count, count(t.call_id) as known_call_id,
    count(t.params_hash) as known_params_hash, count(t.params_bytes) as known_params_bytes,
    count(t.result_bytes) as known_result_bytes, count(t.result_chars) as known_result_chars,
    count(t.is_error) as known_is_error
  from tool_call_facts t
  left join tool_calls k on k.id = t.call_id
  left join turn_context c on c.turn_id = k.turn_id
  group by c.origin
),
of_message_facts as (
  select c.origin as origin, count(*) as row_count, count(t.message_id) as known_message_id,
    count(t.text_chars) as known_text_chars, count(t.thinking_chars) as known_thinking_chars,
    count(t."position") as known_position, count(t.is_query) as known_is_query,
    count(t.is_response) as known_is_response, count(t.is_error) as known_is_error
  from message_facts t
  left join messages m on m.id = t.message_id
  left join turn_context c on c.turn_id = m.turn_id
  group by c.origin
),
of_permission_decisions as (
  select c.origin as origin, count(*) as row_count, count(t.call_id) as known_call_id,
    count(t.turn_id) as known_turn_id, count(t.mode) as known_mode, count(t."class") as known_class,
    count(t.raw_target) as known_raw_target, count(t.outcome) as known_outcome, count(t.evidence) as known_evidence,
    count(t.is_inferred) as known_is_inferred
  from permission_decisions t
  left join tool_calls k on k.id = t.call_id
  left join turn_context c on c.turn_id = k.turn_id
  group by c.origin
),
of_permission_rules as (
  select t.origin as origin, count(*) as row_count, count(t.origin) as known_origin, count(t.scope) as known_scope,
    count(t.file) as known_file, count(t."position") as known_position, count(t.kind) as known_kind,
    count(t.rule) as known_rule, count(t.first_seen_at) as known_first_seen_at,
    count(t.last_seen_at) as known_last_seen_at
  from permission_rules t
  group by t.origin
),
known as (
  select 1 as place, origin, 'turns' as table_name, 'id' as column_name,
    row_count, known_id as known_count from of_turns
  union all select 2, origin, 'turns', 'parent_turn_id', row_count, known_parent_turn_id from of_turns
  union all select 3, origin, 'turns', 'turn_type', row_count, known_turn_type from of_turns
  union all select 4, origin, 'turns', 'status', row_count, known_status from of_turns
  union all select 5, origin, 'turns', 'started_at', row_count, known_started_at from of_turns
  union all select 6, origin, 'turns', 'completed_at', row_count, known_completed_at from of_turns
  union all select 7, origin, 'turns', 'model', row_count, known_model from of_turns
  union all select 8, origin, 'turns', 'provider', row_count, known_provider from of_turns
  union all select 9, origin, 'turns', 'role', row_count, known_role from of_turns
  union all select 10, origin, 'turns', 'toolset_name', row_count, known_toolset_name from of_turns
  union all select 11, origin, 'turns', 'tools_available', row_count, known_tools_available from of_turns
  union all select 12, origin, 'turns', 'permissions_granted', row_count, known_permissions_granted from of_turns
  union all select 13, origin, 'turns', 'permissions_used', row_count, known_permissions_used from of_turns
  union all select 14, origin, 'turns', 'input_tokens', row_count, known_input_tokens from of_turns
  union all select 15, origin, 'turns', 'output_tokens', row_count, known_output_tokens from of_turns
  union all select 16, origin, 'turns', 'cached_input_tokens', row_count, known_cached_input_tokens from of_turns
  union all select 17, origin, 'turns', 'cache_write_tokens', row_count, known_cache_write_tokens from of_turns
  union all select 18, origin, 'turns', 'reasoning_tokens', row_count, known_reasoning_tokens from of_turns
  union all select 19, origin, 'turns', 'total_tokens', row_count, known_total_tokens from of_turns
  union all select 20, origin, 'turns', 'query_message_ids', row_count, known_query_message_ids from of_turns
  union all select 21, origin, 'turns', 'response_message_id', row_count, known_response_message_id from of_turns
  union all select 22, origin, 'turns', 'has_children', row_count, known_has_children from of_turns
  union all select 23, origin, 'turns', 'tool_call_count', row_count, known_tool_call_count from of_turns
  union all select 24, origin, 'turns', 'source_event_id', row_count, known_source_event_id from of_turns
  union all select 25, origin, 'turns', 'workspace_path', row_count, known_workspace_path from of_turns
  union all select 26, origin, 'threads', 'turn_id', row_count, known_turn_id from of_threads
  union all select 27, origin, 'threads', 'ancestry', row_count, known_ancestry from of_threads
  union all select 28, origin, 'threads', 'total_tokens', row_count, known_total_tokens from of_threads
  union all select 29, origin, 'threads', 'depth', row_count, known_depth from of_threads
  union all select 30, origin, 'threads', 'persona_id', row_count, known_persona_id from of_threads
  union all select 31, origin, 'threads', 'system_prompt_hash', row_count, known_system_prompt_hash from of_threads
  union all select 32, origin, 'threads', 'thread_key', row_count, known_thread_key from of_threads
  union all select 33, origin, 'sessions', 'label', row_count, known_label from of_sessions
  union all select 34, origin, 'sessions', 'thread_id', row_count, known_thread_id from of_sessions
  union all select 35, origin, 'sessions', 'persona_id', row_count, known_persona_id from of_sessions
  union all select 36, origin, 'sessions', 'is_subagent', row_count, known_is_subagent from of_sessions
  union all select 37, origin, 'sessions', 'parent_session_label',
    row_count, known_parent_session_label from of_sessions
  union all select 38, origin, 'sessions', 'parent_turn_id', row_count, known_parent_turn_id from of_sessions
  union all select 39, origin, 'sessions', 'spawn_tool_call_id', row_count, known_spawn_tool_call_id from of_sessions
  union all select 40, origin, 'sessions', 'task_description', row_count, known_task_description from of_sessions
  union all select 41, origin, 'sessions', 'task_status', row_count, known_task_status from of_sessions
  union all select 42, origin, 'sessions', 'routing_key', row_count, known_routing_key from of_sessions
  union all select 43, origin, 'sessions', 'origin', row_count, known_origin from of_sessions
  union all select 44, origin, 'sessions', 'origin_session_id', row_count, known_origin_session_id from of_sessions
  union all select 45, origin, 'sessions', 'created_at', row_count, known_created_at from of_sessions
  union all select 46, origin, 'sessions', 'updated_at', row_count, known_updated_at from of_sessions
  union all select 47, origin, 'sessions', 'status', row_count, known_status from of_sessions
  union all select 48, origin, 'messages', 'id', row_count, known_id from of_messages
  union all select 49, origin, 'messages', 'turn_id', row_count, known_turn_id from of_messages
  union all select 50, origin, 'messages', 'role', row_count, known_role from of_messages
  union all select 51, origin, 'messages', 'content', row_count, known_content from of_messages
  union all select 52, origin, 'messages', 'source', row_count, known_source from of_messages
  union all select 53, origin, 'messages', 'sequence', row_count, known_sequence from of_messages
  union all select 54, origin, 'messages', 'created_at', row_count, known_created_at from of_messages
  union all select 55, origin, 'messages', 'thinking', row_count, known_thinking from of_messages
  union all select 56, origin, 'messages', 'context_json', row_count, known_context_json from of_messages
  union all select 57, origin, 'messages', 'metadata_json', row_count, known_metadata_json from of_messages
  union all select 58, origin, 'tool_calls', 'id', row_count, known_id from of_tool_calls
  union all select 59, origin, 'tool_calls', 'turn_id', row_count, known_turn_id from of_tool_calls
  union all select 60, origin, 'tool_calls', 'message_id', row_count, known_message_id from of_tool_calls
  union all select 61, origin, 'tool_calls', 'tool_name', row_count, known_tool_name from of_tool_calls
  union all select 62, origin, 'tool_calls', 'tool_number', row_count, known_tool_number from of_tool_calls
  union all select 63, origin, 'tool_calls', 'params_json', row_count, known_params_json from of_tool_calls
  union all select 64, origin, 'tool_calls', 'result_json', row_count, known_result_json from of_tool_calls
  union all select 65, origin, 'tool_calls', 'error', row_count, known_error from of_tool_calls
  union all select 66, origin, 'tool_calls', 'status', row_count, known_status from of_tool_calls
  union all select 67, origin, 'tool_calls', 'spawned_session_label',
    row_count, known_spawned_session_label from of_tool_calls
  union all select 68, origin, 'tool_calls', 'started_at', row_count, known_started_at from of_tool_calls
  union all select 69, origin, 'tool_calls', 'completed_at', row_count, known_completed_at from of_tool_calls
  union all select 70, origin, 'tool_calls', 'sequence', row_count, known_sequence from of_tool_calls
  union all select 71, origin, 'compactions', 'turn_id', row_count, known_turn_id from of_compactions
  union all select 72, origin, 'compactions', 'summary', row_count, known_summary from of_compactions
  union all select 73, origin, 'compactions', 'summarized_through_turn_id',
    row_count, known_summarized_through_turn_id from of_compactions
  union all select 74, origin, 'compactions', 'first_kept_turn_id',
    row_count, known_first_kept_turn_id from of_compactions
  union all select 75, origin, 'compactions', 'turns_summarized', row_count, known_turns_summarized from of_compactions
  union all select 76, origin, 'compactions', 'compaction_type', row_count, known_compaction_type from of_compactions
  union all select 77, origin, 'compactions', 'model', row_count, known_model from of_compactions
  union all select 78, origin, 'compactions', 'provider', row_count, known_provider from of_compactions
  union all select 79, origin, 'compactions', 'tokens_before', row_count, known_tokens_before from of_compactions
  union all select 80, origin, 'compactions', 'tokens_after', row_count, known_tokens_after from of_compactions
  union all select 81, origin, 'compactions', 'summary_tokens', row_count, known_summary_tokens from of_compactions
  union all select 82, origin, 'compactions', 'summarization_input_tokens',
    row_count, known_summarization_input_tokens from of_compactions
  union all select 83, origin, 'compactions', 'summarization_output_tokens',
    row_count, known_summarization_output_tokens from of_compactions
  union all select 84, origin, 'compactions', 'duration_ms', row_count, known_duration_ms from of_compactions
  union all select 85, origin, 'compactions', 'trigger', row_count, known_trigger from of_compactions
  union all select 86, origin, 'compactions', 'metadata_json', row_count, known_metadata_json from of_compactions
  union all select 87, origin, 'session_history', 'id', row_count, known_id from of_session_history
  union all select 88, origin, 'session_history', 'session_label',
    row_count, known_session_label from of_session_history
  union all select 89, origin, 'session_history', 'thread_id', row_count, known_thread_id from of_session_history
  union all select 90, origin, 'session_history', 'changed_at', row_count, known_changed_at from of_session_history
  union all select 91, origin, 'session_aliases', 'alias', row_count, known_alias from of_session_aliases
  union all select 92, origin, 'session_aliases', 'session_label',
    row_count, known_session_label from of_session_aliases
  union all select 93, origin, 'session_aliases', 'created_at', row_count, known_created_at from of_session_aliases
  union all select 94, origin, 'session_aliases', 'reason', row_count, known_reason from of_session_aliases
  union all select 95, origin, 'message_files', 'id', row_count, known_id from of_message_files
  union all select 96, origin, 'message_files', 'message_id', row_count, known_message_id from of_message_files
  union all select 97, origin, 'message_files', 'kind', row_count, known_kind from of_message_files
  union all select 98, origin, 'message_files', 'file_path', row_count, known_file_path from of_message_files
  union all select 99, origin, 'message_files', 'line_start', row_count, known_line_start from of_message_files
  union all select 100, origin, 'message_files', 'line_end', row_count, known_line_end from of_message_files
  union all select 101, origin, 'message_lints', 'id', row_count, known_id from of_message_lints
  union all select 102, origin, 'message_lints', 'message_id', row_count, known_message_id from of_message_lints
  union all select 103, origin, 'message_lints', 'file_path', row_count, known_file_path from of_message_lints
  union all select 104, origin, 'message_lints', 'message', row_count, known_message from of_message_lints
  union all select 105, origin, 'message_lints', 'lint_source', row_count, known_lint_source from of_message_lints
  union all select 106, origin, 'message_lints', 'start_line', row_count, known_start_line from of_message_lints
  union all select 107, origin, 'message_lints', 'start_col', row_count, known_start_col from of_message_lints
  union all select 108, origin, 'message_lints', 'end_line', row_count, known_end_line from of_message_lints
  union all select 109, origin, 'message_lints', 'end_col', row_count, known_end_col from of_message_lints
  union all select 110, origin, 'message_lints', 'severity', row_count, known_severity from of_message_lints
  union all select 111, origin, 'message_codeblocks', 'id', row_count, known_id from of_message_codeblocks
  union all select 112, origin, 'message_codeblocks', 'message_id',
    row_count, known_message_id from of_message_codeblocks
  union all select 113, origin, 'message_codeblocks', 'idx', row_count, known_idx from of_message_codeblocks
  union all select 114, origin, 'message_codeblocks', 'language', row_count, known_language from of_message_codeblocks
  union all select 115, origin, 'message_codeblocks', 'content', row_count, known_content from of_message_codeblocks
  union all select 116, origin, 'message_codeblocks', 'file_path', row_count, known_file_path from of_message_codeblocks
  union all select 117, origin, 'message_codeblocks', 'line_start',
    row_count, known_line_start from of_message_codeblocks
  union all select 118, origin, 'message_codeblocks', 'line_end', row_count, known_line_end from of_message_codeblocks
  union all select 119, origin, 'requests', 'id', row_count, known_id from of_requests
  union all select 120, origin, 'requests', 'turn_id', row_count, known_turn_id from of_requests
  union all select 121, origin, 'requests', 'session_label', row_count, known_session_label from of_requests
  union all select 122, origin, 'requests', 'message_id', row_count, known_message_id from of_requests
  union all select 123, origin, 'requests', 'seq', row_count, known_seq from of_requests
  union all select 124, origin, 'requests', 'requested_at', row_count, known_requested_at from of_requests
  union all select 125, origin, 'requests', 'model', row_count, known_model from of_requests
  union all select 126, origin, 'requests', 'provider', row_count, known_provider from of_requests
  union all select 127, origin, 'requests', 'origin_message_id', row_count, known_origin_message_id from of_requests
  union all select 128, origin, 'requests', 'origin_request_id', row_count, known_origin_request_id from of_requests
  union all select 129, origin, 'requests', 'parent_request_id', row_count, known_parent_request_id from of_requests
  union all select 130, origin, 'requests', 'input_tokens', row_count, known_input_tokens from of_requests
  union all select 131, origin, 'requests', 'output_tokens', row_count, known_output_tokens from of_requests
  union all select 132, origin, 'requests', 'cache_read_tokens', row_count, known_cache_read_tokens from of_requests
  union all select 133, origin, 'requests', 'cache_write_tokens', row_count, known_cache_write_tokens from of_requests
  union all select 134, origin, 'requests', 'cache_write_5m_tokens',
    row_count, known_cache_write_5m_tokens from of_requests
  union all select 135, origin, 'requests', 'cache_write_1h_tokens',
    row_count, known_cache_write_1h_tokens from of_requests
  union all select 136, origin, 'requests', 'reasoning_tokens', row_count, known_reasoning_tokens from of_requests
  union all select 137, origin, 'requests', 'context_tokens', row_count, known_context_tokens from of_requests
  union all select 138, origin, 'requests', 'web_search_count', row_count, known_web_search_count from of_requests
  union all select 139, origin, 'requests', 'is_usage_final', row_count, known_is_usage_final from of_requests
  union all select 140, origin, 'requests', 'estimated_output_tokens',
    row_count, known_estimated_output_tokens from of_requests
  union all select 141, origin, 'requests', 'stop_reason', row_count, known_stop_reason from of_requests
  union all select 142, origin, 'requests', 'service_tier', row_count, known_service_tier from of_requests
  union all select 143, origin, 'requests', 'speed', row_count, known_speed from of_requests
  union all select 144, origin, 'requests', 'latency_ms', row_count, known_latency_ms from of_requests
  union all select 145, origin, 'requests', 'reported_cost_usd', row_count, known_reported_cost_usd from of_requests
  union all select 146, origin, 'requests', 'git_branch', row_count, known_git_branch from of_requests
  union all select 147, origin, 'requests', 'cwd', row_count, known_cwd from of_requests
  union all select 148, origin, 'requests', 'kind', row_count, known_kind from of_requests
  union all select 149, origin, 'turn_context', 'turn_id', row_count, known_turn_id from of_turn_context
  union all select 150, origin, 'turn_context', 'root_turn_id', row_count, known_root_turn_id from of_turn_context
  union all select 151, origin, 'turn_context', 'origin', row_count, known_origin from of_turn_context
  union all select 152, origin, 'turn_context', 'origin_session_id',
    row_count, known_origin_session_id from of_turn_context
  union all select 153, origin, 'turn_context', 'turn_key', row_count, known_turn_key from of_turn_context
  union all select 154, origin, 'turn_context', 'continues_turn_id',
    row_count, known_continues_turn_id from of_turn_context
  union all select 155, origin, 'turn_context', 'continued_by_turn_id',
    row_count, known_continued_by_turn_id from of_turn_context
  union all select 156, origin, 'turn_context', 'is_interrupted', row_count, known_is_interrupted from of_turn_context
  union all select 157, origin, 'turn_context', 'git_branch', row_count, known_git_branch from of_turn_context
  union all select 158, origin, 'turn_context', 'client_version', row_count, known_client_version from of_turn_context
  union all select 159, origin, 'turn_context', 'effort', row_count, known_effort from of_turn_context
  union all select 160, origin, 'turn_context', 'thinking', row_count, known_thinking from of_turn_context
  union all select 161, origin, 'turn_context', 'principal', row_count, known_principal from of_turn_context
  union all select 162, origin, 'turn_context', 'on_behalf_of', row_count, known_on_behalf_of from of_turn_context
  union all select 163, origin, 'turn_context', 'situation', row_count, known_situation from of_turn_context
  union all select 164, origin, 'turn_context', 'context_gauge_tokens',
    row_count, known_context_gauge_tokens from of_turn_context
  union all select 165, origin, 'turn_context', 'ended_at', row_count, known_ended_at from of_turn_context
  union all select 166, origin, 'turn_context', 'stated_model', row_count, known_stated_model from of_turn_context
  union all select 167, origin, 'turn_context', 'stated_provider', row_count, known_stated_provider from of_turn_context
  union all select 168, origin, 'session_context', 'label', row_count, known_label from of_session_context
  union all select 169, origin, 'session_context', 'title', row_count, known_title from of_session_context
  union all select 170, origin, 'session_context', 'project', row_count, known_project from of_session_context
  union all select 171, origin, 'session_context', 'context_token_limit',
    row_count, known_context_token_limit from of_session_context
  union all select 172, origin, 'session_context', 'context_tokens_used',
    row_count, known_context_tokens_used from of_session_context
  union all select 173, origin, 'session_context', 'raw_path', row_count, known_raw_path from of_session_context
  union all select 174, origin, 'session_context', 'fingerprint', row_count, known_fingerprint from of_session_context
  union all select 175, origin, 'tool_call_facts', 'call_id', row_count, known_call_id from of_tool_call_facts
  union all select 176, origin, 'tool_call_facts', 'params_hash', row_count, known_params_hash from of_tool_call_facts
  union all select 177, origin, 'tool_call_facts', 'params_bytes', row_count, known_params_bytes from of_tool_call_facts
  union all select 178, origin, 'tool_call_facts', 'result_bytes', row_count, known_result_bytes from of_tool_call_facts
  union all select 179, origin, 'tool_call_facts', 'result_chars', row_count, known_result_chars from of_tool_call_facts
  union all select 180, origin, 'tool_call_facts', 'is_error', row_count, known_is_error from of_tool_call_facts
  union all select 181, origin, 'message_facts', 'message_id', row_count, known_message_id from of_message_facts
  union all select 182, origin, 'message_facts', 'text_chars', row_count, known_text_chars from of_message_facts
  union all select 183, origin, 'message_facts', 'thinking_chars', row_count, known_thinking_chars from of_message_facts
  union all select 184, origin, 'message_facts', 'position', row_count, known_position from of_message_facts
  union all select 185, origin, 'message_facts', 'is_query', row_count, known_is_query from of_message_facts
  union all select 186, origin, 'message_facts', 'is_response', row_count, known_is_response from of_message_facts
  union all select 187, origin, 'message_facts', 'is_error', row_count, known_is_error from of_message_facts
  union all select 188, origin, 'permission_decisions', 'call_id', row_count, known_call_id from of_permission_decisions
  union all select 189, origin, 'permission_decisions', 'turn_id', row_count, known_turn_id from of_permission_decisions
  union all select 190, origin, 'permission_decisions', 'mode', row_count, known_mode from of_permission_decisions
  union all select 191, origin, 'permission_decisions', 'class', row_count, known_class from of_permission_decisions
  union all select 192, origin, 'permission_decisions', 'raw_target',
    row_count, known_raw_target from of_permission_decisions
  union all select 193, origin, 'permission_decisions', 'outcome', row_count, known_outcome from of_permission_decisions
  union all select 194, origin, 'permission_decisions', 'evidence',
    row_count, known_evidence from of_permission_decisions
  union all select 195, origin, 'permission_decisions', 'is_inferred',
    row_count, known_is_inferred from of_permission_decisions
  union all select 196, origin, 'permission_rules', 'origin', row_count, known_origin from of_permission_rules
  union all select 197, origin, 'permission_rules', 'scope', row_count, known_scope from of_permission_rules
  union all select 198, origin, 'permission_rules', 'file', row_count, known_file from of_permission_rules
  union all select 199, origin, 'permission_rules', 'position', row_count, known_position from of_permission_rules
  union all select 200, origin, 'permission_rules', 'kind', row_count, known_kind from of_permission_rules
  union all select 201, origin, 'permission_rules', 'rule', row_count, known_rule from of_permission_rules
  union all select 202, origin, 'permission_rules', 'first_seen_at',
    row_count, known_first_seen_at from of_permission_rules
  union all select 203, origin, 'permission_rules', 'last_seen_at',
    row_count, known_last_seen_at from of_permission_rules
)
select origin, table_name, column_name, row_count, known_count,
  cast(known_count as double) / row_count as known_share
from known
order by origin nulls last, place
