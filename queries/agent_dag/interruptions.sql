-- title: Interruptions, and what took the place of the interrupted
-- question: What was interrupted, and what was done instead?
-- why: Work that was cut off and never made good is missing in the result.
-- grain: interrupted or substituted event, and interruption
-- param agent: text = none; only this agent
-- param run: text = none; only this run
-- column agent_id: VARCHAR; the agent
-- column run_id: VARCHAR; the run
-- column affected_at: BIGINT; when the interrupted event was, in Unix ms
-- column affected_kind: VARCHAR; what was interrupted or substituted
-- column affected_subject: VARCHAR; the tool, the call or the model of that event
-- column reason: VARCHAR; why it was interrupted; NULL for a substitution without an interruption
-- column interrupted_at: BIGINT; when, in Unix ms
-- column replacement_kind: VARCHAR; what took its place; NULL where nothing did
-- column replacement_subject: VARCHAR; the tool, the call or the model of that
-- column substituted_at: BIGINT; when that was recorded, in Unix ms
-- column substitution_reason: VARCHAR; why, as the substitution says
-- column affected_event_id: VARCHAR; the interrupted event
-- column interruption_event_id: VARCHAR; the interruption
-- column replacement_event_id: VARCHAR; the event that took its place
-- shown: reason, affected_kind, affected_subject, replacement_kind, replacement_subject, substitution_reason, interrupted_at, run_id
-- empty: Nothing was interrupted or substituted.
-- next: `aix query run_history` shows the whole run
-- rows: only with dag_edges, dag_events, dag_nodes
with event as (
  select
    event_id, kind, occurred_at, agent_id, run_id, place,
    coalesce(
      json_extract_string(payload_json, '$.tool'), json_extract_string(payload_json, '$.call_id'),
      json_extract_string(payload_json, '$.model')
    ) as subject,
    json_extract_string(payload_json, '$.reason') as reason
  from v_dag_events
),
disturbance as (
  select type, src, dst
  from v_dag_edges
  where type in ('INTERRUPTS', 'SUBSTITUTES') and src_kind = 'Event' and dst_kind = 'Event'
),
-- The event that records a substitution, be the edge stated or not.
substitution as (
  select o.event_id as affected_id, n.event_id as replacement_id, min(a.event_id) as event_id
  from v_dag_references a
  join v_dag_event_names o on o.name = a.name
  join v_dag_references b on b.event_id = a.event_id and b.field = 'replacement_event'
  join v_dag_event_names n on n.name = b.name
  where a.field = 'original_event'
  group by o.event_id, n.event_id
),
affected as (
  select distinct dst as event_id from disturbance
)
select
  coalesce(e.agent_id, i.agent_id) as agent_id, coalesce(e.run_id, i.run_id) as run_id,
  e.occurred_at as affected_at, e.kind as affected_kind, left(e.subject, 200) as affected_subject,
  left(i.reason, 200) as reason, i.occurred_at as interrupted_at,
  r.kind as replacement_kind, left(r.subject, 200) as replacement_subject,
  s.occurred_at as substituted_at, left(s.reason, 200) as substitution_reason,
  a.event_id as affected_event_id, x.src as interruption_event_id, y.src as replacement_event_id
from affected a
left join event e on e.event_id = a.event_id
left join disturbance x on x.type = 'INTERRUPTS' and x.dst = a.event_id
left join event i on i.event_id = x.src
left join disturbance y on y.type = 'SUBSTITUTES' and y.dst = a.event_id
left join event r on r.event_id = y.src
left join substitution z on z.affected_id = a.event_id and z.replacement_id = y.src
left join event s on s.event_id = z.event_id
where (getvariable('agent') is null or coalesce(e.agent_id, i.agent_id) = getvariable('agent'))
  and (getvariable('run') is null or coalesce(e.run_id, i.run_id) = getvariable('run'))
order by
  agent_id nulls last, run_id nulls last, coalesce(i.occurred_at, e.occurred_at) nulls last,
  e.occurred_at nulls last, a.event_id, x.src nulls last, y.src nulls last
