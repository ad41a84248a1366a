-- title: Nothing that was in the version before is gone
-- question: Which turns, messages and tool calls of the version before are not in this one?
-- why: The ledger outlives the logs it was read from: what it loses is lost.
-- grain: lost row
-- invariant: I1
-- severity: hard
-- needs: previous
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: The schema `previous` holds views of the version before; `aix check` makes them where there is one.
-- engine: duckdb; It reads two versions of a ledger at once, and elsewhere the names of tables stand for one.
with lost_row as (
  select 'turns' as table_name, p.id as row_id from previous.turns p
  where not exists (select 1 from turns t where t.id = p.id)
  union all
  select 'messages', p.id from previous.messages p
  where not exists (select 1 from messages m where m.id = p.id)
  union all
  select 'tool_calls', p.id from previous.tool_calls p
  where not exists (select 1 from tool_calls c where c.id = p.id)
)
select table_name, row_id, 'It was in the version before and is not in this one.' as reason
from lost_row
order by table_name, row_id
