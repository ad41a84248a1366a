-- title: Every session points to a thread
-- question: Which sessions have a head that is not there?
-- why: A session is nothing but a name for a thread.
-- grain: session
-- invariant: I4
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
select 'sessions' as table_name, s.label as row_id,
  'Its head ' || s.thread_id || ' is not a thread of the ledger.' as reason
from sessions s
where not exists (select 1 from threads h where h.turn_id = s.thread_id)
order by row_id
