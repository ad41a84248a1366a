-- title: Every compaction turn has its details, and nothing else has
-- question: Which compaction turns have no row in `compactions`, and which of its rows no compaction turn?
-- why: What a compaction saved is read from there.
-- grain: turn or compaction
-- invariant: I8
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
select 'turns' as table_name, t.id as row_id, 'It is a compaction without details.' as reason
from turns t
where t.turn_type = 'compaction' and not exists (select 1 from compactions c where c.turn_id = t.id)
union all
select 'compactions', c.turn_id, 'It belongs to no turn of type compaction.'
from compactions c
where not exists (select 1 from turns t where t.id = c.turn_id and t.turn_type = 'compaction')
order by table_name, row_id
