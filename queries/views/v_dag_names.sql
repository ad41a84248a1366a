-- title: Names of nodes and events of agent graphs
-- question: Which node or event does an id in an edge or in an event stand for?
-- why: An event has two ids, and an id of an event may stand for the message or the call that the event is about.
-- grain: kind and name
-- column kind: VARCHAR; the kind of node, or Event
-- column name: VARCHAR; an id that edges and events use for it
-- column id: VARCHAR; its own id
-- column is_own_id: BOOLEAN; whether the name is an id of the node or event itself, and not that of an event about it
-- caveat: A name that several have is that of the first by id.
-- rows: only with dag_events, dag_nodes

with node as (
  select kind, node_id from v_dag_nodes where is_newest
),
-- The message that an event appends or produces, the call that it makes, or the result that it brings.
event_subject as (
  select
    case kind when 'tool_call' then 'ToolCall' when 'tool_result' then 'ToolResult' else 'Message' end as kind,
    event_id,
    claimed_event_id,
    case kind
      when 'history_append'
        then coalesce(
          json_extract_string(payload_json, '$.message_ref.id'), json_extract_string(payload_json, '$.message_ref')
        )
      when 'model_response'
        then coalesce(
          json_extract_string(payload_json, '$.output_ref.id'), json_extract_string(payload_json, '$.output_ref')
        )
      else json_extract_string(payload_json, '$.call_id')
    end as subject_id
  from dag_events
  where kind in ('tool_call', 'tool_result', 'history_append', 'model_response')
),
subject_node as (
  select s.kind, s.event_id, s.subject_id, coalesce(a.node_id, b.node_id, c.node_id) as node_id
  from event_subject s
  left join node a on a.kind = s.kind and a.node_id = s.subject_id
  left join node b on b.kind = s.kind and b.node_id = s.event_id
  left join node c on c.kind = s.kind and c.node_id = s.claimed_event_id
),
named as (
  select kind, node_id as name, node_id as id, 0 as distance from node
  union all
  -- A subagent is an agent, and a container is a resource.
  select case kind when 'Subagent' then 'Agent' when 'Container' then 'Resource' else 'Container' end, node_id, node_id, 1
  from node
  where kind in ('Subagent', 'Container', 'Resource')
  union all
  select 'Event', name, event_id, 0 from v_dag_event_names
  union all
  -- A response stands for what it generated, and an event for the snapshot that it materialised.
  select case e.kind when 'model_response' then 'Generation' else 'Snapshot' end, n.name, n.event_id, 1
  from v_dag_event_names n
  join dag_events e on e.event_id = n.event_id
  where e.kind in ('model_response', 'snapshot_materialized')
  union all
  select s.kind, e.name, s.node_id, 1
  from subject_node s
  join v_dag_event_names e on e.event_id = s.event_id
  where s.node_id is not null
  union all
  select kind, subject_id, node_id, 2
  from subject_node
  where subject_id is not null and node_id is not null
)
select kind, name, min_by(id, cast(distance as varchar) || id) as id, min(distance) = 0 as is_own_id
from named
group by kind, name
