-- title: Ancestry of branches and subagents
-- question: What does each branch and subagent descend from?
-- why: Shows whose work a branch goes on with, and who answers for a subagent.
-- grain: branch or subagent, and ancestor
-- param node: text = none; only this branch or subagent
-- column kind: VARCHAR; Branch or Subagent
-- column node_id: VARCHAR; the branch or subagent
-- column ancestor_kind: VARCHAR; what the ancestor is: Event, Run, Branch, Agent or Subagent
-- column ancestor_id: VARCHAR; the ancestor
-- column distance: BIGINT; steps between them on the shortest way
-- column is_root: BOOLEAN; whether the ancestor descends from nothing
-- column is_circular: BOOLEAN; whether the ancestor descends from the node as well
-- shown: node_id, ancestor_id, ancestor_kind, distance, is_root, is_circular, kind
-- empty: The ledger has no forks and no subagents of an agent graph.
-- next: --param node=NAME shows one branch or subagent; `aix query fork_plans` shows what became of the resources
-- caveat: A branch that only events name is AGENT#BRANCH. An agent that is a subagent is shown as one.
-- caveat: Ancestors at a distance of more than 64 are left out.
-- rows: only with dag_edges, dag_events, dag_nodes
with ancestor as (
  select kind, id, ancestor_kind, ancestor_id, distance from v_dag_ancestors where relation = 'descended'
)
select
  a.kind, a.id as node_id, a.ancestor_kind, a.ancestor_id, a.distance,
  not exists (select 1 from ancestor s where s.kind = a.ancestor_kind and s.id = a.ancestor_id) as is_root,
  exists (
    select 1
    from ancestor b
    where b.kind = a.ancestor_kind and b.id = a.ancestor_id and b.ancestor_kind = a.kind and b.ancestor_id = a.id
  ) as is_circular
from ancestor a
where a.kind in ('Branch', 'Subagent') and (getvariable('node') is null or a.id = getvariable('node'))
order by a.kind, a.id, a.distance, a.ancestor_kind, a.ancestor_id
