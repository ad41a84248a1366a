-- title: Turns that were given up
-- question: Which turns lead to no active session's head?
-- why: A turn that was rewound or forked away from was paid for, and nothing builds on it any more.
-- grain: turn
-- column turn_id: VARCHAR; the turn
-- column is_end: BOOLEAN; whether no turn follows it
-- kept: by family with turns
with recursive active_head as (
  select distinct thread_id as turn_id from sessions where status = 'active'
),
-- Only a tree with an end that is no active head can hold such turns; most have none and need no walk.
forked_tree as (
  select distinct c.root_turn_id
  from turns t
  join turn_context c on c.turn_id = t.id
  left join active_head a on a.turn_id = t.id
  where t.has_children = 0 and a.turn_id is null
),
-- Each step of the walk reads this, not the table of all turns.
tree_turn as (
  select t.id as turn_id, t.parent_turn_id, t.has_children = 0 as is_end, h.depth
  from forked_tree f
  join turn_context c on c.root_turn_id = f.root_turn_id
  join turns t on t.id = c.turn_id
  join threads h on h.turn_id = t.id
),
turn_below_head as (
  select t.turn_id, t.parent_turn_id, t.depth
  from active_head a
  join tree_turn t on t.turn_id = a.turn_id
  union all
  select t.turn_id, t.parent_turn_id, t.depth
  from turn_below_head k
  -- Depths fall on the way to the root; where a log has turns follow each other in a circle, the walk ends.
  join tree_turn t on t.turn_id = k.parent_turn_id and t.depth < k.depth
),
kept_turn as (
  select distinct turn_id from turn_below_head
)
select t.turn_id, t.is_end
from tree_turn t
left join kept_turn k on k.turn_id = t.turn_id
where k.turn_id is null
