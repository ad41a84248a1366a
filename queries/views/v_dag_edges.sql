-- title: Edges of agent graphs, with those that events and nodes imply
-- question: Which nodes and events are related, and how?
-- why: A log need not state an edge for what its events already say; queries find both alike, and never twice.
-- grain: type, both ends, valid_from and attributes
-- column type: VARCHAR; what the relation is
-- column src_kind: VARCHAR; the kind of node that it starts at, or Event; NULL where that cannot be known
-- column src: VARCHAR; the node or event that it starts at, by its own id
-- column dst_kind: VARCHAR; the kind of node that it leads to, or Event; NULL where that cannot be known
-- column dst: VARCHAR; the node or event that it leads to, by its own id
-- column seq: BIGINT; of RUN_HAS_EVENT: the number of the event in the run
-- column list_name: VARCHAR; of APPENDED_TO_HISTORY: which history
-- column mode: VARCHAR; of mounts and attachments: ro or rw
-- column mount: VARCHAR; of MOUNTS_RESOURCE: where it is mounted
-- column valid_from: BIGINT; since when it holds, in Unix ms; NULL where that is not known
-- column valid_to: BIGINT; until when it holds; NULL while it does
-- column is_stated: BOOLEAN; whether the source has the edge; false where an event or a node implies it
-- column is_src_known: BOOLEAN; whether the ledger has the node or event that it starts at
-- column is_dst_known: BOOLEAN; whether the ledger has the node or event that it leads to
-- column source_table: VARCHAR; where it comes from: dag_edges, dag_events or dag_nodes
-- column source_id: VARCHAR; the key of that row; the parts of a key of several columns are a JSON array
-- caveat: An edge that is stated is not implied as well for the same time and attributes. Those that it does not state are those of the implied one.
-- caveat: Owners and mounts of resources, summaries, proposals and derivations are never implied.
-- rows: only with dag_edges, dag_events, dag_nodes

-- Every view is read once here: an engine may else compute it wherever it is named.
with event as (
  select event_id, kind, agent_id, run_id, occurred_at, seq, place, position, payload_json from v_dag_events
),
-- Ids in the fields of events.
reference as (
  select event_id, event_kind, field, name from v_dag_references
),
-- The newest version of each node from which edges follow.
node as (
  select kind, node_id, valid_from, payload_json
  from v_dag_nodes
  where is_newest and kind in ('Branch', 'Resource', 'Snapshot', 'Subagent')
),
-- The types of edges, with the kinds that they allow.
edge_type as (
  select type, src_kinds, dst_kinds from v_dag_edge_types
),
-- Edges that the source has, with names in the place of ids.
stated_edge as (
  select
    type, src_kind, src, dst_kind, dst,
    try_cast(coalesce(json_extract_string(payload_json, '$.seq'), json_extract_string(payload_json, '$.attrs.seq')) as bigint)
      as seq,
    coalesce(json_extract_string(payload_json, '$.list'), json_extract_string(payload_json, '$.attrs.list')) as list_name,
    coalesce(json_extract_string(payload_json, '$.mode'), json_extract_string(payload_json, '$.attrs.mode')) as mode,
    coalesce(json_extract_string(payload_json, '$.mount'), json_extract_string(payload_json, '$.attrs.mount')) as mount,
    valid_from, valid_to, true as is_stated, 'dag_edges' as source_table, cast(id as varchar) as source_id
  from dag_edges
),
-- Times at which a resource was attached, attached again in another mode, or detached.
attachment as (
  select
    a.event_id, r.name as resource, a.agent_id, a.run_id, a.occurred_at, a.place, a.position, a.kind,
    json_extract_string(a.payload_json, '$.mode') as mode
  from event a
  join reference r on r.event_id = a.event_id and r.field = 'resource_ref'
  where a.kind in ('resource_attached', 'resource_detached')
),
-- When each attachment ended. Without a run, a resource is detached from the agent with all its runs.
attachment_end as (
  select a.event_id, min(d.occurred_at) as detached_at
  from attachment a
  join attachment d
    on d.resource = a.resource and d.agent_id is not distinct from a.agent_id and d.event_id <> a.event_id
    and (
      d.run_id is not distinct from a.run_id or (d.run_id is null and d.kind = 'resource_detached')
    )
    and (
      d.occurred_at > a.occurred_at
      -- Of one moment, the later in the run, else in the log.
      or (
        d.occurred_at = a.occurred_at
        and coalesce(case when d.run_id = a.run_id then d.place > a.place end, d.position > a.position, d.kind <> a.kind)
      )
    )
  where a.kind = 'resource_attached'
  group by a.event_id
),
-- Names by which an event can mean a resource.
resource_name as (
  select node_id, node_id as name from node where kind = 'Resource'
  union
  select node_id, json_extract_string(payload_json, '$.name') from node where kind = 'Resource'
  union
  select node_id, json_extract_string(payload_json, '$.metadata.uri') from node where kind = 'Resource'
),
-- Edges that events and nodes imply.
implied_edge as (
  select
    'AGENT_HAS_RUN' as type, 'Agent' as src_kind, agent_id as src, 'Run' as dst_kind, run_id as dst,
    cast(null as bigint) as seq, cast(null as varchar) as list_name, cast(null as varchar) as mode,
    cast(null as bigint) as valid_from, cast(null as bigint) as valid_to,
    'dag_events' as source_table, min(event_id) as source_id
  from event
  where agent_id is not null and run_id is not null
  group by agent_id, run_id
  union all
  select 'RUN_HAS_EVENT', 'Run', run_id, 'Event', event_id, seq, null, null, null, null, 'dag_events', event_id
  from event
  where run_id is not null
  union all
  select
    case
      when r.field in ('output_ref', 'reasoning_ref', 'snapshot_ref') then 'EVENT_PRODUCES'
      when r.field in ('input_refs', 'resource_ref') then 'EVENT_CONSUMES'
      when r.field = 'affects' then 'INTERRUPTS'
      else 'ACTIVATES_POLICY'
    end,
    'Event', e.event_id,
    case r.field
      when 'input_refs' then null
      when 'snapshot_ref' then 'Snapshot'
      when 'resource_ref' then 'Resource'
      when 'affects' then 'Event'
      when 'policy_ref' then 'Policy'
      else 'Message'
    end,
    r.name, null, null, null, null, null, 'dag_events', e.event_id
  from reference r
  join event e on e.event_id = r.event_id
  where r.field in ('output_ref', 'reasoning_ref', 'input_refs', 'affects', 'policy_ref')
    or (
      r.event_kind in ('snapshot_created', 'snapshot_materialized')
      and coalesce(json_extract_string(e.payload_json, '$.outcome'), '') <> 'error'
    )
  union all
  select
    'APPENDED_TO_HISTORY',
    case when e.run_id is null then 'Agent' else 'Run' end, coalesce(e.run_id, e.agent_id),
    'Message', r.name, null, json_extract_string(e.payload_json, '$.list'), null, null, null, 'dag_events', e.event_id
  from reference r
  join event e on e.event_id = r.event_id
  where r.field = 'message_ref' and coalesce(e.run_id, e.agent_id) is not null
  union all
  -- A call that names nobody who asked for it is made by its own event.
  select 'CALLS_TOOL', 'Event', coalesce(r.name, e.event_id), 'ToolCall', e.event_id, null, null, null, null, null,
    'dag_events', e.event_id
  from event e
  left join reference r on r.event_id = e.event_id and r.field = 'requested_by'
  where e.kind = 'tool_call'
  union all
  select 'EVENT_PRODUCES', 'Event', event_id, 'ToolResult', event_id, null, null, null, null, null, 'dag_events', event_id
  from event
  where kind = 'tool_result'
  union all
  select p.type, p.src_kind, case p.type when 'RETURNS_RESULT' then c.event_id else e.event_id end,
    p.dst_kind, case p.type when 'RETURNS_RESULT' then e.event_id else c.event_id end,
    null, null, null, null, null, 'dag_events', e.event_id
  from event e
  join event c
    on c.kind = 'tool_call' and c.agent_id is not distinct from e.agent_id and c.run_id is not distinct from e.run_id
    and json_extract_string(c.payload_json, '$.call_id') = json_extract_string(e.payload_json, '$.call_id')
  cross join (
    values ('RETURNS_RESULT', 'ToolCall', 'ToolResult'), ('EVENT_CONSUMES', 'Event', 'ToolCall')
  ) p (type, src_kind, dst_kind)
  where e.kind = 'tool_result'
  union all
  select 'MCP_RESOURCE_UPDATED', 'Event', e.event_id, 'Resource', n.node_id, null, null, null, null, null,
    'dag_events', e.event_id
  from event e
  join resource_name n on n.name = json_extract_string(e.payload_json, '$.uri')
  where e.kind = 'mcp.resource_updated'
  union all
  select 'SUBSTITUTES', 'Event', n.name, 'Event', o.name, null, null, null, null, null, 'dag_events', n.event_id
  from reference n
  join reference o on o.event_id = n.event_id and o.field = 'original_event'
  where n.field = 'replacement_event'
  union all
  select case r.field when 'resource_ref' then 'SNAPSHOT_OF' else 'RESTORES_TO' end, 'Snapshot', s.name,
    'Resource', r.name, null, null, null, null, null, 'dag_events', s.event_id
  from reference s
  join reference r on r.event_id = s.event_id and r.field in ('resource_ref', 'new_resource_ref')
  join event e on e.event_id = s.event_id
  where s.field = 'snapshot_ref' and coalesce(json_extract_string(e.payload_json, '$.outcome'), '') <> 'error'
  union all
  select 'SNAPSHOT_OF', 'Snapshot', node_id, 'Resource',
    coalesce(json_extract_string(payload_json, '$.resource_ref.id'), json_extract_string(payload_json, '$.resource_ref')),
    null, null, null, null, null, 'dag_nodes',
    cast(to_json([kind, node_id, cast(valid_from as varchar)]) as varchar)
  from node
  where kind = 'Snapshot' and json_extract_string(payload_json, '$.resource_ref') is not null
  union all
  select 'SPAWNED_FROM', 'Subagent', node_id, 'Agent', json_extract_string(payload_json, '$.parent_agent_id'),
    null, null, null, null, null, 'dag_nodes',
    cast(to_json([kind, node_id, cast(valid_from as varchar)]) as varchar)
  from node
  where kind = 'Subagent' and json_extract_string(payload_json, '$.parent_agent_id') is not null
  union all
  select 'ATTACHED_TO', 'Resource', a.resource,
    case when a.run_id is null then 'Agent' else 'Run' end, coalesce(a.run_id, a.agent_id),
    null, null, a.mode, a.occurred_at, x.detached_at, 'dag_events', a.event_id
  from attachment a
  left join attachment_end x on x.event_id = a.event_id
  where a.kind = 'resource_attached' and coalesce(a.run_id, a.agent_id) is not null
  union all
  select 'FORKED_FROM', 'Branch', coalesce(b.node_id, n.node_id),
    case when r.name is null then 'Agent' else 'Event' end, coalesce(r.name, e.agent_id),
    null, null, null, null, null, 'dag_events', e.event_id
  from event e
  left join reference r on r.event_id = e.event_id and r.field = 'at_event'
  left join node b
    on b.kind = 'Branch' and b.node_id = json_extract_string(e.payload_json, '$.to_branch')
  left join node n
    on n.kind = 'Branch' and n.node_id = coalesce(e.agent_id, '') || '#' || json_extract_string(e.payload_json, '$.to_branch')
  where e.kind = 'agent_forked' and coalesce(b.node_id, n.node_id) is not null and coalesce(r.name, e.agent_id) is not null
),
-- Both together.
named_edge as (
  select * from stated_edge
  union all
  select type, src_kind, src, dst_kind, dst, seq, list_name, mode, cast(null as varchar) as mount,
    valid_from, valid_to, false, source_table, source_id
  from implied_edge
),
-- Every end once, with the kinds that the edge allows there.
named_end as (
  select distinct e.type, 'src' as side, coalesce(e.src_kind, '') as kind, e.src as name, t.src_kinds as kinds
  from named_edge e left join edge_type t on t.type = e.type
  union all
  select distinct e.type, 'dst', coalesce(e.dst_kind, ''), e.dst, t.dst_kinds
  from named_edge e left join edge_type t on t.type = e.type
),
-- Nodes and events of that name: allowed ones first, then those whose own id it is.
found_end as (
  select type, side, kind, name, found_kind, id
  from (
    select
      x.type, x.side, x.kind, x.name, n.kind as found_kind, n.id,
      row_number() over (
        partition by x.type, x.side, x.kind, x.name
        order by
          case when contains(' ' || x.kinds || ' ', ' ' || n.kind || ' ') then 0 else 1 end,
          case when n.is_own_id then 0 else 1 end,
          n.kind
      ) as place
    from named_end x
    join v_dag_names n on n.name = x.name and x.kind in ('', n.kind)
  ) candidate
  where place = 1
),
-- Edges with the ids of what they name. An end that is not there keeps its name, and the only kind that it can have.
resolved_edge as (
  select
    e.type,
    coalesce(s.found_kind, e.src_kind, case when not contains(t.src_kinds, ' ') then nullif(t.src_kinds, '*') end) as src_kind,
    coalesce(s.id, e.src) as src,
    coalesce(d.found_kind, e.dst_kind, case when not contains(t.dst_kinds, ' ') then nullif(t.dst_kinds, '*') end) as dst_kind,
    coalesce(d.id, e.dst) as dst,
    e.seq, e.list_name, e.mode, e.mount, e.valid_from, e.valid_to, e.is_stated,
    s.id is not null as is_src_known, d.id is not null as is_dst_known,
    e.source_table, e.source_id
  from named_edge e
  left join edge_type t on t.type = e.type
  left join found_end s on s.side = 'src' and s.type = e.type and s.kind = coalesce(e.src_kind, '') and s.name = e.src
  left join found_end d on d.side = 'dst' and d.type = e.type and d.kind = coalesce(e.dst_kind, '') and d.name = e.dst
),
-- Stated edges. What one does not say about itself, the events and nodes do that imply the same edge.
whole_edge as (
  select
    e.type, e.src_kind, e.src, e.dst_kind, e.dst,
    coalesce(e.seq, i.seq) as seq, coalesce(e.list_name, i.list_name) as list_name, coalesce(e.mode, i.mode) as mode,
    e.mount, coalesce(e.valid_from, i.valid_from) as valid_from, min(coalesce(e.valid_to, i.valid_to)) as valid_to,
    e.is_src_known, e.is_dst_known, min(e.source_id) as source_id
  from resolved_edge e
  left join resolved_edge i
    on not i.is_stated and i.type = e.type and i.src = e.src and i.dst = e.dst
    and coalesce(i.list_name = e.list_name, true) and coalesce(i.mode = e.mode, true)
    and coalesce(i.valid_from < e.valid_to, true) and coalesce(e.valid_from < i.valid_to, true)
  where e.is_stated
  group by
    e.type, e.src_kind, e.src, e.dst_kind, e.dst, coalesce(e.seq, i.seq), coalesce(e.list_name, i.list_name),
    coalesce(e.mode, i.mode), e.mount, coalesce(e.valid_from, i.valid_from), e.is_src_known, e.is_dst_known
),
-- Implied edges that are not stated, not even for a part of their time.
lone_edge as (
  select i.*
  from resolved_edge i
  left join whole_edge e
    on e.type = i.type and e.src = i.src and e.dst = i.dst
    and coalesce(i.list_name = e.list_name, true) and coalesce(i.mode = e.mode, true)
    and coalesce(i.valid_from < e.valid_to, true) and coalesce(e.valid_from < i.valid_to, true)
  where not i.is_stated and e.type is null
)
select
  type, src_kind, src, dst_kind, dst, seq, list_name, mode, mount, valid_from, valid_to,
  true as is_stated, is_src_known, is_dst_known, 'dag_edges' as source_table, source_id
from whole_edge
union all
select
  type, src_kind, src, dst_kind, dst, seq, list_name, mode, mount, valid_from, min(valid_to),
  false, is_src_known, is_dst_known,
  min_by(source_table, source_table || source_id), min_by(source_id, source_table || source_id)
from lone_edge
group by type, src_kind, src, dst_kind, dst, seq, list_name, mode, mount, valid_from, is_src_known, is_dst_known
