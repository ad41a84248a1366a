-- title: In a completed turn every tool call has ended with a result or an error
-- question: Which calls of completed turns are open?
-- why: A turn that still waits for a tool is not completed.
-- grain: tool call
-- invariant: I6
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
select 'tool_calls' as table_name, c.id as row_id,
  case
    when c.status in ('completed', 'failed') then 'It is ' || c.status || ' without a result or an error.'
    else 'It is ' || c.status || ', and its turn ' || t.id || ' is completed.'
  end as reason
from tool_calls c
join turns t on t.id = c.turn_id
where t.status = 'completed'
  and (c.status not in ('completed', 'failed') or (c.result_json is null and c.error is null))
order by row_id
