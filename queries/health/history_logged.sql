-- title: The last movement of a session leads to its head
-- question: Which sessions have a history that does not end at their head, and which movements name what is not there?
-- why: Where a session stood at a given time is answered from its movements.
-- grain: session or movement
-- invariant: I9
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: Of movements at the same time any may be the last.
with last_moves as (
  select session_label, max(changed_at) as changed_at from session_history group by session_label
),
last_heads as (
  select m.session_label, m.thread_id
  from session_history m
  join last_moves l on l.session_label = m.session_label and l.changed_at = m.changed_at
)
select 'sessions' as table_name, s.label as row_id,
  'No last movement leads to its head ' || s.thread_id || '.' as reason
from sessions s
where not exists (select 1 from last_heads l where l.session_label = s.label and l.thread_id = s.thread_id)
union all
select 'session_history', cast(m.id as varchar),
  'It moves the session ' || m.session_label || ', which is not in the ledger.'
from session_history m
where not exists (select 1 from sessions s where s.label = m.session_label)
union all
select 'session_history', cast(m.id as varchar),
  'It moves to ' || m.thread_id || ', which is not a thread of the ledger.'
from session_history m
where not exists (select 1 from threads h where h.turn_id = m.thread_id)
order by table_name, row_id, reason
