-- title: Every turn has a thread, and every thread a turn
-- question: Which turns have no thread, and which threads no turn?
-- why: A thread is a turn seen with all its ancestry; there are as many of the one as of the other.
-- grain: turn or thread
-- invariant: I3
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
select 'turns' as table_name, t.id as row_id, 'It has no thread.' as reason
from turns t
where not exists (select 1 from threads h where h.turn_id = t.id)
union all
select 'threads', h.turn_id, 'It ends at a turn that is not in the ledger.'
from threads h
where not exists (select 1 from turns t where t.id = h.turn_id)
order by table_name, row_id
