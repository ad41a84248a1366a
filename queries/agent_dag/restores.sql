-- title: Restores of resources
-- question: Which restores could not work, or say ok wrongly?
-- why: An agent that goes on as if a container were restored works on a state that it does not have.
-- grain: event_id
-- param agent: text = none; only this agent
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column agent_id: VARCHAR; the agent
-- column resource_id: VARCHAR; the resource of the snapshot; NULL where the graph does not say
-- column snapshot_id: VARCHAR; the snapshot
-- column outcome: VARCHAR; the outcome of the restore: ok, unsupported or error
-- column new_resource_id: VARCHAR; the resource that the restore made
-- column is_imperative: BOOLEAN; whether the resource cannot be restored; NULL where the graph does not say
-- column restored_at: BIGINT; when it was tried, in Unix ms
-- column event_id: VARCHAR; the event
-- shown: reason, severity, resource, snapshot_id, outcome, restored_at, agent_id
-- empty: No restore was tried.
-- next: `aix audit --pack agent_dag` shows all findings with what to do about each
-- caveat: A resource cannot be restored when it says `imperative`, when its `restorable` is false, when its capabilities lack `restore`, or when its snapshot says so.
-- remedy: Read what the run did after the restore: its resource is not in the state of the snapshot.
-- rows: only with dag_edges, dag_events, dag_nodes

-- A snapshot that says that it cannot be restored is believed.
with judged as (
  select
    event_id, agent_id, occurred_at, outcome, snapshot_id, new_resource_id, resource_id, resource_name,
    case when is_final then true else is_imperative end as is_imperative
  from v_dag_restores
)
select
  named as resource,
  case
    when is_imperative and coalesce(outcome, '') <> 'unsupported' then 'alarm'
    when outcome = 'unsupported' then 'info'
    when is_imperative is null then 'skip'
    when outcome = 'ok' then 'ok'
    else 'info'
  end as status,
  '`' || replace(named, '`', '''') || '`' || case
    when is_imperative and outcome = 'unsupported' then ' cannot be restored, and the restore says so.'
    when is_imperative
      then ' cannot be restored, and the restore says ' || coalesce('`' || left(outcome, 100) || '`', 'nothing')
        || ' where it should say `unsupported`.'
    when is_imperative is null and outcome = 'unsupported'
      then ' was not restored, as that is unsupported; whether it can be restored is not known.'
    when outcome = 'unsupported' then ' says that it can be restored, and the restore was unsupported.'
    when is_imperative is null then ' may or may not be restorable: the graph does not say.'
    when outcome = 'ok' then ' was restored.'
    else ' was not restored: the outcome is ' || coalesce('`' || left(outcome, 100) || '`', 'not known') || '.'
  end as reason,
  case
    when is_imperative and outcome = 'ok' then 'high'
    when is_imperative and coalesce(outcome, '') <> 'unsupported' then 'low'
  end as severity,
  agent_id, resource_id, snapshot_id, outcome, new_resource_id, is_imperative, occurred_at as restored_at, event_id
from (select *, left(coalesce(resource_name, resource_id, snapshot_id, 'A resource'), 200) as named from judged) finding
where getvariable('agent') is null or agent_id = getvariable('agent')
order by
  case
    when is_imperative and coalesce(outcome, '') <> 'unsupported' then 0
    when outcome = 'unsupported' then 1
    when is_imperative is null then 3
    when outcome = 'ok' then 2
    else 1
  end,
  occurred_at nulls last, event_id
