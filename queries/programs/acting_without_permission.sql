-- title: Acts for humans who may not
-- question: Who acted for a human that may not do so?
-- why: An agent may do no more than the human for whom it acts.
-- grain: human_id, permission and principal
-- param since: timestamp = none; first moment counted
-- param until: timestamp = none; first moment no longer counted
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column human_id: VARCHAR; the human
-- column permission: VARCHAR; one of approve, assign, configure
-- column principal: VARCHAR; who acted: the human, or somebody for them; NULL where no event says it
-- column principal_type: VARCHAR; one of human, agent, session, system
-- column events: BIGINT; such acts
-- column first_occurred_at: BIGINT; the first of them, in Unix ms
-- column last_occurred_at: BIGINT; the last of them, in Unix ms
-- column program_id: VARCHAR; the program that the last of them changed
-- column kind: VARCHAR; the kind of the last of them
-- column event_id: VARCHAR; the last of them
-- shown: reason, status, severity, human_id, permission, principal, events
-- empty: Nobody approved, assigned or configured anything.
-- next: `aix program show HUMAN` shows one human with their permissions
-- caveat: A human without a list of permissions is skipped: nothing is known about them.
-- caveat: The human is the one who approved or rejected, and the first human in the chain of the principal.
-- remedy: Give the human the permission, or take back what was done and let somebody else decide.
-- rows: only with programs, program_events

-- Acts that need a permission.
with act as (
  select
    e.*,
    case
      when e.kind in ('HUMAN_APPROVED', 'HUMAN_REJECTED') then 'approve'
      when e.kind in ('TASK_ASSIGNED', 'AGENT_TASK_ASSIGNED') then 'assign'
      else 'configure'
    end as permission
  from v_program_events e
  where (
      e.kind in ('HUMAN_APPROVED', 'HUMAN_REJECTED', 'TASK_ASSIGNED', 'AGENT_TASK_ASSIGNED')
      or ends_with(e.kind, '_CONFIGURED')
    )
    and (getvariable('since') is null or e.occurred_at >= getvariable('since'))
    and (getvariable('until') is null or e.occurred_at < getvariable('until'))
),
-- Acts with each human that they are done by or for.
act_of_human as (
  select a.event_id, h.human_id
  from act a
  join v_chain_humans h on h.principal = a.principal and h.on_behalf_of is not distinct from a.on_behalf_of
  union
  select a.event_id, a.program_id
  from act a
  left join programs p on p.id = a.program_id
  where a.permission = 'approve' and a.program_id is not null and coalesce(p.program_type, 'human') = 'human'
),
-- One row for each human, permission and principal.
act_totals as (
  select
    h.human_id, a.permission, a.principal,
    max(a.principal_type) as principal_type,
    count(*) as events,
    min(a.occurred_at) as first_occurred_at,
    max(a.occurred_at) as last_occurred_at,
    max_by(a.program_id, a.event_order) as program_id,
    max_by(a.kind, a.event_order) as kind,
    min(a.kind) as first_kind,
    max(a.kind) as last_kind,
    max_by(a.event_id, a.event_order) as event_id
  from act_of_human h
  join act a on a.event_id = h.event_id
  group by h.human_id, a.permission, a.principal
),
-- Permissions of the human, where they are known.
judged as (
  select
    t.*,
    a.name as principal_name,
    coalesce(n.name, left(t.human_id, 40)) as human_name,
    case
      when p.permissions is null then 'skip'
      when contains(p.permissions, '"' || t.permission || '"') then 'ok'
      else 'alarm'
    end as status
  from act_totals t
  left join (
    select id, cast(json_extract(config_json, '$.permissions') as varchar) as permissions
    from programs
    where program_type = 'human'
  ) p on p.id = t.human_id and p.permissions like '[%'
  left join v_program_names a on a.program_id = t.principal
  left join v_program_names n on n.program_id = t.human_id
)
select
  left(human_id, 200) as resource,
  status,
  coalesce('`' || replace(coalesce(principal_name, left(principal, 40)), '`', '''') || '`', 'Somebody')
    || case
      when permission = 'assign' then ' assigned a task'
      when permission = 'configure' then ' configured a program'
      when first_kind <> last_kind then ' approved and rejected'
      when first_kind = 'HUMAN_APPROVED' then ' approved'
      else ' rejected'
    end
    || case when events > 1 then ' ' || cast(events as varchar) || ' times' else '' end
    || case
      when principal = human_id then case status
        when 'ok' then ', with the permission for it'
        when 'alarm' then ' without the permission to ' || permission
        else ', with permissions that are not known'
      end
      else ' for ' || human_name || case status
        when 'ok' then ', who may'
        when 'alarm' then ', who may not ' || permission
        else ', whose permissions are not known'
      end
    end
    || '.' as reason,
  case when status = 'alarm' then case permission when 'approve' then 'high' else 'medium' end end as severity,
  human_id, permission, principal, principal_type, events, first_occurred_at, last_occurred_at, program_id, kind, event_id
from judged
order by
  case status when 'alarm' then 0 when 'ok' then 1 else 2 end,
  case permission when 'approve' then 0 else 1 end,
  human_id, permission, principal
