-- title: The ancestry of a turn is that of its parent and the turn itself
-- question: Which threads have a wrong ancestry?
-- why: Whatever walks back through a conversation reads this column.
-- grain: thread
-- invariant: I3b
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: Proved step by step from the roots, by hash; that it is as long as the depth says follows with `acyclic`.

-- Ancestries of long threads are huge together: each becomes a few bytes here, before anything can collect them.
with ancestry_digest as (
  select turn_id,
    ancestry = '["' || turn_id || '"]' as is_alone,
    md5(ancestry) as whole,
    md5(
      case
        when right(ancestry, length(turn_id) + 4) = ',"' || turn_id || '"]'
          then left(ancestry, length(ancestry) - length(turn_id) - 4)
        when right(ancestry, length(turn_id) + 5) = ', "' || turn_id || '"]'
          then left(ancestry, length(ancestry) - length(turn_id) - 5)
      end || ']'
    ) as before_last
  from threads
)
select 'threads' as table_name, t.id as row_id,
  case
    when h.whole is null then 'It has no ancestry.'
    when t.parent_turn_id is null then 'It belongs to a root, and its ancestry is not the root alone.'
    when h.before_last is null then 'Its ancestry does not end in a further turn, the one it belongs to.'
    else 'Its ancestry up to the turn is not that of the parent ' || t.parent_turn_id || '.'
  end as reason
from turns t
join ancestry_digest h on h.turn_id = t.id
left join ancestry_digest p on p.turn_id = t.parent_turn_id
where h.whole is null
  or (t.parent_turn_id is null and not h.is_alone)
  or (p.turn_id is not null and h.before_last is distinct from p.whole)
order by row_id
