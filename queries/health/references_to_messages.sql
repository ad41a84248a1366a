-- title: Every message that a row names is in the ledger
-- question: Which rows name a message that is not there?
-- why: Queries join on these columns; a row that joins with nothing disappears from their answers.
-- grain: row and column that names something
-- invariant: I5b
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: Answers have a check of their own.
with reference as (
  select 'tool_calls' as table_name, id as row_id, 'message_id' as column_name, message_id as named_id from tool_calls
  union all select 'message_files', cast(id as varchar), 'message_id', message_id from message_files
  union all select 'message_lints', cast(id as varchar), 'message_id', message_id from message_lints
  union all select 'message_codeblocks', cast(id as varchar), 'message_id', message_id from message_codeblocks
  union all select 'requests', id, 'message_id', message_id from requests
  union all select 'message_facts', message_id, 'message_id', message_id from message_facts
)
select n.table_name, n.row_id,
  'Its ' || n.column_name || ' names ' || n.named_id || ', which is not in messages.' as reason
from reference n
where n.named_id is not null and not exists (select 1 from messages t where t.id = n.named_id)
order by table_name, row_id, reason
