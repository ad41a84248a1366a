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
-- reads: text

-- Made from aix/schema by docs/generated_queries.py. Do not edit: change those and run `make docs`.
-- Rows of turns by the origin of the turn.
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
-- Rows of threads by the origin of their turn.
of_threads as (
  select c.origin as origin, count(*) as row_count, count(t.turn_id) as known_turn_id,
    count(t.ancestry) as known_ancestry, count(t.total_tokens) as known_total_tokens, count(t.depth) as known_depth,
    count(t.persona_id) as known_persona_id, count(t.system_prompt_hash) as known_system_prompt_hash,
    count(t.thread_key) as known_thread_key
  from threads t
  left join turn_context c on c.turn_id = t.turn_id
  group by c.origin
),
-- Rows of sessions by the origin of the row itself.
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
-- Rows of messages by the origin of their turn, without texts.
message_row as (
  select c.origin as origin, count(*) as row_count, count(t.id) as known_id, count(t.turn_id) as known_turn_id,
    count(t.role) as known_role, count(t.source) as known_source, count(t.sequence) as known_sequence,
    count(t.created_at) as known_created_at
  from messages t
  left join turn_context c on c.turn_id = t.turn_id
  group by c.origin
),
-- Their texts, which v_turn_messages has counted for each turn.
message_text as (
  select c.origin as origin, cast(sum(t.with_content) as bigint) as known_content,
    cast(sum(t.with_thinking) as bigint) as known_thinking, cast(sum(t.with_context) as bigint) as known_context_json,
    cast(sum(t.with_metadata) as bigint) as known_metadata_json
  from v_turn_messages t
  left join turn_context c on c.turn_id = t.turn_id
  group by c.origin
),
-- Both together.
of_messages as (
  select r.*, t.known_content, t.known_thinking, t.known_context_json, t.known_metadata_json
  from message_row r
  join message_text t on t.origin is not distinct from r.origin
),
-- Rows of tool_calls by the origin of their turn, without texts.
tool_call_row as (
  select c.origin as origin, count(*) as row_count, count(t.id) as known_id, count(t.turn_id) as known_turn_id,
    count(t.message_id) as known_message_id, count(t.tool_name) as known_tool_name,
    count(t.tool_number) as known_tool_number, count(t.status) as known_status,
    count(t.spawned_session_label) as known_spawned_session_label, count(t.started_at) as known_started_at,
    count(t.completed_at) as known_completed_at, count(t.sequence) as known_sequence
  from tool_calls t
  left join turn_context c on c.turn_id = t.turn_id
  group by c.origin
),
-- Their texts, which v_turn_calls has counted for each turn.
tool_call_text as (
  select c.origin as origin, cast(sum(t.with_params) as bigint) as known_params_json,
    cast(sum(t.with_result) as bigint) as known_result_json, cast(sum(t.with_error) as bigint) as known_error
  from v_turn_calls t
  left join turn_context c on c.turn_id = t.turn_id
  group by c.origin
),
-- Both together.
of_tool_calls as (
  select r.*, t.known_params_json, t.known_result_json, t.known_error
  from tool_call_row r
  join tool_call_text t on t.origin is not distinct from r.origin
),
-- Rows of compactions by the origin of their turn.
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
-- Rows of session_history by the origin of their session.
of_session_history as (
  select s.origin as origin, count(*) as row_count, count(t.id) as known_id,
    count(t.session_label) as known_session_label, count(t.thread_id) as known_thread_id,
    count(t.changed_at) as known_changed_at
  from session_history t
  left join sessions s on s.label = t.session_label
  group by s.origin
),
-- Rows of session_aliases by the origin of their session.
of_session_aliases as (
  select s.origin as origin, count(*) as row_count, count(t.alias) as known_alias,
    count(t.session_label) as known_session_label, count(t.created_at) as known_created_at,
    count(t.reason) as known_reason
  from session_aliases t
  left join sessions s on s.label = t.session_label
  group by s.origin
),
-- Rows of message_files by the origin of their message.
of_message_files as (
  select c.origin as origin, count(*) as row_count, count(t.id) as known_id, count(t.message_id) as known_message_id,
    count(t.kind) as known_kind, count(t.file_path) as known_file_path, count(t.line_start) as known_line_start,
    count(t.line_end) as known_line_end
  from message_files t
  left join messages m on m.id = t.message_id
  left join turn_context c on c.turn_id = m.turn_id
  group by c.origin
),
-- Rows of message_lints by the origin of their message.
of_message_lints as (
  select c.origin as origin, count(*) as row_count, count(t.id) as known_id, count(t.message_id) as known_message_id,
    count(t.file_path) as known_file_path, count(t.message) as known_message,
    count(t.lint_source) as known_lint_source, count(t.start_line) as known_start_line,
    count(t.start_col) as known_start_col, count(t.end_line) as known_end_line, count(t.end_col) as known_end_col,
    count(t.severity) as known_severity
  from message_lints t
  left join messages m on m.id = t.message_id
  left join turn_context c on c.turn_id = m.turn_id
  group by c.origin
),
-- Rows of message_codeblocks by the origin of their message.
of_message_codeblocks as (
  select c.origin as origin, count(*) as row_count, count(t.id) as known_id, count(t.message_id) as known_message_id,
    count(t.idx) as known_idx, count(t.language) as known_language, count(t.content) as known_content,
    count(t.file_path) as known_file_path, count(t.line_start) as known_line_start,
    count(t.line_end) as known_line_end
  from message_codeblocks t
  left join messages m on m.id = t.message_id
  left join turn_context c on c.turn_id = m.turn_id
  group by c.origin
),
-- Rows of requests by the origin of their turn, else of their session.
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
-- Rows of turn_context by the origin of the row itself.
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
-- Rows of session_context by the origin of their session.
of_session_context as (
  select s.origin as origin, count(*) as row_count, count(t.label) as known_label, count(t.title) as known_title,
    count(t.project) as known_project, count(t.context_token_limit) as known_context_token_limit,
    count(t.context_tokens_used) as known_context_tokens_used, count(t.raw_path) as known_raw_path,
    count(t.fingerprint) as known_fingerprint
  from session_context t
  left join sessions s on s.label = t.label
  group by s.origin
),
-- Rows of tool_call_facts by the origin of their call.
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
-- Rows of message_facts by the origin of their message.
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
-- Rows of permission_decisions by the origin of their call.
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
-- Rows of permission_rules by the origin of the row itself.
of_permission_rules as (
  select t.origin as origin, count(*) as row_count, count(t.origin) as known_origin, count(t.scope) as known_scope,
    count(t.file) as known_file, count(t."position") as known_position, count(t.kind) as known_kind,
    count(t.rule) as known_rule, count(t.first_seen_at) as known_first_seen_at,
    count(t.last_seen_at) as known_last_seen_at
  from permission_rules t
  group by t.origin
),
-- All columns, in the order of the schema. Each table is counted once, and its counts then become rows: an engine that
-- reads a CTE again wherever it is named would else count it once for every column.
counted_column as (
  select place, table_name, column_name from (values
    (1, 'turns', 'id'), (2, 'turns', 'parent_turn_id'), (3, 'turns', 'turn_type'), (4, 'turns', 'status'),
    (5, 'turns', 'started_at'), (6, 'turns', 'completed_at'), (7, 'turns', 'model'), (8, 'turns', 'provider'),
    (9, 'turns', 'role'), (10, 'turns', 'toolset_name'), (11, 'turns', 'tools_available'),
    (12, 'turns', 'permissions_granted'), (13, 'turns', 'permissions_used'), (14, 'turns', 'input_tokens'),
    (15, 'turns', 'output_tokens'), (16, 'turns', 'cached_input_tokens'), (17, 'turns', 'cache_write_tokens'),
    (18, 'turns', 'reasoning_tokens'), (19, 'turns', 'total_tokens'), (20, 'turns', 'query_message_ids'),
    (21, 'turns', 'response_message_id'), (22, 'turns', 'has_children'), (23, 'turns', 'tool_call_count'),
    (24, 'turns', 'source_event_id'), (25, 'turns', 'workspace_path'), (26, 'threads', 'turn_id'),
    (27, 'threads', 'ancestry'), (28, 'threads', 'total_tokens'), (29, 'threads', 'depth'),
    (30, 'threads', 'persona_id'), (31, 'threads', 'system_prompt_hash'), (32, 'threads', 'thread_key'),
    (33, 'sessions', 'label'), (34, 'sessions', 'thread_id'), (35, 'sessions', 'persona_id'),
    (36, 'sessions', 'is_subagent'), (37, 'sessions', 'parent_session_label'), (38, 'sessions', 'parent_turn_id'),
    (39, 'sessions', 'spawn_tool_call_id'), (40, 'sessions', 'task_description'), (41, 'sessions', 'task_status'),
    (42, 'sessions', 'routing_key'), (43, 'sessions', 'origin'), (44, 'sessions', 'origin_session_id'),
    (45, 'sessions', 'created_at'), (46, 'sessions', 'updated_at'), (47, 'sessions', 'status'),
    (48, 'messages', 'id'), (49, 'messages', 'turn_id'), (50, 'messages', 'role'), (51, 'messages', 'content'),
    (52, 'messages', 'source'), (53, 'messages', 'sequence'), (54, 'messages', 'created_at'),
    (55, 'messages', 'thinking'), (56, 'messages', 'context_json'), (57, 'messages', 'metadata_json'),
    (58, 'tool_calls', 'id'), (59, 'tool_calls', 'turn_id'), (60, 'tool_calls', 'message_id'),
    (61, 'tool_calls', 'tool_name'), (62, 'tool_calls', 'tool_number'), (63, 'tool_calls', 'params_json'),
    (64, 'tool_calls', 'result_json'), (65, 'tool_calls', 'error'), (66, 'tool_calls', 'status'),
    (67, 'tool_calls', 'spawned_session_label'), (68, 'tool_calls', 'started_at'), (69, 'tool_calls', 'completed_at'),
    (70, 'tool_calls', 'sequence'), (71, 'compactions', 'turn_id'), (72, 'compactions', 'summary'),
    (73, 'compactions', 'summarized_through_turn_id'), (74, 'compactions', 'first_kept_turn_id'),
    (75, 'compactions', 'turns_summarized'), (76, 'compactions', 'compaction_type'), (77, 'compactions', 'model'),
    (78, 'compactions', 'provider'), (79, 'compactions', 'tokens_before'), (80, 'compactions', 'tokens_after'),
    (81, 'compactions', 'summary_tokens'), (82, 'compactions', 'summarization_input_tokens'),
    (83, 'compactions', 'summarization_output_tokens'), (84, 'compactions', 'duration_ms'),
    (85, 'compactions', 'trigger'), (86, 'compactions', 'metadata_json'), (87, 'session_history', 'id'),
    (88, 'session_history', 'session_label'), (89, 'session_history', 'thread_id'),
    (90, 'session_history', 'changed_at'), (91, 'session_aliases', 'alias'), (92, 'session_aliases', 'session_label'),
    (93, 'session_aliases', 'created_at'), (94, 'session_aliases', 'reason'), (95, 'message_files', 'id'),
    (96, 'message_files', 'message_id'), (97, 'message_files', 'kind'), (98, 'message_files', 'file_path'),
    (99, 'message_files', 'line_start'), (100, 'message_files', 'line_end'), (101, 'message_lints', 'id'),
    (102, 'message_lints', 'message_id'), (103, 'message_lints', 'file_path'), (104, 'message_lints', 'message'),
    (105, 'message_lints', 'lint_source'), (106, 'message_lints', 'start_line'), (107, 'message_lints', 'start_col'),
    (108, 'message_lints', 'end_line'), (109, 'message_lints', 'end_col'), (110, 'message_lints', 'severity'),
    (111, 'message_codeblocks', 'id'), (112, 'message_codeblocks', 'message_id'), (113, 'message_codeblocks', 'idx'),
    (114, 'message_codeblocks', 'language'), (115, 'message_codeblocks', 'content'),
    (116, 'message_codeblocks', 'file_path'), (117, 'message_codeblocks', 'line_start'),
    (118, 'message_codeblocks', 'line_end'), (119, 'requests', 'id'), (120, 'requests', 'turn_id'),
    (121, 'requests', 'session_label'), (122, 'requests', 'message_id'), (123, 'requests', 'seq'),
    (124, 'requests', 'requested_at'), (125, 'requests', 'model'), (126, 'requests', 'provider'),
    (127, 'requests', 'origin_message_id'), (128, 'requests', 'origin_request_id'),
    (129, 'requests', 'parent_request_id'), (130, 'requests', 'input_tokens'), (131, 'requests', 'output_tokens'),
    (132, 'requests', 'cache_read_tokens'), (133, 'requests', 'cache_write_tokens'),
    (134, 'requests', 'cache_write_5m_tokens'), (135, 'requests', 'cache_write_1h_tokens'),
    (136, 'requests', 'reasoning_tokens'), (137, 'requests', 'context_tokens'), (138, 'requests', 'web_search_count'),
    (139, 'requests', 'is_usage_final'), (140, 'requests', 'estimated_output_tokens'),
    (141, 'requests', 'stop_reason'), (142, 'requests', 'service_tier'), (143, 'requests', 'speed'),
    (144, 'requests', 'latency_ms'), (145, 'requests', 'reported_cost_usd'), (146, 'requests', 'git_branch'),
    (147, 'requests', 'cwd'), (148, 'requests', 'kind'), (149, 'turn_context', 'turn_id'),
    (150, 'turn_context', 'root_turn_id'), (151, 'turn_context', 'origin'),
    (152, 'turn_context', 'origin_session_id'), (153, 'turn_context', 'turn_key'),
    (154, 'turn_context', 'continues_turn_id'), (155, 'turn_context', 'continued_by_turn_id'),
    (156, 'turn_context', 'is_interrupted'), (157, 'turn_context', 'git_branch'),
    (158, 'turn_context', 'client_version'), (159, 'turn_context', 'effort'), (160, 'turn_context', 'thinking'),
    (161, 'turn_context', 'principal'), (162, 'turn_context', 'on_behalf_of'), (163, 'turn_context', 'situation'),
    (164, 'turn_context', 'context_gauge_tokens'), (165, 'turn_context', 'ended_at'),
    (166, 'turn_context', 'stated_model'), (167, 'turn_context', 'stated_provider'),
    (168, 'session_context', 'label'), (169, 'session_context', 'title'), (170, 'session_context', 'project'),
    (171, 'session_context', 'context_token_limit'), (172, 'session_context', 'context_tokens_used'),
    (173, 'session_context', 'raw_path'), (174, 'session_context', 'fingerprint'),
    (175, 'tool_call_facts', 'call_id'), (176, 'tool_call_facts', 'params_hash'),
    (177, 'tool_call_facts', 'params_bytes'), (178, 'tool_call_facts', 'result_bytes'),
    (179, 'tool_call_facts', 'result_chars'), (180, 'tool_call_facts', 'is_error'),
    (181, 'message_facts', 'message_id'), (182, 'message_facts', 'text_chars'),
    (183, 'message_facts', 'thinking_chars'), (184, 'message_facts', 'position'), (185, 'message_facts', 'is_query'),
    (186, 'message_facts', 'is_response'), (187, 'message_facts', 'is_error'),
    (188, 'permission_decisions', 'call_id'), (189, 'permission_decisions', 'turn_id'),
    (190, 'permission_decisions', 'mode'), (191, 'permission_decisions', 'class'),
    (192, 'permission_decisions', 'raw_target'), (193, 'permission_decisions', 'outcome'),
    (194, 'permission_decisions', 'evidence'), (195, 'permission_decisions', 'is_inferred'),
    (196, 'permission_rules', 'origin'), (197, 'permission_rules', 'scope'), (198, 'permission_rules', 'file'),
    (199, 'permission_rules', 'position'), (200, 'permission_rules', 'kind'), (201, 'permission_rules', 'rule'),
    (202, 'permission_rules', 'first_seen_at'), (203, 'permission_rules', 'last_seen_at')
  ) as listed(place, table_name, column_name)
),
-- A row for each origin, table and column.
known_values as (
  select c.place, t.origin, c.table_name, c.column_name, t.row_count,
    case c.column_name
      when 'id' then t.known_id when 'parent_turn_id' then t.known_parent_turn_id
      when 'turn_type' then t.known_turn_type when 'status' then t.known_status
      when 'started_at' then t.known_started_at when 'completed_at' then t.known_completed_at
      when 'model' then t.known_model when 'provider' then t.known_provider when 'role' then t.known_role
      when 'toolset_name' then t.known_toolset_name when 'tools_available' then t.known_tools_available
      when 'permissions_granted' then t.known_permissions_granted
      when 'permissions_used' then t.known_permissions_used when 'input_tokens' then t.known_input_tokens
      when 'output_tokens' then t.known_output_tokens when 'cached_input_tokens' then t.known_cached_input_tokens
      when 'cache_write_tokens' then t.known_cache_write_tokens when 'reasoning_tokens' then t.known_reasoning_tokens
      when 'total_tokens' then t.known_total_tokens when 'query_message_ids' then t.known_query_message_ids
      when 'response_message_id' then t.known_response_message_id when 'has_children' then t.known_has_children
      when 'tool_call_count' then t.known_tool_call_count when 'source_event_id' then t.known_source_event_id
      when 'workspace_path' then t.known_workspace_path
    end as known_count
  from of_turns t join counted_column c on c.table_name = 'turns'
  union all
  select c.place, t.origin, c.table_name, c.column_name, t.row_count,
    case c.column_name
      when 'turn_id' then t.known_turn_id when 'ancestry' then t.known_ancestry
      when 'total_tokens' then t.known_total_tokens when 'depth' then t.known_depth
      when 'persona_id' then t.known_persona_id when 'system_prompt_hash' then t.known_system_prompt_hash
      when 'thread_key' then t.known_thread_key
    end
  from of_threads t join counted_column c on c.table_name = 'threads'
  union all
  select c.place, t.origin, c.table_name, c.column_name, t.row_count,
    case c.column_name
      when 'label' then t.known_label when 'thread_id' then t.known_thread_id
      when 'persona_id' then t.known_persona_id when 'is_subagent' then t.known_is_subagent
      when 'parent_session_label' then t.known_parent_session_label when 'parent_turn_id' then t.known_parent_turn_id
      when 'spawn_tool_call_id' then t.known_spawn_tool_call_id when 'task_description' then t.known_task_description
      when 'task_status' then t.known_task_status when 'routing_key' then t.known_routing_key
      when 'origin' then t.known_origin when 'origin_session_id' then t.known_origin_session_id
      when 'created_at' then t.known_created_at when 'updated_at' then t.known_updated_at
      when 'status' then t.known_status
    end
  from of_sessions t join counted_column c on c.table_name = 'sessions'
  union all
  select c.place, t.origin, c.table_name, c.column_name, t.row_count,
    case c.column_name
      when 'id' then t.known_id when 'turn_id' then t.known_turn_id when 'role' then t.known_role
      when 'content' then t.known_content when 'source' then t.known_source when 'sequence' then t.known_sequence
      when 'created_at' then t.known_created_at when 'thinking' then t.known_thinking
      when 'context_json' then t.known_context_json when 'metadata_json' then t.known_metadata_json
    end
  from of_messages t join counted_column c on c.table_name = 'messages'
  union all
  select c.place, t.origin, c.table_name, c.column_name, t.row_count,
    case c.column_name
      when 'id' then t.known_id when 'turn_id' then t.known_turn_id when 'message_id' then t.known_message_id
      when 'tool_name' then t.known_tool_name when 'tool_number' then t.known_tool_number
      when 'params_json' then t.known_params_json when 'result_json' then t.known_result_json
      when 'error' then t.known_error when 'status' then t.known_status
      when 'spawned_session_label' then t.known_spawned_session_label when 'started_at' then t.known_started_at
      when 'completed_at' then t.known_completed_at when 'sequence' then t.known_sequence
    end
  from of_tool_calls t join counted_column c on c.table_name = 'tool_calls'
  union all
  select c.place, t.origin, c.table_name, c.column_name, t.row_count,
    case c.column_name
      when 'turn_id' then t.known_turn_id when 'summary' then t.known_summary
      when 'summarized_through_turn_id' then t.known_summarized_through_turn_id
      when 'first_kept_turn_id' then t.known_first_kept_turn_id when 'turns_summarized' then t.known_turns_summarized
      when 'compaction_type' then t.known_compaction_type when 'model' then t.known_model
      when 'provider' then t.known_provider when 'tokens_before' then t.known_tokens_before
      when 'tokens_after' then t.known_tokens_after when 'summary_tokens' then t.known_summary_tokens
      when 'summarization_input_tokens' then t.known_summarization_input_tokens
      when 'summarization_output_tokens' then t.known_summarization_output_tokens
      when 'duration_ms' then t.known_duration_ms when 'trigger' then t.known_trigger
      when 'metadata_json' then t.known_metadata_json
    end
  from of_compactions t join counted_column c on c.table_name = 'compactions'
  union all
  select c.place, t.origin, c.table_name, c.column_name, t.row_count,
    case c.column_name
      when 'id' then t.known_id when 'session_label' then t.known_session_label
      when 'thread_id' then t.known_thread_id when 'changed_at' then t.known_changed_at
    end
  from of_session_history t join counted_column c on c.table_name = 'session_history'
  union all
  select c.place, t.origin, c.table_name, c.column_name, t.row_count,
    case c.column_name
      when 'alias' then t.known_alias when 'session_label' then t.known_session_label
      when 'created_at' then t.known_created_at when 'reason' then t.known_reason
    end
  from of_session_aliases t join counted_column c on c.table_name = 'session_aliases'
  union all
  select c.place, t.origin, c.table_name, c.column_name, t.row_count,
    case c.column_name
      when 'id' then t.known_id when 'message_id' then t.known_message_id when 'kind' then t.known_kind
      when 'file_path' then t.known_file_path when 'line_start' then t.known_line_start
      when 'line_end' then t.known_line_end
    end
  from of_message_files t join counted_column c on c.table_name = 'message_files'
  union all
  select c.place, t.origin, c.table_name, c.column_name, t.row_count,
    case c.column_name
      when 'id' then t.known_id when 'message_id' then t.known_message_id when 'file_path' then t.known_file_path
      when 'message' then t.known_message when 'lint_source' then t.known_lint_source
      when 'start_line' then t.known_start_line when 'start_col' then t.known_start_col
      when 'end_line' then t.known_end_line when 'end_col' then t.known_end_col when 'severity' then t.known_severity
    end
  from of_message_lints t join counted_column c on c.table_name = 'message_lints'
  union all
  select c.place, t.origin, c.table_name, c.column_name, t.row_count,
    case c.column_name
      when 'id' then t.known_id when 'message_id' then t.known_message_id when 'idx' then t.known_idx
      when 'language' then t.known_language when 'content' then t.known_content
      when 'file_path' then t.known_file_path when 'line_start' then t.known_line_start
      when 'line_end' then t.known_line_end
    end
  from of_message_codeblocks t join counted_column c on c.table_name = 'message_codeblocks'
  union all
  select c.place, t.origin, c.table_name, c.column_name, t.row_count,
    case c.column_name
      when 'id' then t.known_id when 'turn_id' then t.known_turn_id when 'session_label' then t.known_session_label
      when 'message_id' then t.known_message_id when 'seq' then t.known_seq
      when 'requested_at' then t.known_requested_at when 'model' then t.known_model
      when 'provider' then t.known_provider when 'origin_message_id' then t.known_origin_message_id
      when 'origin_request_id' then t.known_origin_request_id when 'parent_request_id' then t.known_parent_request_id
      when 'input_tokens' then t.known_input_tokens when 'output_tokens' then t.known_output_tokens
      when 'cache_read_tokens' then t.known_cache_read_tokens
      when 'cache_write_tokens' then t.known_cache_write_tokens
      when 'cache_write_5m_tokens' then t.known_cache_write_5m_tokens
      when 'cache_write_1h_tokens' then t.known_cache_write_1h_tokens
      when 'reasoning_tokens' then t.known_reasoning_tokens when 'context_tokens' then t.known_context_tokens
      when 'web_search_count' then t.known_web_search_count when 'is_usage_final' then t.known_is_usage_final
      when 'estimated_output_tokens' then t.known_estimated_output_tokens when 'stop_reason' then t.known_stop_reason
      when 'service_tier' then t.known_service_tier when 'speed' then t.known_speed
      when 'latency_ms' then t.known_latency_ms when 'reported_cost_usd' then t.known_reported_cost_usd
      when 'git_branch' then t.known_git_branch when 'cwd' then t.known_cwd when 'kind' then t.known_kind
    end
  from of_requests t join counted_column c on c.table_name = 'requests'
  union all
  select c.place, t.origin, c.table_name, c.column_name, t.row_count,
    case c.column_name
      when 'turn_id' then t.known_turn_id when 'root_turn_id' then t.known_root_turn_id
      when 'origin' then t.known_origin when 'origin_session_id' then t.known_origin_session_id
      when 'turn_key' then t.known_turn_key when 'continues_turn_id' then t.known_continues_turn_id
      when 'continued_by_turn_id' then t.known_continued_by_turn_id when 'is_interrupted' then t.known_is_interrupted
      when 'git_branch' then t.known_git_branch when 'client_version' then t.known_client_version
      when 'effort' then t.known_effort when 'thinking' then t.known_thinking when 'principal' then t.known_principal
      when 'on_behalf_of' then t.known_on_behalf_of when 'situation' then t.known_situation
      when 'context_gauge_tokens' then t.known_context_gauge_tokens when 'ended_at' then t.known_ended_at
      when 'stated_model' then t.known_stated_model when 'stated_provider' then t.known_stated_provider
    end
  from of_turn_context t join counted_column c on c.table_name = 'turn_context'
  union all
  select c.place, t.origin, c.table_name, c.column_name, t.row_count,
    case c.column_name
      when 'label' then t.known_label when 'title' then t.known_title when 'project' then t.known_project
      when 'context_token_limit' then t.known_context_token_limit
      when 'context_tokens_used' then t.known_context_tokens_used when 'raw_path' then t.known_raw_path
      when 'fingerprint' then t.known_fingerprint
    end
  from of_session_context t join counted_column c on c.table_name = 'session_context'
  union all
  select c.place, t.origin, c.table_name, c.column_name, t.row_count,
    case c.column_name
      when 'call_id' then t.known_call_id when 'params_hash' then t.known_params_hash
      when 'params_bytes' then t.known_params_bytes when 'result_bytes' then t.known_result_bytes
      when 'result_chars' then t.known_result_chars when 'is_error' then t.known_is_error
    end
  from of_tool_call_facts t join counted_column c on c.table_name = 'tool_call_facts'
  union all
  select c.place, t.origin, c.table_name, c.column_name, t.row_count,
    case c.column_name
      when 'message_id' then t.known_message_id when 'text_chars' then t.known_text_chars
      when 'thinking_chars' then t.known_thinking_chars when 'position' then t.known_position
      when 'is_query' then t.known_is_query when 'is_response' then t.known_is_response
      when 'is_error' then t.known_is_error
    end
  from of_message_facts t join counted_column c on c.table_name = 'message_facts'
  union all
  select c.place, t.origin, c.table_name, c.column_name, t.row_count,
    case c.column_name
      when 'call_id' then t.known_call_id when 'turn_id' then t.known_turn_id when 'mode' then t.known_mode
      when 'class' then t.known_class when 'raw_target' then t.known_raw_target when 'outcome' then t.known_outcome
      when 'evidence' then t.known_evidence when 'is_inferred' then t.known_is_inferred
    end
  from of_permission_decisions t join counted_column c on c.table_name = 'permission_decisions'
  union all
  select c.place, t.origin, c.table_name, c.column_name, t.row_count,
    case c.column_name
      when 'origin' then t.known_origin when 'scope' then t.known_scope when 'file' then t.known_file
      when 'position' then t.known_position when 'kind' then t.known_kind when 'rule' then t.known_rule
      when 'first_seen_at' then t.known_first_seen_at when 'last_seen_at' then t.known_last_seen_at
    end
  from of_permission_rules t join counted_column c on c.table_name = 'permission_rules'
)
select origin, table_name, column_name, row_count, known_count,
  cast(known_count as double) / row_count as known_share
from known_values
order by origin nulls last, place
