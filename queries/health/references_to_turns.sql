-- title: Every turn that a row names is in the ledger
-- question: Which rows name a turn that is not there?
-- why: Queries join on these columns; a row that joins with nothing disappears from their answers.
-- grain: row and column that names something
-- invariant: I5b
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: Parents, threads and compactions have checks of their own.
with reference as (
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
)
select n.table_name, n.row_id,
  'Its ' || n.column_name || ' names ' || n.named_id || ', which is not in turns.' as reason
from reference n
where n.named_id is not null and not exists (select 1 from turns t where t.id = n.named_id)
order by table_name, row_id, reason
