-- title: History of runs
-- question: What happened in each run, in order?
-- why: Shows what an agent saw and did, step by step, whatever order its log is in.
-- grain: event
-- param agent: text = none; only this agent
-- param run: text = none; only this run
-- column agent_id: VARCHAR; the agent
-- column run_id: VARCHAR; the run
-- column place: BIGINT; place in the run, from 1
-- column seq: BIGINT; the number that the log gives it in the run
-- column occurred_at: BIGINT; when it happened, in Unix ms
-- column kind: VARCHAR; what happened
-- column subject: VARCHAR; what it is about: a model, a tool, a call, a policy, a resource or a branch
-- column outcome: VARCHAR; how it ended or why it was: status, outcome, exit or reason
-- column text: VARCHAR; the first text of the message that it appended or produced, at most 200 characters
-- column message_id: VARCHAR; that message
-- column correlation_id: VARCHAR; the id that ties a request to its answer and to the calls that follow
-- column event_id: VARCHAR; the event
-- shown: run_id, place, kind, subject, outcome, text, occurred_at
-- empty: The ledger has no runs of an agent graph.
-- next: --param run=RUN shows one run; `aix query call_results` shows calls with their results
-- caveat: Events are in the order of `seq`; those without one follow in the order of their times and of their log.
-- caveat: Runs are in the order in which they began.
-- caveat: Events that belong to no run are left out.
-- rows: only with dag_edges, dag_events, dag_nodes
with message as (
  select
    node_id,
    coalesce(json_extract_string(payload_json, '$.content[0].text'), json_extract_string(payload_json, '$.content')) as text
  from v_dag_nodes
  where kind = 'Message' and is_newest
),
event_message as (
  select event_id, min(name) as message_id
  from v_dag_references
  where field in ('message_ref', 'output_ref')
  group by event_id
),
run as (
  select run_id, min(occurred_at) as began_at from v_dag_events where run_id is not null group by run_id
)
select
  e.agent_id, e.run_id, e.place, e.seq, e.occurred_at, e.kind,
  coalesce(
    json_extract_string(e.payload_json, '$.model'),
    json_extract_string(e.payload_json, '$.tool'),
    json_extract_string(e.payload_json, '$.call_id'),
    json_extract_string(e.payload_json, '$.policy_ref.id'),
    json_extract_string(e.payload_json, '$.policy_ref'),
    json_extract_string(e.payload_json, '$.resource_ref.id'),
    json_extract_string(e.payload_json, '$.resource_ref'),
    json_extract_string(e.payload_json, '$.snapshot_ref.id'),
    json_extract_string(e.payload_json, '$.snapshot_ref'),
    json_extract_string(e.payload_json, '$.uri'),
    json_extract_string(e.payload_json, '$.to_branch'),
    json_extract_string(e.payload_json, '$.list')
  ) as subject,
  coalesce(
    json_extract_string(e.payload_json, '$.status'),
    json_extract_string(e.payload_json, '$.outcome'),
    json_extract_string(e.payload_json, '$.finish_reason'),
    json_extract_string(e.payload_json, '$.exit'),
    json_extract_string(e.payload_json, '$.reason')
  ) as outcome,
  left(m.text, 200) as text,
  x.message_id, e.correlation_id, e.event_id
from v_dag_events e
join run r on r.run_id = e.run_id
left join event_message x on x.event_id = e.event_id
left join message m on m.node_id = x.message_id
where (getvariable('agent') is null or e.agent_id = getvariable('agent'))
  and (getvariable('run') is null or e.run_id = getvariable('run'))
order by r.began_at nulls last, e.run_id, e.agent_id nulls last, e.place
