-- title: Roots have depth 1 and every other turn is one deeper than its parent
-- question: Which turns have a depth that does not follow from their parent's?
-- why: Depths that grow by one along every step from a root leave no room for a cycle.
-- grain: turn
-- invariant: I2b
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: Of the turns of a cycle only those are named whose depth gives it away.
select 'turns' as table_name, t.id as row_id,
  case
    when h.depth is null then 'It has no depth.'
    when t.parent_turn_id is null then 'It is a root and has depth ' || cast(h.depth as varchar) || '.'
    when t.parent_turn_id = t.id then 'It is its own parent.'
    else 'It has depth ' || cast(h.depth as varchar) || ', and its parent ' || p.turn_id
      || ' has depth ' || cast(p.depth as varchar) || '.'
  end as reason
from turns t
join threads h on h.turn_id = t.id
left join threads p on p.turn_id = t.parent_turn_id
where h.depth is null
  or (t.parent_turn_id is null and h.depth <> 1)
  or h.depth <> p.depth + 1
order by row_id
