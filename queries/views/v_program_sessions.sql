-- title: Sessions and the programs they belong to
-- question: Which session program, owner, agent and human does a session belong to?
-- why: Programs say for whom a conversation was held; logs only say that it was.
-- grain: session
-- column session_label: VARCHAR; the session
-- column session_id: VARCHAR; the id that events and agents know it by
-- column session_program_id: VARCHAR; its program: by its id, else by the log that the program names
-- column owner_id: VARCHAR; who owns it: as its program says, else the agent whose session it is
-- column agent_id: VARCHAR; the owner where that is an agent
-- column human_id: VARCHAR; the human that it is for: by onBehalfOf and owner, from the session on
-- column default_model_id: VARCHAR; the model program that it uses by default, its own or that of its agent
-- column session_task_id: VARCHAR; the task that its own program names
-- column named_task_id: VARCHAR; where no event assigns tasks to its owner: the task that its id or its agent names, else the only task of the owner
-- caveat: Where two programs name the same log, the one whose id comes first counts.

-- Roles that programs name, read once.
with role as (
  select * from v_program_roles
),
-- Events that assign tasks, read once.
assignment as (
  select agent_id, session_id, occurred_at
  from v_program_events
  where kind in ('AGENT_TASK_ASSIGNED', 'TASK_ASSIGNED') and agent_id is not null and task_id is not null
),
-- Session programs by the log that they name.
log_program as (
  select
    id as program_id,
    '/' || regexp_replace(replace(json_extract_string(config_json, '$.logFile'), '\', '/'), '^(\./+)+', '') as log_end
  from programs
  where program_type = 'session' and json_extract_string(config_json, '$.logFile') <> ''
),
-- Sessions by the log that they were read from.
logged_program as (
  select c.label as session_label, min(l.program_id) as program_id
  from session_context c
  join log_program l on ends_with('/' || replace(c.raw_path, '\', '/'), l.log_end)
  group by c.label
),
-- Agents by the session that they, or events, call theirs.
agent_session as (
  select session_id, min(agent_id) as agent_id
  from (
    select current_session_id as session_id, program_id as agent_id from role where current_session_id is not null
    union all
    select session_id, agent_id from assignment where session_id is not null
  )
  group by session_id
),
-- Owners with only one task.
only_task as (
  select r.assignee_id as owner_id, max(r.program_id) as task_id
  from role r
  join programs t on t.id = r.program_id and t.program_type = 'task'
  where r.assignee_id is not null
  group by r.assignee_id
  having count(*) = 1
),
-- Owners to whom events assign tasks.
assigned_owner as (
  select agent_id from assignment where occurred_at is not null group by agent_id
),
-- Sessions with their program and their owner; the word of a program comes first.
owned as (
  select
    s.label as session_label,
    coalesce(p.id, l.program_id) as session_program_id,
    coalesce(p.id, l.program_id, s.origin_session_id) as session_id,
    coalesce(n.owner_id, a.agent_id, q.id) as owner_id,
    n.default_model_id, n.task_id
  from sessions s
  left join programs p on p.id = s.origin_session_id and p.program_type = 'session'
  left join logged_program l on l.session_label = s.label
  left join role n on n.program_id = coalesce(p.id, l.program_id)
  left join agent_session a on a.session_id = coalesce(p.id, l.program_id, s.origin_session_id)
  left join programs q on q.id = s.persona_id and q.program_type in ('agent', 'human')
),
-- Tasks that the id of a session names, as `agent_task_…`.
spelt_task as (
  select k.session_label, max_by(t.id, length(t.id)) as task_id
  from owned k
  join programs t on t.program_type = 'task' and starts_with(k.session_id, k.owner_id || '_' || t.id || '_')
  group by k.session_label
)
select
  k.session_label, k.session_id, k.session_program_id, k.owner_id,
  case when p.program_type = 'agent' then k.owner_id end as agent_id,
  coalesce(c.human_id, case when p.program_type = 'human' then k.owner_id end, h.human_id) as human_id,
  coalesce(k.default_model_id, n.default_model_id) as default_model_id,
  k.task_id as session_task_id,
  case
    when d.agent_id is null
      then coalesce(
        w.task_id, case when n.current_session_id = k.session_id then n.current_task_id end, u.task_id
      )
  end as named_task_id
from owned k
left join programs p on p.id = k.owner_id
left join role n on n.program_id = k.owner_id
left join v_chain_humans c on c.principal = k.session_program_id and c.on_behalf_of is null
left join v_chain_humans h on h.principal = k.owner_id and h.on_behalf_of is null
left join only_task u on u.owner_id = k.owner_id
left join assigned_owner d on d.agent_id = k.owner_id
left join spelt_task w on w.session_label = k.session_label
