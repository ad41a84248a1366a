-- title: The turns around each compaction
-- question: Which turns came before a compaction, back to the one before it, and which after, until the next?
-- why: What a compaction changes shows in the turns on its two sides.
-- grain: compaction and turn
-- column compaction_turn_id: VARCHAR; the compaction
-- column turn_id: VARCHAR; a turn before or after it
-- column distance: BIGINT; -1 is the last turn before it, 1 the first after
-- caveat: After a compaction all branches count, by depth and time; before it only the way that leads to it.
-- kept: by family with compactions
with way as (
  select c.turn_id, min(w.session_label) as session_label, min(w.position) as position
  from compactions c
  join v_session_turns w on w.turn_id = c.turn_id
  group by c.turn_id
),
before as (
  select w.turn_id as compaction_turn_id, b.turn_id, b.position - w.position as distance
  from way w
  join v_session_turns b on b.session_label = w.session_label and b.position < w.position
  left join v_turn_stretches own on own.turn_id = w.turn_id
  left join v_turn_stretches s on s.turn_id = b.turn_id
  left join compactions c on c.turn_id = b.turn_id
  where c.turn_id is null and s.compaction_turn_id is not distinct from own.compaction_turn_id
),
after as (
  select
    s.compaction_turn_id,
    s.turn_id,
    row_number() over (partition by s.compaction_turn_id order by h.depth, t.started_at, s.turn_id) as distance
  from v_turn_stretches s
  join turns t on t.id = s.turn_id
  join threads h on h.turn_id = s.turn_id
  where t.turn_type <> 'compaction'
)
select compaction_turn_id, turn_id, distance from before
union all
select compaction_turn_id, turn_id, distance from after
