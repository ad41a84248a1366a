-- title: Proposals and activations of policies
-- question: Which policies were proposed and activated, when?
-- why: Shows which approval policy decided at a time, and whether it was proposed and tested first.
-- grain: event and policy
-- param agent: text = none; only this agent
-- column agent_id: VARCHAR; the agent; of a proposal without an event: the first that activated the policy
-- column occurred_at: BIGINT; when it was proposed or activated, in Unix ms
-- column action: VARCHAR; proposed or activated
-- column policy_id: VARCHAR; the policy
-- column place: VARCHAR; where its source is: a path or an address
-- column proposed_at: BIGINT; when it was first proposed, in Unix ms; NULL where the graph does not say so
-- column activated_at: BIGINT; of a proposal: when it was first activated after it; of an activation: its own time
-- column replaced_at: BIGINT; of an activation: when the agent activated another policy; NULL while it holds
-- column tests_total: BIGINT; tests of the policy; NULL where the log does not say
-- column tests_failed: BIGINT; of these, tests that failed
-- column source_digest: VARCHAR; the hash of its source
-- column notes: VARCHAR; the notes of the activation, at most 200 characters
-- column run_id: VARCHAR; the run
-- column event_id: VARCHAR; the event; NULL for a proposal that only the policy itself states
-- shown: action, policy_id, occurred_at, replaced_at, tests_total, tests_failed, agent_id, place, notes
-- empty: The ledger has no policies of an agent graph.
-- next: `aix check dag_one_active_policy` looks for two policies that hold at once
-- caveat: What a policy was at the time is shown where the graph has versions of it, else as it is now.
-- caveat: Proposals are known only where the graph has edges PROPOSES_POLICY, else versions of the kind `proposal` with `valid_from`.
-- caveat: Activations are those of events; a version of the kind `active` says only that the policy was activated before.
-- rows: only with dag_edges, dag_events, dag_nodes

-- Events that propose or activate a policy.
with named_event as (
  select
    e.agent_id, e.occurred_at, case x.type when 'PROPOSES_POLICY' then 'proposed' else 'activated' end as action,
    x.dst as policy_id, left(json_extract_string(e.payload_json, '$.notes'), 200) as notes, e.run_id, e.event_id
  from v_dag_edges x
  join v_dag_events e on e.event_id = x.src
  where x.type in ('PROPOSES_POLICY', 'ACTIVATES_POLICY') and x.src_kind = 'Event'
),
-- Policies that no event proposes, since their first version that is a proposal.
own_proposal as (
  select n.node_id as policy_id, min(n.valid_from) as occurred_at
  from v_dag_nodes n
  left join named_event e on e.policy_id = n.node_id and e.action = 'proposed'
  where n.kind = 'Policy' and n.valid_from > 0 and json_extract_string(n.payload_json, '$.kind') = 'proposal'
    and e.policy_id is null
  group by n.node_id
),
-- The first activation of each policy.
activation as (
  select policy_id, agent_id, row_number() over (partition by policy_id order by occurred_at, event_id) as place
  from named_event
  where action = 'activated'
),
-- Proposals and activations; those of a policy differ in their step.
policy_event as (
  select event_id as step, agent_id, occurred_at, action, policy_id, notes, run_id, event_id from named_event
  union all
  select '', a.agent_id, p.occurred_at, 'proposed', p.policy_id, null, null, null
  from own_proposal p
  left join activation a on a.policy_id = p.policy_id and a.place = 1
),
-- Of each policy the version at the time of the event, else the newest.
version as (
  select
    e.step, e.policy_id,
    max_by(
      n.payload_json,
      case when n.valid_from <= e.occurred_at and (n.valid_to is null or n.valid_to > e.occurred_at) then 2
        when n.is_newest then 1 else 0 end
    ) as payload_json
  from policy_event e
  join v_dag_nodes n on n.kind = 'Policy' and n.node_id = e.policy_id
  group by e.step, e.policy_id
),
-- When each policy was first proposed.
proposal as (
  select policy_id, min(occurred_at) as proposed_at from policy_event where action = 'proposed' group by policy_id
),
-- The first activation of a policy after each proposal, and the next one of another policy after each activation.
later as (
  select
    a.step, a.policy_id,
    min(case when b.policy_id = a.policy_id and b.occurred_at >= a.occurred_at then b.occurred_at end) as activated_at,
    min(
      case
        when b.policy_id <> a.policy_id and b.occurred_at > a.occurred_at and b.agent_id is not distinct from a.agent_id
          then b.occurred_at
      end
    ) as replaced_at
  from policy_event a
  join policy_event b on b.action = 'activated'
  group by a.step, a.policy_id
)
select
  e.agent_id, e.occurred_at, e.action, e.policy_id,
  coalesce(
    json_extract_string(p.payload_json, '$.path_or_uri.path'), json_extract_string(p.payload_json, '$.path_or_uri.uri'),
    json_extract_string(p.payload_json, '$.path_or_uri')
  ) as place,
  o.proposed_at,
  case e.action when 'activated' then e.occurred_at else l.activated_at end as activated_at,
  case e.action when 'activated' then l.replaced_at end as replaced_at,
  try_cast(json_extract_string(p.payload_json, '$.tests_summary.total') as bigint) as tests_total,
  try_cast(json_extract_string(p.payload_json, '$.tests_summary.failed') as bigint) as tests_failed,
  json_extract_string(p.payload_json, '$.source_digest') as source_digest,
  e.notes, e.run_id, e.event_id
from policy_event e
left join proposal o on o.policy_id = e.policy_id
left join later l on l.step = e.step and l.policy_id = e.policy_id
left join version p on p.step = e.step and p.policy_id = e.policy_id
where getvariable('agent') is null or e.agent_id = getvariable('agent')
order by e.agent_id nulls last, e.occurred_at nulls last, e.action desc, e.policy_id, e.event_id
