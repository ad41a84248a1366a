-- title: Every turn without children is the head of a session
-- question: Which ends of conversations does no session name?
-- why: A branch that no session points to is found by nobody.
-- grain: turn
-- invariant: O1
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: So the head of a session has no children unless another session goes on from it: it points to an end below.
select 'turns' as table_name, t.id as row_id,
  'It has no children, and no session has it as its head.' as reason
from turns t
where not exists (select 1 from turns c where c.parent_turn_id = t.id)
  and not exists (select 1 from sessions s where s.thread_id = t.id)
order by row_id
