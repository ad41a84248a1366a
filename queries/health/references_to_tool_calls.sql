-- title: Every tool call that a row names is in the ledger
-- question: Which rows name a tool call that is not there?
-- why: Queries join on these columns; a row that joins with nothing disappears from their answers.
-- grain: row and column that names something
-- invariant: I5b
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: The calls that spawned sessions have a check of their own.
with reference as (
  select 'tool_call_facts' as table_name, call_id as row_id, 'call_id' as column_name, call_id as named_id
  from tool_call_facts
  union all select 'permission_decisions', call_id, 'call_id', call_id from permission_decisions
)
select n.table_name, n.row_id,
  'Its ' || n.column_name || ' names ' || n.named_id || ', which is not in tool_calls.' as reason
from reference n
where n.named_id is not null and not exists (select 1 from tool_calls t where t.id = n.named_id)
order by table_name, row_id, reason
