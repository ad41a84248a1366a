-- title: Assignments of tasks to agents
-- question: Which agent worked on which task, from when to when, and who assigned it?
-- why: The cost of a task is that of the turns of its agent while the task was assigned.
-- grain: event_id
-- column agent_id: VARCHAR; the agent or human that got the task
-- column task_id: VARCHAR; the task
-- column session_id: VARCHAR; the session that was made for it, where an event names it
-- column assigned_at: BIGINT; when it was assigned, in Unix ms
-- column ended_at: BIGINT; when it was no longer assigned, in Unix ms; NULL while it goes on
-- column human_id: VARCHAR; the human who assigned it, or for whom it was assigned, by any event of the same assignment
-- column event_id: VARCHAR; the event that assigned it
-- column event_order: VARCHAR; by which assignments are in the order in which they happened
-- caveat: Only events with a time show when a task was assigned; the settings of programs show the last assignment alone.
-- caveat: An assignment for a session ends with its task, or when the session gets another; any other also ends when the agent gets another task or is done.
-- rows: only with program_events

-- Events about tasks and agents.
with task_event as (
  select
    kind, agent_id, session_id, task_id, occurred_at, event_order, event_id,
    kind in ('AGENT_TASK_ASSIGNED', 'TASK_ASSIGNED') as is_assignment,
    -- The actor, else the one that asked first.
    case
      when on_behalf_of is null then principal
      else json_extract_string(on_behalf_of, '$[' || (json_array_length(on_behalf_of) - 1) || ']')
    end as first_id,
    on_behalf_of is null and principal_type = 'human' as is_human
  from v_program_events
  where occurred_at is not null
    and (
      kind in ('AGENT_TASK_ASSIGNED', 'TASK_ASSIGNED') and agent_id is not null and task_id is not null
      or kind in ('AGENT_COMPLETED', 'AGENT_RESET', 'TASK_COMPLETED', 'TASK_FAILED', 'TASK_UNASSIGNED')
    )
),
-- Ends of the assignment of a task: its own, and its assignment to another agent.
task_step as (
  select
    event_id,
    not is_assignment or agent_id <> lag(agent_id) over (partition by task_id order by event_order) as is_end
  from task_event
  where task_id is not null and not starts_with(kind, 'AGENT_') or is_assignment
),
-- Events by the run of the assignment, with the next end of each.
task_run as (
  select
    t.*,
    sum(case when s.is_end then 1 else 0 end) over (partition by t.task_id order by t.event_order) as run,
    min(case when s.is_end then t.occurred_at end) over (
      partition by t.task_id order by t.event_order rows between 1 following and unbounded following
    ) as task_ended_at
  from task_event t
  join task_step s on s.event_id = t.event_id
),
-- Changes of what an agent, or an agent in a session, works on.
agent_step as (
  select
    event_id,
    case
      when is_assignment then task_id <> lag(task_id) over (partition by agent_id order by event_order)
      else task_id is null
    end as is_end,
    not is_assignment or task_id <> lag(task_id) over (partition by agent_id, session_id order by event_order)
      as is_session_end,
    not is_assignment as is_task_end
  from task_event
  where agent_id is not null and (is_assignment or starts_with(kind, 'AGENT_'))
),
-- The next end for the agent, for its session, and for the task with that agent.
agent_run as (
  select
    t.event_id,
    min(case when s.is_end then t.occurred_at end) over (
      partition by t.agent_id order by t.event_order rows between 1 following and unbounded following
    ) as agent_ended_at,
    min(case when s.is_session_end then t.occurred_at end) over (
      partition by t.agent_id, t.session_id order by t.event_order rows between 1 following and unbounded following
    ) as session_ended_at,
    min(case when s.is_task_end then t.occurred_at end) over (
      partition by t.agent_id, t.task_id order by t.event_order rows between 1 following and unbounded following
    ) as agent_task_ended_at
  from task_event t
  join agent_step s on s.event_id = t.event_id
),
-- Assignments with the human that their own event names.
assignment as (
  select t.*, coalesce(h.id, case when t.is_human then t.first_id end) as own_human_id
  from task_run t
  left join programs h on h.id = t.first_id and h.program_type = 'human'
  where t.is_assignment
),
-- The first human of all events that assign the same task to the same agent without an end between them.
run_human as (
  select task_id, run, min_by(own_human_id, event_order) as human_id
  from assignment
  where own_human_id is not null
  group by task_id, run
),
-- The ends that count for each.
ended as (
  select event_id, task_ended_at as ended_at from assignment where task_ended_at is not null
  union all
  select a.event_id, r.agent_task_ended_at
  from assignment a join agent_run r on r.event_id = a.event_id
  where r.agent_task_ended_at is not null
  union all
  select a.event_id, case when a.session_id is null then r.agent_ended_at else r.session_ended_at end
  from assignment a join agent_run r on r.event_id = a.event_id
),
-- The first of these.
first_end as (
  select event_id, min(ended_at) as ended_at from ended group by event_id
)
select
  a.agent_id, a.task_id, a.session_id,
  a.occurred_at as assigned_at,
  e.ended_at,
  coalesce(a.own_human_id, h.human_id) as human_id,
  a.event_id, a.event_order
from assignment a
left join first_end e on e.event_id = a.event_id
left join run_human h on h.task_id = a.task_id and h.run = a.run
