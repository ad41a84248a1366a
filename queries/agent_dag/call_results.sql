-- title: Tool calls and their results
-- question: Which result belongs to each tool call?
-- why: Calls without a result, and results without a call, show where a log or an agent lost track.
-- grain: call and result
-- param agent: text = none; only this agent
-- param run: text = none; only this run
-- column agent_id: VARCHAR; the agent
-- column run_id: VARCHAR; the run
-- column call_id: VARCHAR; the call's id in the run, or that of its node
-- column server: VARCHAR; the server of the tool
-- column tool: VARCHAR; the tool
-- column called_at: BIGINT; when it was called, in Unix ms; NULL for a result without a call
-- column returned_at: BIGINT; when the result came, in Unix ms; NULL without one
-- column duration_ms: BIGINT; time between them
-- column result_status: VARCHAR; the status of the result: ok, error, timeout, canceled or interrupted
-- column results: BIGINT; results that name the call's id in the run, or that edges RETURNS_RESULT lead to
-- column is_interrupted: BOOLEAN; whether an interruption names the call or the result
-- column is_substituted: BOOLEAN; whether another event took the place of the call or the result
-- column requested_by: VARCHAR; the event that asked for the call
-- column call_event_id: VARCHAR; the event of the call; NULL for one that only a node states
-- column result_event_id: VARCHAR; the event of the result; NULL for one that only a node states
-- shown: tool, call_id, result_status, duration_ms, results, is_interrupted, is_substituted, called_at, run_id
-- empty: The ledger has no tool calls of an agent graph.
-- next: --param run=RUN shows one run; `aix query interruptions` shows what was interrupted
-- caveat: Call ids are those of a run: the same id in another run is another call.
-- rows: only with dag_edges, dag_events, dag_nodes

-- Events in their runs.
with event as (
  select event_id, claimed_event_id, kind, occurred_at, agent_id, run_id, place, payload_json from v_dag_events
),
-- Nodes of calls and results that the source has.
node as (
  select kind, node_id, payload_json
  from v_dag_nodes
  where is_newest and is_stated and kind in ('ToolCall', 'ToolResult')
),
-- Edges that the source has, of calls and results; and what was interrupted or substituted.
edge as (
  select type, src, dst, is_stated
  from v_dag_edges
  where type in ('CALLS_TOOL', 'EVENT_PRODUCES', 'INTERRUPTS', 'RETURNS_RESULT', 'SUBSTITUTES')
),
-- Events of calls and results, each with the run in which its id counts.
call_event as (
  select
    event_id, claimed_event_id, case kind when 'tool_call' then 'ToolCall' else 'ToolResult' end as kind,
    occurred_at, agent_id, run_id, place, json_extract_string(payload_json, '$.call_id') as call_id, payload_json
  from event
  where kind in ('tool_call', 'tool_result')
),
-- The events that each node stands for: by their ids, or by the id of the call.
node_event as (
  select n.kind, n.node_id, e.event_id from node n join call_event e on e.kind = n.kind and e.event_id = n.node_id
  union
  select n.kind, n.node_id, e.event_id from node n join call_event e on e.kind = n.kind and e.claimed_event_id = n.node_id
  union
  select n.kind, n.node_id, e.event_id from node n join call_event e on e.kind = n.kind and e.call_id = n.node_id
),
-- The event that made the call of a node, or produced its result.
maker as (
  select dst as node_id, min(src) as event_id
  from edge
  where type in ('CALLS_TOOL', 'EVENT_PRODUCES') and is_stated
  group by dst
),
-- Calls and results: those of events, with what their node adds, and those of nodes alone.
item as (
  select
    e.kind, e.event_id as id, e.event_id, e.occurred_at, e.agent_id, e.run_id, e.place, e.call_id,
    coalesce(json_extract_string(e.payload_json, '$.server'), min(json_extract_string(n.payload_json, '$.server'))) as server,
    coalesce(json_extract_string(e.payload_json, '$.tool'), min(json_extract_string(n.payload_json, '$.tool'))) as tool,
    coalesce(json_extract_string(e.payload_json, '$.status'), min(json_extract_string(n.payload_json, '$.status'))) as status,
    cast(null as varchar) as made_by
  from call_event e
  left join node_event x on x.event_id = e.event_id and x.kind = e.kind
  left join node n on n.kind = x.kind and n.node_id = x.node_id
  group by e.kind, e.event_id, e.occurred_at, e.agent_id, e.run_id, e.place, e.call_id, e.payload_json
  union all
  select
    n.kind, n.node_id, null, null, e.agent_id, e.run_id, e.place,
    case n.kind when 'ToolCall' then n.node_id else json_extract_string(n.payload_json, '$.call_id') end,
    json_extract_string(n.payload_json, '$.server'), json_extract_string(n.payload_json, '$.tool'),
    json_extract_string(n.payload_json, '$.status'), m.event_id
  from node n
  left join node_event x on x.kind = n.kind and x.node_id = n.node_id
  left join maker m on m.node_id = n.node_id
  left join event e on e.event_id = m.event_id
  where x.event_id is null
),
-- What an edge can mean by an id: the call or result itself, or the events that a node stands for.
item_name as (
  select kind, id as name, id, run_id from item
  union
  select x.kind, x.node_id, i.id, i.run_id from node_event x join item i on i.kind = x.kind and i.id = x.event_id
),
-- Calls with their results: by the id of the call in the run, by that of the node of a call, and by edges.
tie as (
  select c.id as call, r.id as result
  from item c
  join item r
    on r.kind = 'ToolResult' and r.call_id = c.call_id
    and coalesce(r.agent_id, '') = coalesce(c.agent_id, '') and coalesce(r.run_id, '') = coalesce(c.run_id, '')
  where c.kind = 'ToolCall'
  union
  select c.id, r.id
  from item c
  join item r on r.kind = 'ToolResult' and r.call_id = c.call_id
  where c.kind = 'ToolCall' and c.event_id is null and c.run_id is null
  union
  select c.id, r.id
  from edge e
  join item_name c on c.kind = 'ToolCall' and c.name = e.src
  join item_name r on r.kind = 'ToolResult' and r.name = e.dst and coalesce(r.run_id = c.run_id, true)
  where e.type = 'RETURNS_RESULT' and e.is_stated
),
-- Each call beside its result; calls and results without the other too.
pair as (
  select
    coalesce(c.agent_id, r.agent_id) as agent_id, coalesce(c.run_id, r.run_id) as run_id,
    coalesce(c.call_id, r.call_id) as call_id, coalesce(c.place, r.place) as place,
    c.event_id as call_event_id, r.event_id as result_event_id, c.occurred_at as called_at, r.occurred_at as returned_at,
    c.server, c.tool, c.made_by, r.status as result_status, r.id as result
  from (select * from item where kind = 'ToolCall') c
  left join tie t on t.call = c.id
  full join (select * from item where kind = 'ToolResult') r on r.id = t.result
),
-- How many results each call has.
result_count as (
  select agent_id, run_id, call_id, count(distinct result) as results from pair group by agent_id, run_id, call_id
),
-- Events that were interrupted or substituted.
disturbed as (
  select dst as event_id, bool_or(type = 'INTERRUPTS') as is_interrupted, bool_or(type = 'SUBSTITUTES') as is_substituted
  from edge
  where type in ('INTERRUPTS', 'SUBSTITUTES')
  group by dst
),
-- The event that asked for each call, as its event says.
requester as (
  select r.event_id, min(coalesce(n.event_id, r.name)) as requested_by
  from v_dag_references r
  left join v_dag_event_names n on n.name = r.name
  where r.field = 'requested_by'
  group by r.event_id
)
select
  p.agent_id, p.run_id, p.call_id, p.server, p.tool, p.called_at, p.returned_at,
  p.returned_at - p.called_at as duration_ms,
  p.result_status,
  coalesce(n.results, 0) as results,
  coalesce(dc.is_interrupted, false) or coalesce(dr.is_interrupted, false) as is_interrupted,
  coalesce(dc.is_substituted, false) or coalesce(dr.is_substituted, false) as is_substituted,
  coalesce(q.requested_by, p.made_by) as requested_by, p.call_event_id, p.result_event_id
from pair p
left join result_count n
  on n.call_id = p.call_id
  and coalesce(n.agent_id, '') = coalesce(p.agent_id, '') and coalesce(n.run_id, '') = coalesce(p.run_id, '')
left join disturbed dc on dc.event_id = p.call_event_id
left join disturbed dr on dr.event_id = p.result_event_id
left join requester q on q.event_id = p.call_event_id
where (getvariable('agent') is null or p.agent_id = getvariable('agent'))
  and (getvariable('run') is null or p.run_id = getvariable('run'))
order by p.agent_id nulls last, p.run_id nulls last, p.place nulls last, p.call_id, p.call_event_id nulls last,
  p.result_event_id nulls last, p.result
