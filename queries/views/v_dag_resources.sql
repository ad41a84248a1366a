-- title: Resources of agent graphs
-- question: What can each resource do, and can it be restored?
-- why: How a resource may be forked and restored depends on its capabilities.
-- grain: resource and version
-- column resource_id: VARCHAR; the resource
-- column kind: VARCHAR; what it is, such as docker_volume; Container or Handle for one of these that does not say
-- column name: VARCHAR; its name
-- column capabilities: VARCHAR; what can be done with it, a JSON array; NULL where the source does not say
-- column is_imperative: BOOLEAN; whether it cannot be restored: it says so (`imperative`, or `restorable` is false), or its capabilities lack `restore`; NULL where nothing is said
-- column can_snapshot: BOOLEAN; whether its capabilities include `snapshot`; NULL where the source does not say
-- column liveness: VARCHAR; whether it lives, as the node says: unknown, alive or dead
-- column scope_agent_id: VARCHAR; the agent that it belongs to by its scope
-- column scope_run_id: VARCHAR; the run that it belongs to by its scope
-- column valid_from: BIGINT; since when this version holds, in Unix ms; 0 where the source does not say
-- column valid_to: BIGINT; until when it holds; NULL while it does
-- column is_newest: BOOLEAN; whether no later version is known
-- column known_from: BIGINT; since when this version is the best that is known; NULL for the first, which has none before it
-- column known_to: BIGINT; until when it is; NULL for the newest
-- caveat: Containers and handles are resources too. Of nodes of several types with one id, the Resource counts, else the Container.
-- rows: only with dag_events, dag_nodes
with node as (
  select
    kind as node_kind, node_id, valid_from, valid_to, is_newest, payload_json,
    max(kind) over (partition by node_id) as last_kind,
    min(kind) over (partition by node_id) as first_kind
  from v_dag_nodes
  where kind in ('Resource', 'Container', 'Handle')
),
resource as (
  select
    node_kind, node_id, valid_from, valid_to, is_newest, payload_json,
    row_number() over (partition by node_kind, node_id order by valid_from) = 1 as is_first,
    lead(valid_from) over (partition by node_kind, node_id order by valid_from) as known_to,
    json_extract_string(payload_json, '$.capabilities') as capabilities,
    json_extract_string(payload_json, '$.imperative') as imperative,
    json_extract_string(payload_json, '$.restorable') as restorable
  from node
  where node_kind = case when last_kind = 'Resource' then last_kind else first_kind end
)
select
  node_id as resource_id,
  coalesce(json_extract_string(payload_json, '$.kind'), case when node_kind <> 'Resource' then node_kind end) as kind,
  json_extract_string(payload_json, '$.name') as name,
  capabilities,
  case when imperative = 'true' or restorable = 'false' then true else not contains(capabilities, '"restore"') end
    as is_imperative,
  contains(capabilities, '"snapshot"') as can_snapshot,
  json_extract_string(payload_json, '$.liveness.status') as liveness,
  json_extract_string(payload_json, '$.scope.agent_id') as scope_agent_id,
  json_extract_string(payload_json, '$.scope.run_id') as scope_run_id,
  valid_from, valid_to, is_newest,
  case when not is_first then valid_from end as known_from, known_to
from resource
