-- title: Turns of a tree
-- question: Which turns does a tree have, in which order?
-- why: Shows how a session grew: where it was forked, compacted or given up, and which subagents it started.
-- grain: turn
-- param session: text = none; only the tree of this session, with those of its subagents
-- column turn_id: VARCHAR; the turn
-- column parent_turn_id: VARCHAR; the turn before it; of the first turn of a subagent, the turn that started it; NULL for the first
-- column depth: BIGINT; its place on the way from the root of its own tree, from 1
-- column kind: VARCHAR; compaction, failed, abandoned, subagent or normal: the first of these that it is
-- column started_at: BIGINT; when it began, in Unix ms; NULL where the log has no time
-- column model: VARCHAR; the model that answered
-- column tool_calls: BIGINT; its tool calls
-- column cost_usd: DECIMAL(38,12); list price of its requests; NULL when none is priced
-- column owner_label: VARCHAR; the session that it counts for in totals
-- shown: turn_id, parent_turn_id, kind, depth, cost_usd, started_at, tool_calls, owner_label
-- empty: No turn of a session matches that.
-- next: `aix tree SESSION` draws it, `aix show TURN` shows one turn
-- caveat: A turn is of a subagent when its tree began with one; turns that a subagent shares with its parent are not.
with session_root as (
  select
    s.label,
    s.is_subagent = 1 as is_subagent,
    s.parent_turn_id,
    coalesce(c.root_turn_id, s.thread_id) as root_turn_id
  from sessions s
  left join turn_context c on c.turn_id = s.thread_id
),
wanted_root as (
  select r.root_turn_id
  from session_root r
  where getvariable('session') is null or r.label = getvariable('session')
  union
  select r.root_turn_id
  from session_root r
  join v_subagents a on a.session_label = r.label
  where a.ancestor_label = getvariable('session')
),
-- Trees that begin with a subagent, and the turns that started them.
subagent_root as (
  select root_turn_id, min(parent_turn_id) as parent_turn_id
  from session_root
  group by root_turn_id
  having bool_and(is_subagent)
),
undated_turn as (
  select distinct row_key as turn_id
  from inferred_values
  where table_name = 'turns' and column_name = 'started_at' and basis = 'undated'
)
select
  t.id as turn_id,
  coalesce(t.parent_turn_id, case when t.id = a.root_turn_id then a.parent_turn_id end) as parent_turn_id,
  h.depth,
  case
    when t.turn_type = 'compaction' then 'compaction'
    when t.status = 'failed' then 'failed'
    when b.turn_id is not null then 'abandoned'
    when a.root_turn_id is not null then 'subagent'
    else 'normal'
  end as kind,
  case when u.turn_id is null then t.started_at end as started_at,
  t.model,
  coalesce(t.tool_call_count, 0) as tool_calls,
  q.cost_usd,
  o.session_label as owner_label
from turns t
join threads h on h.turn_id = t.id
left join turn_context c on c.turn_id = t.id
join wanted_root w on w.root_turn_id = coalesce(c.root_turn_id, t.id)
left join subagent_root a on a.root_turn_id = w.root_turn_id
left join undated_turn u on u.turn_id = t.id
left join v_abandoned_turns b on b.turn_id = t.id
left join v_turn_costs q on q.turn_id = t.id
left join v_turn_owner o on o.turn_id = t.id
order by h.depth, t.started_at, t.id
