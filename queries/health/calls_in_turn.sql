-- title: A tool call and the message that made it are in the same turn
-- question: Which calls are in another turn than their message?
-- why: What a turn did is counted through both.
-- grain: tool call
-- invariant: I5b
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
select 'tool_calls' as table_name, c.id as row_id,
  'It is in the turn ' || c.turn_id || ', and its message ' || m.id || ' in the turn ' || m.turn_id || '.' as reason
from tool_calls c
join messages m on m.id = c.message_id
where m.turn_id <> c.turn_id
order by row_id
