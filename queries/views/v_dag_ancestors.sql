-- title: Ancestors in agent graphs
-- question: What was a node derived from, and what was a branch or subagent forked or spawned from, at up to 64 steps?
-- why: Lineage and descent go over many edges, and edges of a wrong log can go in a circle.
-- grain: relation, descendant and ancestor
-- column relation: VARCHAR; derived for DERIVED_FROM, descended for forks and subagents
-- column kind: VARCHAR; the kind of the descendant
-- column id: VARCHAR; the descendant
-- column ancestor_kind: VARCHAR; the kind of the ancestor
-- column ancestor_id: VARCHAR; the ancestor
-- column distance: BIGINT; edges between them on the shortest way
-- caveat: Ancestors at a distance of more than 64 are left out.
-- caveat: A node that is among its own ancestors is in a circle.
-- rows: only with dag_edges, dag_events, dag_nodes

-- Every view is read once here: an engine may else compute it wherever it is named.
with recursive known_edge as (
  select type, src_kind, src, dst_kind, dst
  from v_dag_edges
  where type in ('DERIVED_FROM', 'FORKED_FROM', 'SPAWNED_FROM', 'AGENT_HAS_RUN')
    and src_kind is not null and dst_kind is not null
),
-- Branches, subagents and runs.
node as (
  select kind, node_id, payload_json from v_dag_nodes where is_newest and kind in ('Branch', 'Subagent', 'Run')
),
-- Forks, and the runs of events.
event as (
  select event_id, kind, agent_id, run_id, payload_json from v_dag_events
),
-- The branch of a run: as the run or its beginning says, or of the same name as the run where a fork made it.
named_branch as (
  select
    run_id, agent_id,
    coalesce(
      json_extract_string(payload_json, '$.branch'), json_extract_string(payload_json, '$.branch_id'),
      json_extract_string(payload_json, '$.to_branch')
    ) as branch
  from event
  where kind = 'run_started'
  union all
  select
    node_id, json_extract_string(payload_json, '$.agent_id'),
    coalesce(
      json_extract_string(payload_json, '$.branch'), json_extract_string(payload_json, '$.branch_id'),
      json_extract_string(payload_json, '$.to_branch')
    )
  from node
  where kind = 'Run'
  union all
  select r.run_id, r.agent_id, r.run_id
  from event f
  join (select distinct agent_id, run_id from event where run_id is not null) r
    on r.run_id = json_extract_string(f.payload_json, '$.to_branch') and r.agent_id = f.agent_id
  where f.kind = 'agent_forked'
),
-- Runs with the branch that they are the work of, where the graph has it.
run_of_branch as (
  select n.run_id, b.node_id as branch
  from named_branch n
  join node b on b.kind = 'Branch' and b.node_id in (n.branch, coalesce(n.agent_id, '') || '#' || n.branch)
  union
  select json_extract_string(payload_json, '$.run_id'), node_id
  from node
  where kind = 'Branch' and json_extract_string(payload_json, '$.run_id') is not null
),
-- Runs that branches were forked from: such a run is before its branch, whatever the branch says.
run_before as (
  select f.src as branch, coalesce(e.run_id, f.dst) as run_id
  from known_edge f
  left join event e on f.dst_kind = 'Event' and e.event_id = f.dst
  where f.type = 'FORKED_FROM' and f.src_kind = 'Branch'
),
-- Edges back by one. The event of a fork leads to its run, a run to its branch and its agent, a branch to the one that
-- it left.
edge as (
  select
    case type when 'DERIVED_FROM' then 'derived' else 'descended' end as relation,
    src_kind as kind, src as id, dst_kind as ancestor_kind, dst as ancestor_id
  from known_edge
  where type in ('DERIVED_FROM', 'FORKED_FROM', 'SPAWNED_FROM')
  union all
  select 'descended', 'Event', e.event_id, 'Run', e.run_id
  from known_edge f
  join event e on e.event_id = f.dst
  where f.type = 'FORKED_FROM' and f.dst_kind = 'Event' and e.run_id is not null
  union all
  select 'descended', 'Run', dst, 'Agent', src
  from known_edge
  where type = 'AGENT_HAS_RUN'
  union all
  select 'descended', 'Run', r.run_id, 'Branch', r.branch
  from run_of_branch r
  left join run_before b on b.branch = r.branch and b.run_id = r.run_id
  where b.branch is null
  union all
  select 'descended', 'Branch', b.node_id, 'Branch', p.node_id
  from event e
  join node b
    on b.kind = 'Branch'
    and b.node_id in (
      json_extract_string(e.payload_json, '$.to_branch'),
      coalesce(e.agent_id, '') || '#' || json_extract_string(e.payload_json, '$.to_branch')
    )
  join node p
    on p.kind = 'Branch'
    and p.node_id in (
      json_extract_string(e.payload_json, '$.from_branch'),
      coalesce(e.agent_id, '') || '#' || json_extract_string(e.payload_json, '$.from_branch')
    )
  where e.kind = 'agent_forked'
),
-- An agent that is a subagent is shown as one, so that descent goes on.
step as (
  select distinct
    e.relation, e.kind, e.id,
    case when s.node_id is null then e.ancestor_kind else 'Subagent' end as ancestor_kind,
    e.ancestor_id
  from edge e
  left join node s
    on s.kind = 'Subagent' and s.node_id = e.ancestor_id
    and e.relation = 'descended' and e.ancestor_kind = 'Agent'
),
-- Further and further back. `union` drops a row that is there already, so many ways between two nodes count once.
ancestor as (
  select relation, kind, id, ancestor_kind, ancestor_id, cast(1 as bigint) as distance from step
  union
  select a.relation, a.kind, a.id, s.ancestor_kind, s.ancestor_id, a.distance + 1
  from ancestor a
  join step s on s.relation = a.relation and s.kind = a.ancestor_kind and s.id = a.ancestor_id
  where a.distance < 64 and not (a.ancestor_kind = a.kind and a.ancestor_id = a.id)
)
select relation, kind, id, ancestor_kind, ancestor_id, min(distance) as distance
from ancestor
group by relation, kind, id, ancestor_kind, ancestor_id
