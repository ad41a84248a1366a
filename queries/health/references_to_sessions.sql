-- title: Every session that a row names is in the ledger
-- question: Which rows name a session that is not there?
-- why: Queries join on these columns; a row that joins with nothing disappears from their answers.
-- grain: row and column that names something
-- invariant: I5b
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: Parents, movements and aliases have checks of their own.
with reference as (
  select 'tool_calls' as table_name, id as row_id,
    'spawned_session_label' as column_name, spawned_session_label as named_id
  from tool_calls
  union all select 'session_context', label, 'label', label from session_context
  union all
  select 'session_turns', cast(to_json([session_label, turn_id]) as varchar), 'session_label', session_label
  from session_turns
)
select n.table_name, n.row_id,
  'Its ' || n.column_name || ' names ' || n.named_id || ', which is not in sessions.' as reason
from reference n
where n.named_id is not null and not exists (select 1 from sessions t where t.label = n.named_id)
order by table_name, row_id, reason
