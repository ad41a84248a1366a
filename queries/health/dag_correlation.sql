-- title: Responses have their requests, and results their calls, one each
-- question: Which responses have no request, which results no call, and which calls several results?
-- why: An answer of a model or a tool can be judged only beside its question.
-- grain: event or edge
-- invariant: G3
-- severity: warning
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: A response names its request by the id of the event; or, in the same run, by its request id or correlation id.
-- caveat: Results that events bring and results that edges RETURNS_RESULT state are counted apart.
-- caveat: Results that another event took the place of do not count, nor do several of a call that was replaced.
-- caveat: A call that only a node states, under the id of the call, counts as well.
-- rows: only with dag_edges, dag_events, dag_nodes

-- Ids that events state; joined to their runs without the rest of what they say.
with stated_id as (
  select
    event_id, json_extract_string(payload_json, '$.request_id') as request_id,
    json_extract_string(payload_json, '$.call_id') as call_id
  from dag_events
  where kind in ('model_request', 'model_response', 'tool_call', 'tool_result')
),
-- Requests, responses, calls and results, with their runs.
exchange as (
  select
    e.event_id, e.kind, coalesce(e.agent_id, '') as agent_id, coalesce(e.run_id, '') as run_id, e.place, e.occurred_at,
    e.correlation_id, i.request_id, i.call_id
  from v_dag_events e
  join stated_id i on i.event_id = e.event_id
),
-- Ids of requests: that of the event counts everywhere, others in their run.
request_event as (
  select n.name, e.agent_id, e.run_id
  from exchange e
  join v_dag_event_names n on n.event_id = e.event_id
  where e.kind = 'model_request'
),
-- The same and others, by run.
request_name as (
  select agent_id, run_id, name from request_event
  union
  select agent_id, run_id, correlation_id from exchange where kind = 'model_request'
  union
  select agent_id, run_id, request_id from exchange where kind = 'model_request'
),
-- Responses whose request is not there.
lone_response as (
  select e.event_id, e.request_id
  from exchange e
  left join request_event q on q.name = e.request_id
  left join request_name r on r.agent_id = e.agent_id and r.run_id = e.run_id and r.name = e.request_id
  left join request_name c on c.agent_id = e.agent_id and c.run_id = e.run_id and c.name = e.correlation_id
  where e.kind = 'model_response' and q.name is null and r.name is null and c.name is null
),
-- Events that another one took the place of.
substituted as (
  select n.event_id
  from v_dag_references r
  join v_dag_event_names n on n.name = r.name
  where r.field = 'original_event'
  union
  select n.event_id from dag_edges e join v_dag_event_names n on n.name = e.dst where e.type = 'SUBSTITUTES'
),
-- Calls that nodes state.
call_node as (
  select distinct node_id from dag_nodes where kind = 'ToolCall'
),
-- Calls, and results that nothing took the place of.
call_event as (
  select e.event_id, e.kind, e.agent_id, e.run_id, e.place, e.occurred_at, e.call_id
  from exchange e
  left join substituted s on s.event_id = e.event_id
  where e.kind = 'tool_call' or (e.kind = 'tool_result' and s.event_id is null)
),
-- How often each call was made, and whether another one took the place of it.
call_count as (
  select c.agent_id, c.run_id, c.call_id, count(*) as calls, count(s.event_id) > 0 as is_substituted
  from call_event c
  left join substituted s on s.event_id = c.event_id
  where c.kind = 'tool_call'
  group by c.agent_id, c.run_id, c.call_id
),
-- Results in their order: of a call that was made once, the first belongs to it.
numbered_result as (
  select
    r.event_id, r.call_id,
    coalesce(c.calls, case when n.node_id is null then 0 else 1 end) as calls,
    coalesce(c.is_substituted, false) as is_substituted,
    row_number() over (
      partition by r.agent_id, r.run_id, r.call_id
      order by r.place nulls last, r.occurred_at nulls last, r.event_id
    ) as number
  from call_event r
  left join call_count c on c.agent_id = r.agent_id and c.run_id = r.run_id and c.call_id = r.call_id
  left join call_node n on n.node_id = r.call_id
  where r.kind = 'tool_result'
),
-- All names of calls and results.
call_name as (
  select kind, name, id from v_dag_names where kind in ('ToolCall', 'ToolResult')
),
-- Nodes of events that another one took the place of.
substituted_node as (
  select distinct n.kind, n.id from substituted s join call_name n on n.name = s.event_id
),
-- Calls and results that edges tie together, by their own ids, without those that something took the place of.
result_edge as (
  select coalesce(c.id, e.src) as call_id, coalesce(r.id, e.dst) as result_id, min(e.id) as edge_id
  from dag_edges e
  left join call_name c on c.kind = 'ToolCall' and c.name = e.src
  left join call_name r on r.kind = 'ToolResult' and r.name = e.dst
  left join substituted_node x on x.kind = 'ToolCall' and x.id = c.id
  left join substituted_node y on y.kind = 'ToolResult' and y.id = r.id
  where e.type = 'RETURNS_RESULT' and e.valid_to is null and x.id is null and y.id is null
  group by coalesce(c.id, e.src), coalesce(r.id, e.dst)
),
-- Results of edges in their order.
numbered_edge as (
  select edge_id, call_id, row_number() over (partition by call_id order by result_id) as number from result_edge
)
select 'dag_events' as table_name, event_id as row_id,
  case
    when request_id is null then 'It names no request.'
    else 'Its request ' || left(request_id, 100) || ' is not in the ledger.'
  end as reason
from lone_response
union all
select 'dag_events', event_id,
  case
    when call_id is null then 'It is a result and names no call.'
    when calls = 0 then 'Its call ' || left(call_id, 100) || ' is not in the run.'
    else 'Its call ' || left(call_id, 100) || ' has a result before it, which nothing took the place of.'
  end
from numbered_result
where number > calls and not is_substituted
union all
select 'dag_edges', cast(edge_id as varchar),
  'Its call ' || left(call_id, 100) || ' has another result, which nothing took the place of.'
from numbered_edge
where number > 1
order by row_id
