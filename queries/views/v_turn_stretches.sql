-- title: The compaction that each turn comes after
-- question: Which compaction was the last before a turn?
-- why: What the model sees of a turn's past begins with the last compaction on the way to it.
-- grain: turn after a compaction
-- column turn_id: VARCHAR; the turn
-- column compaction_turn_id: VARCHAR; the last compaction before it
-- kept: by family with compactions
with compacted_session as (
  select distinct w.session_label
  from v_session_turns w
  join compactions c on c.turn_id = w.turn_id
),
turn_on_way as (
  select
    w.session_label,
    w.turn_id,
    c.turn_id is not null as is_compaction,
    coalesce(
      sum(case when c.turn_id is not null then 1 else 0 end) over (
        partition by w.session_label order by w.position rows between unbounded preceding and 1 preceding
      ),
      0
    ) as stretch
  from compacted_session s
  join v_session_turns w on w.session_label = s.session_label
  left join compactions c on c.turn_id = w.turn_id
)
select w.turn_id, min(c.turn_id) as compaction_turn_id
from turn_on_way w
join turn_on_way c on c.session_label = w.session_label and c.is_compaction and c.stretch = w.stretch - 1
group by w.turn_id
