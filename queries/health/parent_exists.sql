-- title: Every parent of a turn is in the ledger
-- question: Which turns name a parent that is not there?
-- why: A turn without its parent has lost its history.
-- grain: turn
-- invariant: I2a
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
select 'turns' as table_name, t.id as row_id,
  'Its parent ' || t.parent_turn_id || ' is not in the ledger.' as reason
from turns t
where t.parent_turn_id is not null and not exists (select 1 from turns p where p.id = t.parent_turn_id)
order by row_id
