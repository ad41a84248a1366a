-- title: Edges of an agent graph lead from where to where their type allows
-- question: Which edges have a type, an end or a kind of end that cannot be?
-- why: A query along such an edge ends nowhere, or at something that it does not mean.
-- grain: edge and end
-- invariant: G4
-- severity: warning
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: Input of a request may be an event too. A subagent counts as an agent; a container and a resource count as each other.
-- caveat: References of events and nodes, which imply edges, are looked at too; then the row is that event or node.
-- rows: only with dag_edges, dag_events, dag_nodes

-- Ends of edges that the source has, and references of events and nodes with the type of edge that they imply.
with named_end as (
  select 'dag_edges' as table_name, cast(id as varchar) as row_id, 'It starts at ' as beginning, 'src' as side, type,
    coalesce(src_kind, '') as kind, src as name
  from dag_edges
  union all
  select 'dag_edges', cast(id as varchar), 'It leads to ', 'dst', type, coalesce(dst_kind, ''), dst from dag_edges
  union all
  select 'dag_events', event_id, 'Its ' || field || ' names ',
    case when field in ('requested_by', 'replacement_event') then 'src' else 'dst' end,
    case
      when field in ('output_ref', 'reasoning_ref') then 'EVENT_PRODUCES'
      when field = 'input_refs' then 'EVENT_CONSUMES'
      when field = 'message_ref' then 'APPENDED_TO_HISTORY'
      when field = 'requested_by' then 'CALLS_TOOL'
      when field = 'affects' then 'INTERRUPTS'
      when field in ('original_event', 'replacement_event') then 'SUBSTITUTES'
      when field = 'policy_ref' then 'ACTIVATES_POLICY'
      when field = 'at_event' then 'FORKED_FROM'
      else 'SNAPSHOT_OF'
    end,
    case when field in ('output_ref', 'reasoning_ref') then 'Message' when field in ('requested_by', 'at_event') then 'Event' else '' end,
    name
  from v_dag_references
  where field in (
    'output_ref', 'reasoning_ref', 'input_refs', 'message_ref', 'requested_by', 'affects', 'original_event',
    'replacement_event', 'policy_ref', 'at_event', 'resource_ref', 'new_resource_ref'
  )
  union all
  select 'dag_nodes', cast(to_json([kind, node_id, cast(valid_from as varchar)]) as varchar), 'It was spawned from ', 'dst',
    'SPAWNED_FROM', '', json_extract_string(payload_json, '$.parent_agent_id')
  from dag_nodes
  where kind = 'Subagent' and json_extract_string(payload_json, '$.parent_agent_id') is not null
  union all
  select 'dag_nodes', cast(to_json([kind, node_id, cast(valid_from as varchar)]) as varchar), 'It is a snapshot of ', 'dst',
    'SNAPSHOT_OF', '',
    coalesce(json_extract_string(payload_json, '$.resource_ref.id'), json_extract_string(payload_json, '$.resource_ref'))
  from dag_nodes
  where kind = 'Snapshot' and json_extract_string(payload_json, '$.resource_ref') is not null
),
-- Kinds that each end can be.
allowed_end as (
  select
    e.*, t.type is not null as is_type_known,
    case e.side when 'src' then t.src_kinds else t.dst_kinds end
      || case when e.beginning = 'Its input_refs names ' then ' Event' else '' end as kinds
  from named_end e
  left join v_dag_edge_types t on t.type = e.type
),
-- Kinds that count as another one too.
similar_kind as (
  select kind, counts_as
  from (values ('Subagent', 'Agent'), ('Container', 'Resource'), ('Resource', 'Container')) known_kind (kind, counts_as)
),
-- What each end is: kinds of nodes and events of that name, those that the type allows counted apart.
found_end as (
  select
    e.table_name, e.row_id, e.beginning, e.side, e.type, e.kind, e.name, e.is_type_known, e.kinds,
    min(n.kind) as found_kind,
    count(
      case
        when contains(' ' || e.kinds || ' ', ' ' || n.kind || ' ') or contains(' ' || e.kinds || ' ', ' ' || s.counts_as || ' ')
          then 1
      end
    ) as allowed
  from allowed_end e
  left join v_dag_names n on n.name = e.name and e.kind in ('', n.kind)
  left join similar_kind s on s.kind = n.kind
  group by e.table_name, e.row_id, e.beginning, e.side, e.type, e.kind, e.name, e.is_type_known, e.kinds
)
select table_name, row_id,
  case
    when not is_type_known then 'Its type ' || left(type, 100) || ' is not known.'
    when found_kind is null
      then beginning || case when kind = '' then '' else kind || ' ' end || left(name, 100) || ', which is not in the ledger.'
    else beginning || found_kind || ' ' || left(name, 100) || ', and ' || type || ' allows ' || replace(kinds, ' ', ' or ')
      || ' there.'
  end as reason
from found_end
where (not is_type_known and side = 'src')
  or (is_type_known and found_kind is null)
  or (is_type_known and kinds <> '*' and allowed = 0)
order by table_name, row_id, reason
