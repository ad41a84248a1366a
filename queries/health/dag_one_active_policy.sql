-- title: An agent has at most one active policy at a time
-- question: Which policies of an agent are active at the same time as another?
-- why: With two policies it cannot be said which one approved a call.
-- grain: version of a policy
-- invariant: G6
-- severity: warning
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: A policy is active for an agent from its activation, at the earliest from the time of its node, and as long as its node says.
-- caveat: Where its node has no time, or several agents activate it, it ends when the agent activates another.
-- rows: only with dag_edges, dag_events, dag_nodes

with activation as (
  select e.agent_id, r.name as policy_id, e.occurred_at as activated_at
  from v_dag_references r
  join dag_events e on e.event_id = r.event_id
  where r.field = 'policy_ref' and e.agent_id is not null
  union
  select e.agent_id, x.dst, e.occurred_at
  from dag_edges x
  join v_dag_event_names n on n.name = x.src
  join dag_events e on e.event_id = n.event_id
  where x.type = 'ACTIVATES_POLICY' and e.agent_id is not null
),
next_activation as (
  select a.agent_id, a.policy_id, a.activated_at, min(n.activated_at) as next_at
  from activation a
  left join activation n on n.agent_id = a.agent_id and n.activated_at > a.activated_at
  group by a.agent_id, a.policy_id, a.activated_at
),
active_version as (
  select node_id, valid_from, valid_to
  from v_dag_nodes
  where kind = 'Policy' and json_extract_string(payload_json, '$.kind') = 'active'
),
-- A policy that several agents activate may end for one of them before it does for the others.
shared_policy as (
  select policy_id from activation group by policy_id having count(distinct agent_id) > 1
),
period as (
  select distinct
    a.agent_id, v.node_id, v.valid_from,
    greatest(v.valid_from, a.activated_at) as since,
    case when v.valid_from > 0 and s.policy_id is null then v.valid_to else least(v.valid_to, a.next_at) end as until
  from active_version v
  join next_activation a on a.policy_id = v.node_id
  left join shared_policy s on s.policy_id = v.node_id
  where v.valid_from > 0 or a.activated_at is not null
)
select 'dag_nodes' as table_name,
  cast(to_json(['Policy', a.node_id, cast(a.valid_from as varchar)]) as varchar) as row_id,
  'It is active for the agent ' || left(min(a.agent_id), 100) || ' while ' || left(min(b.node_id), 100) || ' is.' as reason
from period a
join period b
  on b.agent_id = a.agent_id and b.node_id <> a.node_id
  and (a.until is null or b.since < a.until) and (b.until is null or a.since < b.until)
  and coalesce(a.since < a.until, true) and coalesce(b.since < b.until, true)
  and (b.since < a.since or (b.since = a.since and b.node_id < a.node_id))
group by a.node_id, a.valid_from
order by row_id
