-- title: The turns around each compaction
-- question: Which turns came before a compaction, back to the one before it, and which after, until the next?
-- why: What a compaction changes shows in the turns on its two sides.
-- grain: compaction and turn
-- column compaction_turn_id: VARCHAR; the compaction
-- column turn_id: VARCHAR; a turn before or after it
-- column distance: BIGINT; -1 is the last turn before it, 1 the first after
-- caveat: After a compaction all branches count, by depth and time; before it only the way that leads to it.
-- kept: by family with compactions
with turn_on_way as (
  select w.session_label, w.turn_id, w.position, coalesce(s.compaction_turn_id, '') as stretch
  from v_session_turns w
  left join v_turn_stretches s on s.turn_id = w.turn_id
),
compaction_session as (
  select c.turn_id, min(w.session_label) as session_label
  from compactions c
  join turn_on_way w on w.turn_id = c.turn_id
  group by c.turn_id
),
turn_before as (
  select c.turn_id as compaction_turn_id, b.turn_id, b.position - w.position as distance
  from compaction_session c
  join turn_on_way w on w.session_label = c.session_label and w.turn_id = c.turn_id
  -- Equal stretches keep a long way with many compactions from being paired with itself.
  join turn_on_way b on b.session_label = w.session_label and b.stretch = w.stretch and b.position < w.position
  left join compactions other on other.turn_id = b.turn_id
  where other.turn_id is null
),
turn_after as (
  select
    s.compaction_turn_id,
    s.turn_id,
    row_number() over (partition by s.compaction_turn_id order by h.depth, t.started_at, s.turn_id) as distance
  from v_turn_stretches s
  join turns t on t.id = s.turn_id
  join threads h on h.turn_id = s.turn_id
  where t.turn_type <> 'compaction'
)
select compaction_turn_id, turn_id, distance from turn_before
union all
select compaction_turn_id, turn_id, distance from turn_after
