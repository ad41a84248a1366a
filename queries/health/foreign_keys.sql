-- title: What a row names is in the ledger
-- question: Which rows name a turn, message, tool call or session that is not there, or a message of another turn?
-- why: Queries join on these columns; a row that joins with nothing disappears from their answers.
-- grain: row and column that names something
-- invariant: I5b
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: Parents, heads, answers, compactions, movements, aliases and spawning calls have checks of their own.
with to_turns as (
  select 'sessions' as table_name, label as row_id, 'parent_turn_id' as column_name, parent_turn_id as named_id
  from sessions
  union all select 'messages', id, 'turn_id', turn_id from messages
  union all select 'tool_calls', id, 'turn_id', turn_id from tool_calls
  union all select 'requests', id, 'turn_id', turn_id from requests
  union all select 'turn_context', turn_id, 'turn_id', turn_id from turn_context
  union all select 'turn_context', turn_id, 'root_turn_id', root_turn_id from turn_context
  union all select 'turn_context', turn_id, 'continues_turn_id', continues_turn_id from turn_context
  union all select 'turn_context', turn_id, 'continued_by_turn_id', continued_by_turn_id from turn_context
  union all
  select 'session_turns', cast(to_json([session_label, turn_id]) as varchar), 'turn_id', turn_id
  from session_turns
  union all select 'permission_decisions', call_id, 'turn_id', turn_id from permission_decisions
),
to_messages as (
  select 'tool_calls' as table_name, id as row_id, 'message_id' as column_name, message_id as named_id
  from tool_calls
  union all select 'message_files', cast(id as varchar), 'message_id', message_id from message_files
  union all select 'message_lints', cast(id as varchar), 'message_id', message_id from message_lints
  union all select 'message_codeblocks', cast(id as varchar), 'message_id', message_id from message_codeblocks
  union all select 'requests', id, 'message_id', message_id from requests
  union all select 'message_facts', message_id, 'message_id', message_id from message_facts
  union all
  select 'chat_mentions', cast(to_json([message_id, cast(idx as varchar)]) as varchar), 'message_id', message_id
  from chat_mentions
),
to_tool_calls as (
  select 'tool_call_facts' as table_name, call_id as row_id, 'call_id' as column_name, call_id as named_id
  from tool_call_facts
  union all select 'permission_decisions', call_id, 'call_id', call_id from permission_decisions
),
to_sessions as (
  select 'tool_calls' as table_name, id as row_id,
    'spawned_session_label' as column_name, spawned_session_label as named_id
  from tool_calls
  union all select 'session_context', label, 'label', label from session_context
  union all
  select 'session_turns', cast(to_json([session_label, turn_id]) as varchar), 'session_label', session_label
  from session_turns
),
dangling as (
  select table_name, row_id, column_name, named_id, 'turns' as target
  from to_turns n where named_id is not null and not exists (select 1 from turns x where x.id = n.named_id)
  union all
  select table_name, row_id, column_name, named_id, 'messages' as target
  from to_messages n where named_id is not null and not exists (select 1 from messages x where x.id = n.named_id)
  union all
  select table_name, row_id, column_name, named_id, 'tool_calls' as target
  from to_tool_calls n where named_id is not null and not exists (select 1 from tool_calls x where x.id = n.named_id)
  union all
  select table_name, row_id, column_name, named_id, 'sessions' as target
  from to_sessions n where named_id is not null and not exists (select 1 from sessions x where x.label = n.named_id)
)
select table_name, row_id,
  'Its ' || column_name || ' names ' || named_id || ', which is not in ' || target || '.' as reason
from dangling
union all
select 'tool_calls', c.id,
  'Its message ' || c.message_id || ' belongs to the turn ' || m.turn_id || ', the call to ' || c.turn_id || '.'
from tool_calls c join messages m on m.id = c.message_id
where m.turn_id <> c.turn_id
order by table_name, row_id, reason
