-- title: No turn starts before its parent
-- question: Which turns start before the turn they follow?
-- why: Copies of a log may carry new times; without the original, order by time is not the order of the tree.
-- grain: turn
-- invariant: I2b
-- severity: warning
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
select 'turns' as table_name, t.id as row_id,
  'It starts ' || cast(p.started_at - t.started_at as varchar) || ' ms before its parent ' || p.id || '.' as reason
from turns t
join turns p on p.id = t.parent_turn_id
where p.started_at > t.started_at
order by row_id
