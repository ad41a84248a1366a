-- title: Lineage of nodes
-- question: What was each node derived from, at up to 64 steps?
-- why: Shows what a summary or an answer rests on, down to its first sources.
-- grain: node and source
-- param node: text = none; only the lineage of this node
-- column kind: VARCHAR; the kind of the derived node
-- column node_id: VARCHAR; the derived node
-- column source_kind: VARCHAR; the kind of the source, or Event
-- column source_id: VARCHAR; a node or event that it was derived from
-- column distance: BIGINT; edges between them on the shortest way; 1 for a direct source
-- column is_first_source: BOOLEAN; whether the source itself is derived from nothing
-- column is_circular: BOOLEAN; whether the source is derived from the node as well
-- column text: VARCHAR; the first text of the source, at most 200 characters
-- shown: node_id, source_id, distance, source_kind, is_first_source, is_circular, text
-- empty: No node of an agent graph says what it is derived from.
-- next: --param node=NODE shows the lineage of one node
-- caveat: Sources that the ledger does not have are left out; `aix check dag_edge_types` names them.
-- caveat: Sources at a distance of more than 64 are left out.
-- rows: only with dag_edges, dag_events, dag_nodes
with ancestor as (
  select kind, id, ancestor_kind, ancestor_id, distance from v_dag_ancestors where relation = 'derived'
),
node as (
  select kind, node_id, payload_json from v_dag_nodes where is_newest and is_stated
)
select
  a.kind, a.id as node_id, a.ancestor_kind as source_kind, a.ancestor_id as source_id, a.distance,
  not exists (select 1 from ancestor s where s.kind = a.ancestor_kind and s.id = a.ancestor_id) as is_first_source,
  exists (
    select 1
    from ancestor b
    where b.kind = a.ancestor_kind and b.id = a.ancestor_id and b.ancestor_kind = a.kind and b.ancestor_id = a.id
  ) as is_circular,
  left(
    coalesce(
      json_extract_string(n.payload_json, '$.content[0].text'),
      json_extract_string(n.payload_json, '$.content'),
      json_extract_string(n.payload_json, '$.text')
    ),
    200
  ) as text
from ancestor a
left join node n on n.kind = a.ancestor_kind and n.node_id = a.ancestor_id
where getvariable('node') is null or a.id = getvariable('node')
order by a.kind, a.id, a.distance, a.ancestor_kind, a.ancestor_id
