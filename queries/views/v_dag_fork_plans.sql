-- title: Plans of forks for resources
-- question: What does each fork plan for each resource: keep, snapshot or discard?
-- why: A resource that cannot be restored can be kept by one branch only, and forks have to say by which.
-- grain: fork event and entry of its plan
-- column event_id: VARCHAR; the event of the fork
-- column fork_id: VARCHAR; the event at which the agent was forked, the same for branches that begin there; else the event of the fork
-- column agent_id: VARCHAR; the agent
-- column occurred_at: BIGINT; when it was forked, in Unix ms
-- column from_branch: VARCHAR; the branch that it left
-- column to_branch: VARCHAR; the branch that it began
-- column resource_id: VARCHAR; the resource
-- column mode: VARCHAR; the choice: keep, snapshot or discard
-- column kept_by: VARCHAR; the branch that keeps the resource
-- column snapshot_ref: VARCHAR; the snapshot: its id, or the object that names it
-- column branches: BIGINT; branches of the fork that keep the resource; an entry that names none keeps it for its own
-- column resource_name: VARCHAR; the name of the resource at the time
-- column is_imperative: BOOLEAN; whether the resource could not be restored at the time; NULL where the graph does not say
-- column can_snapshot: BOOLEAN; whether a snapshot could be made of it at the time; NULL where the graph does not say
-- rows: only with dag_events
with entry as (
  select event_id, item as plan from v_dag_list_items where field = 'volume_plan' and left(item, 1) = '{'
),
fork_point as (
  select r.event_id, n.event_id as fork_id
  from v_dag_references r
  join v_dag_event_names n on n.name = r.name
  where r.field = 'at_event'
),
choice as (
  select distinct
    e.event_id,
    coalesce(f.fork_id, e.event_id) as fork_id,
    e.agent_id, e.occurred_at,
    json_extract_string(e.payload_json, '$.from_branch') as from_branch,
    json_extract_string(e.payload_json, '$.to_branch') as to_branch,
    coalesce(json_extract_string(p.plan, '$.resource.id'), json_extract_string(p.plan, '$.resource')) as resource_id,
    json_extract_string(p.plan, '$.mode') as mode,
    json_extract_string(p.plan, '$.kept_by') as kept_by,
    coalesce(json_extract_string(p.plan, '$.snapshot_ref.id'), json_extract_string(p.plan, '$.snapshot_ref')) as snapshot_ref
  from entry p
  join dag_events e on e.event_id = p.event_id
  left join fork_point f on f.event_id = p.event_id
),
keeper as (
  select agent_id, fork_id, resource_id, count(distinct coalesce(kept_by, to_branch)) as branches
  from choice
  where mode = 'keep'
  group by agent_id, fork_id, resource_id
)
select
  c.event_id, c.fork_id, c.agent_id, c.occurred_at, c.from_branch, c.to_branch, c.resource_id, c.mode, c.kept_by,
  c.snapshot_ref, coalesce(k.branches, 0) as branches, r.name as resource_name, r.is_imperative, r.can_snapshot
from choice c
left join keeper k
  on k.fork_id = c.fork_id and k.resource_id = c.resource_id and k.agent_id is not distinct from c.agent_id
left join v_dag_resources r
  on r.resource_id = c.resource_id
  and coalesce(r.known_from <= c.occurred_at, true) and coalesce(r.known_to > c.occurred_at, r.known_to is null)
