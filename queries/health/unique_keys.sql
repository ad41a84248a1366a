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
with keys as (
  select 'turns' as table_name, 'id' as column_names, id as row_id from turns
  union all select 'threads', 'turn_id', turn_id from threads
  union all select 'threads', 'thread_key', thread_key from threads where thread_key is not null
  union all select 'sessions', 'label', label from sessions
  union all select 'messages', 'id', id from messages
  union all select 'tool_calls', 'id', id from tool_calls
  union all select 'compactions', 'turn_id', turn_id from compactions
  union all select 'session_history', 'id', cast(id as varchar) from session_history
  union all select 'session_aliases', 'alias', alias from session_aliases
  union all select 'message_files', 'id', cast(id as varchar) from message_files
  union all
  select 'message_files', 'message_id, kind, file_path, line_start',
    cast(to_json([message_id, kind, file_path, cast(line_start as varchar)]) as varchar)
  from message_files
  union all select 'message_lints', 'id', cast(id as varchar) from message_lints
  union all select 'message_codeblocks', 'id', cast(id as varchar) from message_codeblocks
  union all
  select 'message_codeblocks', 'message_id, idx',
    cast(to_json([message_id, cast(idx as varchar)]) as varchar)
  from message_codeblocks
  union all select 'requests', 'id', id from requests
  union all select 'prices', 'id', cast(id as varchar) from prices
  union all
  select 'prices', 'provider, model, match_rule, valid_from, tier_start_tokens, variant, unit',
    cast(to_json([
      provider, model, match_rule, cast(valid_from as varchar), cast(tier_start_tokens as varchar), variant, unit
    ]) as varchar)
  from prices
  union all select 'turn_context', 'turn_id', turn_id from turn_context
  union all select 'session_context', 'label', label from session_context
  union all
  select 'session_turns', 'session_label, turn_id',
    cast(to_json([session_label, turn_id]) as varchar)
  from session_turns
  union all select 'tool_call_facts', 'call_id', call_id from tool_call_facts
  union all select 'message_facts', 'message_id', message_id from message_facts
  union all
  select 'file_paths', 'file_path, workspace_path',
    cast(to_json([file_path, workspace_path]) as varchar)
  from file_paths
  union all
  select 'inferred_values', 'table_name, row_key, column_name',
    cast(to_json([table_name, row_key, column_name]) as varchar)
  from inferred_values
  union all select 'permission_decisions', 'call_id', call_id from permission_decisions
  union all
  select 'permission_rules', 'origin, scope, file, kind, rule',
    cast(to_json([origin, scope, file, kind, rule]) as varchar)
  from permission_rules
  union all select 'import_runs', 'id', id from import_runs
  union all select 'import_sources', 'source_key', source_key from import_sources
  union all
  select 'import_log', 'run_id, source_key, seq',
    cast(to_json([run_id, source_key, cast(seq as varchar)]) as varchar)
  from import_log
  union all
  select 'import_problems', 'run_id, source_key, seq',
    cast(to_json([run_id, source_key, cast(seq as varchar)]) as varchar)
  from import_problems
  union all select 'chat_users', 'id', id from chat_users
  union all select 'chat_agents', 'id', id from chat_agents
  union all select 'chat_participants', 'id', id from chat_participants
  union all
  select 'chat_mentions', 'message_id, idx',
    cast(to_json([message_id, cast(idx as varchar)]) as varchar)
  from chat_mentions
  union all select 'dag_events', 'event_id', event_id from dag_events
  union all select 'dag_nodes', 'node_id', node_id from dag_nodes
  union all select 'dag_edges', 'id', cast(id as varchar) from dag_edges
  union all select 'programs', 'id', id from programs
  union all
  select 'tags', 'entity_type, entity_id, tag',
    cast(to_json([entity_type, entity_id, tag]) as varchar)
  from tags
  union all
  select 'embeddings', 'entity_type, entity_id, model',
    cast(to_json([entity_type, entity_id, model]) as varchar)
  from embeddings
)
select table_name, row_id,
  cast(count(*) as varchar) || ' rows have the same ' || column_names || '.' as reason
from keys
group by table_name, column_names, row_id
having count(*) > 1
order by table_name, row_id, reason
