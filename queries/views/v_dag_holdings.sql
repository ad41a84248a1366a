-- title: Holders of resources in agent graphs
-- question: Who owned, mounted or was attached to each resource, and since when and until when?
-- why: Edges of several types, and resources themselves, say who holds a resource.
-- grain: resource, relation, holder, mount, mode and valid_from
-- column resource_id: VARCHAR; the resource
-- column relation: VARCHAR; owns, mounts, attached, scope for the agent or run that the resource itself names, or part of another resource
-- column holder_kind: VARCHAR; what the holder is: Agent, Subagent, Run, Container or Resource; NULL where that cannot be known
-- column holder_id: VARCHAR; the holder
-- column agent_id: VARCHAR; the agent that holds it: the holder, or the agent of the run; NULL for containers and resources
-- column mount: VARCHAR; where it is mounted
-- column mode: VARCHAR; ro or rw
-- column valid_from: BIGINT; since when, in Unix ms; NULL where the log does not say
-- column valid_to: BIGINT; until when; NULL where no end is known
-- caveat: A run of several agents counts for the first by id.
-- rows: only with dag_edges, dag_events, dag_nodes

-- Every view is read once here: an engine may else compute it wherever it is named.
with edge as (
  select type, src_kind, src, dst_kind, dst, mount, mode, valid_from, valid_to
  from v_dag_edges
  where type in ('AGENT_HAS_RUN', 'ATTACHED_TO', 'HAS_SUBRESOURCE', 'MOUNTS_RESOURCE', 'OWNS_RESOURCE')
),
run_agent as (
  select dst as run_id, min(src) as agent_id from edge where type = 'AGENT_HAS_RUN' group by dst
),
holding as (
  select dst as resource_id, case type when 'OWNS_RESOURCE' then 'owns' when 'MOUNTS_RESOURCE' then 'mounts' else 'part' end
      as relation,
    src_kind as holder_kind, src as holder_id, mount, mode, valid_from, valid_to
  from edge
  where type in ('OWNS_RESOURCE', 'MOUNTS_RESOURCE', 'HAS_SUBRESOURCE')
  union all
  select src, 'attached', dst_kind, dst, mount, mode, valid_from, valid_to from edge where type = 'ATTACHED_TO'
  union all
  select resource_id, 'scope', case when scope_run_id is null then 'Agent' else 'Run' end,
    coalesce(scope_run_id, scope_agent_id), null, null, nullif(valid_from, 0), valid_to
  from v_dag_resources
  where coalesce(scope_run_id, scope_agent_id) is not null
)
select
  h.resource_id, h.relation, h.holder_kind, h.holder_id,
  case when h.holder_kind in ('Agent', 'Subagent') then h.holder_id else r.agent_id end as agent_id,
  h.mount, h.mode, h.valid_from, h.valid_to
from holding h
left join run_agent r on r.run_id = h.holder_id and coalesce(h.holder_kind, 'Run') = 'Run'
