-- title: Nodes of agent graphs, with those that events imply
-- question: Which nodes are there, and since when and until when does each version hold?
-- why: A log need not state a node for what its events already say; queries find both alike.
-- grain: node and version
-- column kind: VARCHAR; what it is, such as Message or Policy
-- column node_id: VARCHAR; its id among the nodes of its kind
-- column valid_from: BIGINT; since when this version holds, in Unix ms; 0 where the source does not say
-- column valid_to: BIGINT; until when it holds: as the source says, at the latest where the next version begins; NULL while it does
-- column is_newest: BOOLEAN; whether no later version is known
-- column is_stated: BOOLEAN; whether the source has the node; false where events alone imply it
-- column event_id: VARCHAR; an event that implies it; NULL for a stated one
-- column payload_json: VARCHAR; the node as the source has it; NULL for one that events imply
-- caveat: Events imply agents, runs, branches, tool calls and their results. Messages, policies and resources have to be stated.
-- caveat: The id of an implied tool call or result is that of its event. The id of an implied branch is AGENT#BRANCH.
-- rows: only with dag_events, dag_nodes
with stated_node as (
  select
    kind, node_id, valid_from,
    lead(valid_from) over (partition by kind, node_id order by valid_from) as next_from,
    valid_to, payload_json
  from dag_nodes
),
stated_id as (
  select kind, node_id from dag_nodes group by kind, node_id
),
-- Names by which a stated node can be the one that an event speaks of; of all, the last is the id of an implied one.
event_node as (
  select 'Agent' as kind, agent_id as node_id, agent_id as other_id, agent_id as third_id, event_id
  from dag_events
  where agent_id is not null
  union all
  select 'Run', run_id, run_id, run_id, event_id
  from dag_events
  where run_id is not null
  union all
  select
    case kind when 'tool_call' then 'ToolCall' else 'ToolResult' end,
    event_id, claimed_event_id, json_extract_string(payload_json, '$.call_id'), event_id
  from dag_events
  where kind in ('tool_call', 'tool_result')
  union all
  select
    'Branch',
    coalesce(agent_id, '') || '#' || json_extract_string(payload_json, '$.to_branch'),
    json_extract_string(payload_json, '$.to_branch'), json_extract_string(payload_json, '$.to_branch'), event_id
  from dag_events
  where kind = 'agent_forked' and json_extract_string(payload_json, '$.to_branch') is not null
),
implied_node as (
  select i.kind, i.node_id, min(i.event_id) as event_id
  from event_node i
  left join stated_id a on a.kind = i.kind and a.node_id = i.node_id
  left join stated_id b on b.kind = i.kind and b.node_id = i.other_id
  left join stated_id c on c.kind = i.kind and c.node_id = i.third_id
  where a.node_id is null and b.node_id is null and c.node_id is null
  group by i.kind, i.node_id
)
select
  kind, node_id, valid_from,
  case when valid_to < next_from then valid_to else coalesce(next_from, valid_to) end as valid_to,
  next_from is null as is_newest,
  true as is_stated,
  cast(null as varchar) as event_id,
  payload_json
from stated_node
union all
select kind, node_id, cast(0 as bigint), cast(null as bigint), true, false, event_id, cast(null as varchar)
from implied_node
