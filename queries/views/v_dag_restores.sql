-- title: Restores of agent graphs
-- question: What was each restore to restore, and can that be restored?
-- why: The graph says the resource of a snapshot in three ways, and what a resource can do may change.
-- grain: event
-- column event_id: VARCHAR; the event
-- column agent_id: VARCHAR; the agent
-- column occurred_at: BIGINT; when it was tried, in Unix ms
-- column outcome: VARCHAR; how it ended: ok, unsupported or error
-- column snapshot_id: VARCHAR; the snapshot
-- column new_resource_id: VARCHAR; the resource that the restore made
-- column resource_id: VARCHAR; the resource of the snapshot; NULL where the graph does not say
-- column resource_name: VARCHAR; its name at the time
-- column is_imperative: BOOLEAN; whether the resource could not be restored at the time; NULL where the graph does not say
-- column is_final: BOOLEAN; whether the snapshot says that it cannot be restored; NULL where it says nothing
-- rows: only with dag_edges, dag_events, dag_nodes
with reference as (
  select event_id, field, name from v_dag_references where field in ('snapshot_ref', 'resource_ref', 'new_resource_ref')
),
-- The newest version of each snapshot.
snapshot as (
  select
    node_id as snapshot_id, json_extract_string(payload_json, '$.restorable') = 'false' as is_final,
    coalesce(json_extract_string(payload_json, '$.resource_ref.id'), json_extract_string(payload_json, '$.resource_ref'))
      as resource_id
  from v_dag_nodes
  where kind = 'Snapshot' and is_newest
),
-- Resources of snapshots, wherever the graph says them; of several the first by id.
snapshot_resource as (
  select snapshot_id, min(resource_id) as resource_id
  from (
    select snapshot_id, resource_id from snapshot
    union all
    select s.name, r.name
    from reference s
    join reference r on r.event_id = s.event_id and r.field = 'resource_ref'
    where s.field = 'snapshot_ref'
    union all
    select src, dst from dag_edges where type = 'SNAPSHOT_OF'
  ) statement
  group by snapshot_id
)
select
  e.event_id, e.agent_id, e.occurred_at, json_extract_string(e.payload_json, '$.outcome') as outcome,
  s.name as snapshot_id, n.name as new_resource_id, x.resource_id, r.name as resource_name, r.is_imperative, f.is_final
from v_dag_events e
left join reference s on s.event_id = e.event_id and s.field = 'snapshot_ref'
left join reference n on n.event_id = e.event_id and n.field = 'new_resource_ref'
left join snapshot_resource x on x.snapshot_id = s.name
left join snapshot f on f.snapshot_id = s.name
left join v_dag_resources r
  on r.resource_id = x.resource_id
  and coalesce(r.known_from <= e.occurred_at, true) and coalesce(r.known_to > e.occurred_at, r.known_to is null)
where e.kind = 'restore_attempted'
