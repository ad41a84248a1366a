-- title: Subagents and their parents
-- question: Which sessions were spawned, directly or through others, by which?
-- why: What a session cost includes what it delegated, at any depth.
-- grain: ancestor session and subagent session
-- column ancestor_label: VARCHAR; the session that spawned it, or one that spawned that one
-- column session_label: VARCHAR; the subagent's session
-- column distance: BIGINT; 1 for its parent, 2 for the parent's parent, and so on
with recursive session_parent as (
  select s.label, coalesce(o.session_label, s.parent_session_label) as parent_label
  from sessions s
  left join v_turn_owner o on o.turn_id = s.parent_turn_id
  where s.parent_session_label is not null
),
descent as (
  select parent_label as ancestor_label, label as session_label, cast(1 as bigint) as distance
  from session_parent
  where parent_label <> label
  union all
  select p.parent_label, d.session_label, d.distance + 1
  from descent d
  join session_parent p on p.label = d.ancestor_label
  where p.parent_label <> d.session_label and d.distance < 50
)
select ancestor_label, session_label, min(distance) as distance
from descent
group by ancestor_label, session_label
