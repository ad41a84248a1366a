-- title: A turn has as many tool calls as it says
-- question: Which turns have a wrong `tool_call_count`?
-- why: Queries count tool use by this column.
-- grain: turn
-- invariant: I6b
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
with call_counts as (
  select turn_id, count(*) as calls from tool_calls group by turn_id
)
select 'turns' as table_name, t.id as row_id,
  'It says ' || cast(coalesce(t.tool_call_count, 0) as varchar) || ' tool calls and has '
    || cast(coalesce(c.calls, 0) as varchar) || '.' as reason
from turns t
left join call_counts c on c.turn_id = t.id
where coalesce(t.tool_call_count, 0) <> coalesce(c.calls, 0)
order by row_id
