-- title: What bookkeeping, side requests and chat exports name is in the ledger
-- question: Which rows name something that a source may leave out, and that is not there?
-- why: Such rows are right as they are; they only join with nothing.
-- grain: row and column that names something
-- invariant: I5b
-- severity: warning
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it

-- A request may name a session whose log was never imported.
with to_sessions as (
  select 'requests' as table_name, id as row_id, 'session_label' as column_name, session_label as named_id
  from requests
),
-- Advice may outlive the request that asked for it.
to_requests as (
  select 'requests' as table_name, id as row_id, 'parent_request_id' as column_name, parent_request_id as named_id
  from requests
),
-- Notes on imports name the run that made them.
to_import_runs as (
  select 'import_sources' as table_name, source_key as row_id, 'last_run_id' as column_name, last_run_id as named_id
  from import_sources
  union all
  select 'import_log', cast(to_json([run_id, source_key, cast(seq as varchar)]) as varchar), 'run_id', run_id
  from import_log
  union all
  select 'import_problems', cast(to_json([run_id, source_key, cast(seq as varchar)]) as varchar), 'run_id', run_id
  from import_problems
),
-- They also name the file, and files may be forgotten.
to_import_sources as (
  select 'import_log' as table_name, cast(to_json([run_id, source_key, cast(seq as varchar)]) as varchar) as row_id,
    'source_key' as column_name, source_key as named_id
  from import_log
  union all
  select 'import_problems', cast(to_json([run_id, source_key, cast(seq as varchar)]) as varchar),
    'source_key', source_key
  from import_problems
),
-- Chats name people who may be in no export.
to_chat_users as (
  select 'chat_agents' as table_name, id as row_id, 'created_by' as column_name, created_by as named_id
  from chat_agents
  union all select 'chat_agent_changes', id, 'changed_by', changed_by from chat_agent_changes
  union all select 'chat_conversations', id, 'created_by', created_by from chat_conversations
  union all select 'chat_participants', id, 'user_id', user_id from chat_participants
  union all select 'chat_participants', id, 'added_by', added_by from chat_participants
  union all select 'chat_participants', id, 'removed_by', removed_by from chat_participants
),
-- The same holds for agents that take part or were changed.
to_chat_agents as (
  select 'chat_participants' as table_name, id as row_id, 'agent_id' as column_name, agent_id as named_id
  from chat_participants
  union all select 'chat_agent_changes', id, 'agent_id', agent_id from chat_agent_changes
),
-- A log of events may name programs that no file describes.
to_programs as (
  select 'program_events' as table_name, event_id as row_id, 'program_id' as column_name, program_id as named_id
  from program_events
),
-- References whose target is not in the ledger.
dangling_reference as (
  select table_name, row_id, column_name, named_id, 'sessions' as target
  from to_sessions n where named_id is not null and not exists (select 1 from sessions x where x.label = n.named_id)
  union all
  select table_name, row_id, column_name, named_id, 'requests' as target
  from to_requests n where named_id is not null and not exists (select 1 from requests x where x.id = n.named_id)
  union all
  select table_name, row_id, column_name, named_id, 'import_runs' as target
  from to_import_runs n where named_id is not null and not exists (select 1 from import_runs x where x.id = n.named_id)
  union all
  select table_name, row_id, column_name, named_id, 'import_sources' as target
  from to_import_sources n
  where named_id is not null and not exists (select 1 from import_sources x where x.source_key = n.named_id)
  union all
  select table_name, row_id, column_name, named_id, 'chat_users' as target
  from to_chat_users n where named_id is not null and not exists (select 1 from chat_users x where x.id = n.named_id)
  union all
  select table_name, row_id, column_name, named_id, 'chat_agents' as target
  from to_chat_agents n where named_id is not null and not exists (select 1 from chat_agents x where x.id = n.named_id)
  union all
  select table_name, row_id, column_name, named_id, 'programs' as target
  from to_programs n where named_id is not null and not exists (select 1 from programs x where x.id = n.named_id)
)
select table_name, row_id,
  'Its ' || column_name || ' names ' || named_id || ', which is not in ' || target || '.' as reason
from dangling_reference
order by table_name, row_id, reason
