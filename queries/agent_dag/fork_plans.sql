-- title: Plans of forks for resources that cannot be restored
-- question: Which forks plan something a resource cannot do?
-- why: Two branches that keep one running container change it under each other; a snapshot that cannot be made is lost.
-- grain: event_id, resource_id, mode and kept_by
-- param agent: text = none; only this agent
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column agent_id: VARCHAR; the agent
-- column from_branch: VARCHAR; the branch that it left
-- column to_branch: VARCHAR; the branch that it began
-- column resource_id: VARCHAR; the resource
-- column mode: VARCHAR; the choice: keep, snapshot or discard; NULL where the plan has none
-- column kept_by: VARCHAR; the branch that keeps it
-- column branches: BIGINT; branches of this fork that keep it; an entry that names none keeps it for its own
-- column is_imperative: BOOLEAN; whether the resource cannot be restored; NULL where the log does not say
-- column forked_at: BIGINT; when the agent was forked, in Unix ms
-- column event_id: VARCHAR; the event of the fork
-- shown: reason, severity, resource_id, mode, kept_by, to_branch, forked_at
-- empty: No fork has a plan for resources.
-- next: `aix audit --pack agent_dag` shows all findings with what to do about each
-- caveat: A resource cannot be restored when it says `imperative`, when its `restorable` is false, or when its capabilities lack `restore`.
-- caveat: What a resource can do is what the graph says of it at the time of the fork, else nearest to it.
-- caveat: A plan for a part of a resource, by HAS_SUBRESOURCE, is a plan for the resource.
-- caveat: Branches that begin at the same event of an agent are one fork.
-- remedy: Let one branch keep the resource, and discard it in the others; take a snapshot only where its capabilities have one.
-- rows: only with dag_edges, dag_events, dag_nodes

-- The rules that an entry can break or keep, and how bad that is.
with verdict as (
  select verdict, status, severity, place
  from (values
    ('kept_twice', 'alarm', 'high', 0),
    ('no_snapshot', 'alarm', 'medium', 0),
    ('forgotten', 'alarm', 'medium', 0),
    ('no_choice', 'alarm', 'low', 0),
    ('kept_by_nobody', 'info', null, 1),
    ('allowed', 'ok', null, 2),
    ('restorable', 'ok', null, 2),
    ('unknown', 'skip', null, 3)
  ) known_verdict (verdict, status, severity, place)
),
-- Entries of plans.
entry as (
  select
    event_id, agent_id, occurred_at, from_branch, to_branch, resource_id, mode, kept_by, branches, resource_name,
    is_imperative, can_snapshot
  from v_dag_fork_plans
),
-- Who held which resource, and when.
holding as (
  select resource_id, relation, holder_id, agent_id, valid_from, valid_to from v_dag_holdings
),
-- Resources that a plan decides for: those that it names, and those that they are a part of.
decided as (
  select event_id, resource_id from entry
  union
  select e.event_id, h.holder_id from entry e join holding h on h.relation = 'part' and h.resource_id = e.resource_id
),
-- Resources that an agent or one of its runs held when it was forked, and that cannot be restored.
forgotten as (
  select distinct
    e.event_id, e.agent_id, e.occurred_at,
    json_extract_string(e.payload_json, '$.from_branch') as from_branch,
    json_extract_string(e.payload_json, '$.to_branch') as to_branch,
    h.resource_id, r.name as resource_name, r.is_imperative
  from v_dag_events e
  join holding h
    on h.agent_id = e.agent_id
    and (h.valid_from is null or h.valid_from <= e.occurred_at) and (h.valid_to is null or h.valid_to > e.occurred_at)
  join v_dag_resources r
    on r.resource_id = h.resource_id and r.is_imperative
    and coalesce(r.known_from <= e.occurred_at, true) and coalesce(r.known_to > e.occurred_at, r.known_to is null)
  left join decided d on d.event_id = e.event_id and d.resource_id = h.resource_id
  where e.kind = 'agent_forked' and d.event_id is null
),
-- Every resource of every fork, with the rule that it breaks or keeps.
judged as (
  select
    event_id, agent_id, occurred_at, from_branch, to_branch, resource_id, mode, kept_by, branches, resource_name,
    is_imperative,
    case
      when is_imperative is null then 'unknown'
      when coalesce(mode, '') not in ('keep', 'snapshot', 'discard') then 'no_choice'
      when not is_imperative then 'restorable'
      when mode = 'keep' and branches > 1 then 'kept_twice'
      when mode = 'keep' and kept_by is null then 'kept_by_nobody'
      when mode = 'snapshot' and not coalesce(can_snapshot, false) then 'no_snapshot'
      else 'allowed'
    end as verdict
  from entry
  union all
  select event_id, agent_id, occurred_at, from_branch, to_branch, resource_id, null, null, cast(0 as bigint),
    resource_name, is_imperative, 'forgotten'
  from forgotten
)
select
  f.named as resource, v.status,
  '`' || replace(f.named, '`', '''') || '`' || case f.verdict
    when 'kept_twice' then ' cannot be restored, and ' || cast(f.branches as varchar) || ' branches of one fork keep it.'
    when 'no_snapshot' then ' cannot be restored, and the plan takes a snapshot that its capabilities do not have.'
    when 'no_choice' then ' is in the plan, which neither keeps nor discards it, and takes no snapshot.'
    when 'forgotten' then ' cannot be restored, the agent held it when it was forked, and the plan does not name it.'
    when 'kept_by_nobody' then ' cannot be restored, and the plan does not say which branch keeps it.'
    when 'unknown' then ' is in the plan, and the graph does not say what can be done with it.'
    when 'restorable' then ' can be restored: every choice is allowed.'
    else ' cannot be restored, and the plan chooses what is allowed: ' || f.mode || '.'
  end as reason,
  v.severity, f.agent_id, f.from_branch, f.to_branch, f.resource_id, f.mode, f.kept_by, f.branches, f.is_imperative,
  f.occurred_at as forked_at, f.event_id
from (select *, left(coalesce(resource_name, resource_id, 'A resource'), 200) as named from judged) f
join verdict v on v.verdict = f.verdict
where getvariable('agent') is null or f.agent_id = getvariable('agent')
order by v.place, f.occurred_at nulls last, f.event_id, f.resource_id, f.mode, f.kept_by
