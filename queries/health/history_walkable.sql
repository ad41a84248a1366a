-- title: What a compaction summarised or kept is in its own history
-- question: Which compactions name a turn that is not among their ancestors?
-- why: A compaction shortens the context, never the history.
-- grain: compaction and column that names a turn
-- invariant: I7
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: `summarized_through_turn_id` may be the compaction itself where `metadata_json` says that it is unresolved.
-- caveat: The first turn kept may lie before the last one summarised.
with named_turn as (
  select turn_id, 'summarized_through_turn_id' as column_name, summarized_through_turn_id as named_id
  from compactions
  where summarized_through_turn_id <> turn_id
    or not coalesce(regexp_matches(metadata_json, '"unresolved"\s*:\s*true'), false)
  union all
  select turn_id, 'first_kept_turn_id', first_kept_turn_id
  from compactions
  where first_kept_turn_id is not null
),
-- Nearly always it is the parent, which needs no search in texts.
named_turn_above_parent as (
  select n.turn_id, n.column_name, n.named_id
  from named_turn n
  left join turns t on t.id = n.turn_id
  where t.parent_turn_id is distinct from n.named_id
),
boxed_ancestry as (
  -- Joins collect texts until they have 2,048 of them, but pass lists on at once; ancestries may be huge.
  select turn_id, [ancestry] as boxed from threads
)
select 'compactions' as table_name, f.turn_id as row_id,
  case
    when f.named_id = f.turn_id then 'Its ' || f.column_name || ' is the compaction itself.'
    else 'Its ' || f.column_name || ' names ' || f.named_id || ', which is not one of its ancestors.'
  end as reason
from named_turn_above_parent f
left join boxed_ancestry h on h.turn_id = f.turn_id
where f.named_id = f.turn_id or coalesce(strpos(h.boxed[1], '"' || f.named_id || '"'), 0) = 0
order by row_id, reason
