-- title: The tokens of a thread are those of its parent and of its turn
-- question: Which threads have a wrong total?
-- why: What a conversation cost up to a point is read from here.
-- grain: thread
-- invariant: I3c
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: A total that is not known counts as 0.
with compared_total as (
  select h.turn_id,
    cast(coalesce(h.total_tokens, 0) as decimal(38, 0)) as stated,
    -- A sum too large for the column is cut there.
    least(
      cast(coalesce(p.total_tokens, 0) as decimal(38, 0)) + coalesce(t.total_tokens, 0), 9223372036854775807
    ) as expected
  from threads h
  join turns t on t.id = h.turn_id
  left join threads p on p.turn_id = t.parent_turn_id
)
select 'threads' as table_name, turn_id as row_id,
  'It says ' || cast(stated as varchar) || ' tokens; its parent and its turn have '
    || cast(expected as varchar) || '.' as reason
from compared_total
where stated <> expected
order by row_id
