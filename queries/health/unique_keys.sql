-- title: No two rows of a table have the same key
-- question: Which keys stand in several rows?
-- why: Parquet has no keys; a row that is there twice is counted twice.
-- grain: table, columns and values that are not unique
-- invariant: U1
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: Where the columns are not those of the key, `row_id` holds the values that are not unique.

-- Made from aix/schema by docs/generated_queries.py. Do not edit: change those and run `make docs`.
with repeated_key as (
  select 'turns' as table_name, 'id' as column_names, id as row_id, count(*) as copies
  from turns group by id having count(*) > 1
  union all
  select 'threads', 'turn_id', turn_id, count(*)
  from threads group by turn_id having count(*) > 1
  union all
  select 'threads', 'thread_key', thread_key, count(*)
  from threads where thread_key is not null group by thread_key having count(*) > 1
  union all
  select 'sessions', 'label', label, count(*)
  from sessions group by label having count(*) > 1
  union all
  select 'messages', 'id', id, count(*)
  from messages group by id having count(*) > 1
  union all
  select 'tool_calls', 'id', id, count(*)
  from tool_calls group by id having count(*) > 1
  union all
  select 'compactions', 'turn_id', turn_id, count(*)
  from compactions group by turn_id having count(*) > 1
  union all
  select 'session_history', 'id', cast(id as varchar), count(*)
  from session_history group by id having count(*) > 1
  union all
  select 'session_aliases', 'alias', alias, count(*)
  from session_aliases group by alias having count(*) > 1
  union all
  select 'message_files', 'id', cast(id as varchar), count(*)
  from message_files group by id having count(*) > 1
  union all
  select 'message_files', 'message_id, kind, file_path, line_start',
    cast(to_json([message_id, kind, file_path, cast(line_start as varchar)]) as varchar), count(*)
  from message_files group by message_id, kind, file_path, line_start having count(*) > 1
  union all
  select 'message_lints', 'id', cast(id as varchar), count(*)
  from message_lints group by id having count(*) > 1
  union all
  select 'message_codeblocks', 'id', cast(id as varchar), count(*)
  from message_codeblocks group by id having count(*) > 1
  union all
  select 'message_codeblocks', 'message_id, idx',
    cast(to_json([message_id, cast(idx as varchar)]) as varchar), count(*)
  from message_codeblocks group by message_id, idx having count(*) > 1
  union all
  select 'requests', 'id', id, count(*)
  from requests group by id having count(*) > 1
  union all
  select 'prices', 'id', cast(id as varchar), count(*)
  from prices group by id having count(*) > 1
  union all
  select 'prices', 'provider, model, match_rule, valid_from, tier_start_tokens, variant, unit, precedence',
    cast(to_json([provider, model, match_rule, cast(valid_from as varchar), cast(tier_start_tokens as varchar),
    variant, unit, cast(precedence as varchar)]) as varchar), count(*)
  from prices group by provider, model, match_rule, valid_from, tier_start_tokens, variant, unit, precedence
  having count(*) > 1
  union all
  select 'model_prices', 'provider, model, variant, valid_from, tier_start_tokens',
    cast(to_json([provider, model, variant, cast(valid_from as varchar),
    cast(tier_start_tokens as varchar)]) as varchar), count(*)
  from model_prices group by provider, model, variant, valid_from, tier_start_tokens having count(*) > 1
  union all
  select 'turn_context', 'turn_id', turn_id, count(*)
  from turn_context group by turn_id having count(*) > 1
  union all
  select 'session_context', 'label', label, count(*)
  from session_context group by label having count(*) > 1
  union all
  select 'session_turns', 'session_label, turn_id',
    cast(to_json([session_label, turn_id]) as varchar), count(*)
  from session_turns group by session_label, turn_id having count(*) > 1
  union all
  select 'tool_call_facts', 'call_id', call_id, count(*)
  from tool_call_facts group by call_id having count(*) > 1
  union all
  select 'message_facts', 'message_id', message_id, count(*)
  from message_facts group by message_id having count(*) > 1
  union all
  select 'file_paths', 'file_path, workspace_path',
    cast(to_json([file_path, workspace_path]) as varchar), count(*)
  from file_paths group by file_path, workspace_path having count(*) > 1
  union all
  select 'inferred_values', 'table_name, row_key, column_name',
    cast(to_json([table_name, row_key, column_name]) as varchar), count(*)
  from inferred_values group by table_name, row_key, column_name having count(*) > 1
  union all
  select 'permission_decisions', 'call_id', call_id, count(*)
  from permission_decisions group by call_id having count(*) > 1
  union all
  select 'permission_rules', 'origin, scope, file, kind, rule',
    cast(to_json([origin, scope, file, kind, rule]) as varchar), count(*)
  from permission_rules group by origin, scope, file, kind, rule having count(*) > 1
  union all
  select 'import_runs', 'id', id, count(*)
  from import_runs group by id having count(*) > 1
  union all
  select 'import_sources', 'source_key', source_key, count(*)
  from import_sources group by source_key having count(*) > 1
  union all
  select 'import_log', 'run_id, source_key, seq',
    cast(to_json([run_id, source_key, cast(seq as varchar)]) as varchar), count(*)
  from import_log group by run_id, source_key, seq having count(*) > 1
  union all
  select 'import_problems', 'run_id, source_key, seq',
    cast(to_json([run_id, source_key, cast(seq as varchar)]) as varchar), count(*)
  from import_problems group by run_id, source_key, seq having count(*) > 1
  union all
  select 'chat_users', 'id', id, count(*)
  from chat_users group by id having count(*) > 1
  union all
  select 'chat_agents', 'id', id, count(*)
  from chat_agents group by id having count(*) > 1
  union all
  select 'chat_agent_changes', 'id', id, count(*)
  from chat_agent_changes group by id having count(*) > 1
  union all
  select 'chat_conversations', 'id', id, count(*)
  from chat_conversations group by id having count(*) > 1
  union all
  select 'chat_participants', 'id', id, count(*)
  from chat_participants group by id having count(*) > 1
  union all
  select 'dag_events', 'event_id', event_id, count(*)
  from dag_events group by event_id having count(*) > 1
  union all
  select 'dag_nodes', 'kind, node_id, valid_from',
    cast(to_json([kind, node_id, cast(valid_from as varchar)]) as varchar), count(*)
  from dag_nodes group by kind, node_id, valid_from having count(*) > 1
  union all
  select 'dag_edges', 'id', cast(id as varchar), count(*)
  from dag_edges group by id having count(*) > 1
  union all
  select 'programs', 'id', id, count(*)
  from programs group by id having count(*) > 1
  union all
  select 'program_events', 'event_id', event_id, count(*)
  from program_events group by event_id having count(*) > 1
  union all
  select 'tags', 'entity_type, entity_id, tag',
    cast(to_json([entity_type, entity_id, tag]) as varchar), count(*)
  from tags group by entity_type, entity_id, tag having count(*) > 1
  union all
  select 'embeddings', 'entity_type, entity_id, model',
    cast(to_json([entity_type, entity_id, model]) as varchar), count(*)
  from embeddings group by entity_type, entity_id, model having count(*) > 1
)
select table_name, row_id, cast(copies as varchar) || ' rows have the same ' || column_names || '.' as reason
from repeated_key
order by table_name, row_id, reason
