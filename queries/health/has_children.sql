-- title: A turn says that it has children when another names it as parent, and only then
-- question: Which turns have a wrong `has_children`?
-- why: Queries find the ends of conversations by this column.
-- grain: turn
-- invariant: I2c
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
with children as (
  select distinct parent_turn_id as turn_id from turns where parent_turn_id is not null
)
select 'turns' as table_name, t.id as row_id,
  case
    when c.turn_id is null then 'It says that it has children, and no turn names it as parent.'
    else 'It says that it has no children, and some turn names it as parent.'
  end as reason
from turns t
left join children c on c.turn_id = t.id
where coalesce(t.has_children, 0) <> case when c.turn_id is null then 0 else 1 end
order by row_id
