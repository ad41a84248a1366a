-- title: Tasks and their outcome
-- question: Which tasks succeeded, and at what cost?
-- why: Cost means little without what came of it.
-- grain: task
-- params: filters
-- column task_id: VARCHAR; the task
-- column title: VARCHAR; its title
-- column outcome: VARCHAR; completed, failed or blocked; open for all others
-- column basis: VARCHAR; how that is known: event, else lifecycle
-- column reason: VARCHAR; the reason that the last such event states
-- column criteria: BIGINT; criteria of success that it specifies
-- column criteria_types: VARCHAR; their types
-- column priority: VARCHAR; its priority
-- column assignee: VARCHAR; who has, or had, to do it
-- column created_at: BIGINT; when it was created, in Unix ms
-- column started_at: BIGINT; when it was started, in Unix ms
-- column ended_at: BIGINT; when it ended, in Unix ms
-- column duration_ms: BIGINT; from its start, else from its creation, to its end
-- column turns: BIGINT; turns for it
-- column requests: BIGINT; requests for it
-- column cost_usd: DECIMAL(38,12); list price of these requests; NULL when nothing of it is priced
-- shown: task_id, outcome, cost_usd, title, criteria, duration_ms, turns, assignee, reason
-- empty: No tasks yet.
-- next: `aix program show TASK` shows one task
-- caveat: Logs do not say which criteria were met: a task is judged by its last event if that ends or blocks it or is newer, else by its lifecycle.
-- caveat: The filters choose requests; tasks are always all.
-- rows: only with programs

-- Events that show how far a task came.
with told as (
  select
    task_id,
    min(case when kind = 'TASK_CREATED' then occurred_at end) as created_at,
    min(case when kind = 'TASK_STARTED' then occurred_at end) as started_at,
    max(case when to_state in ('completed', 'failed') then occurred_at end) as ended_at,
    max_by(to_state, event_order) as state,
    max(occurred_at) as last_at
  from v_program_events
  where starts_with(kind, 'TASK_') and to_state is not null
  group by task_id
),
-- Their state, where it is an end or newer than the task.
known as (
  select
    e.task_id, e.created_at, e.started_at, e.ended_at,
    case
      when e.state in ('completed', 'failed', 'blocked') or t.lifecycle is null or e.last_at > t.updated_at then e.state
    end as state
  from told e
  join programs t on t.id = e.task_id
),
-- The reason of the last event that has one.
reasoned as (
  select task_id, max_by(reason, event_order) as reason
  from v_program_events
  where kind in ('TASK_COMPLETED', 'TASK_FAILED', 'TASK_BLOCKED') and reason is not null
  group by task_id
),
-- Criteria of success.
specified as (
  select
    id as task_id, config_json,
    coalesce(cast(json_array_length(json_extract(config_json, '$.spec.successCriteria')) as bigint), 0) as criteria
  from programs
  where program_type = 'task'
),
-- Each of them.
criterion as (
  select task_id, config_json, unnest(generate_series(0, criteria - 1)) as place from specified where criteria > 0
),
-- Their types in their order.
criterion_types as (
  select
    task_id,
    string_agg(
      coalesce(json_extract_string(config_json, '$.spec.successCriteria[' || place || '].type'), '?'), ', '
      order by place
    ) as types
  from criterion
  group by task_id
),
-- The agent or human that has to do it.
assigned as (
  select source_id as task_id, max(target_id) as assignee
  from v_program_references
  where source_table = 'programs' and field = 'assignee'
  group by source_id
),
-- Requests for it.
task_cost as (
  select p.task_id, count(distinct r.turn_id) as turns, count(*) as requests, sum(r.cost_usd) as cost_usd
  from v_counted_requests r
  join v_request_programs p on p.request_id = r.request_id
  where p.task_id is not null
  group by p.task_id
)
select
  t.id as task_id,
  coalesce(json_extract_string(t.config_json, '$.title'), json_extract_string(t.config_json, '$.name')) as title,
  case
    when coalesce(e.state, t.lifecycle) in ('completed', 'failed', 'blocked') then coalesce(e.state, t.lifecycle)
    else 'open'
  end as outcome,
  case when e.state is not null then 'event' when t.lifecycle is not null then 'lifecycle' end as basis,
  n.reason,
  s.criteria,
  y.types as criteria_types,
  json_extract_string(t.config_json, '$.priority') as priority,
  a.assignee,
  e.created_at, e.started_at, e.ended_at,
  e.ended_at - coalesce(e.started_at, e.created_at) as duration_ms,
  coalesce(c.turns, 0) as turns,
  coalesce(c.requests, 0) as requests,
  c.cost_usd
from programs t
join specified s on s.task_id = t.id
left join known e on e.task_id = t.id
left join reasoned n on n.task_id = t.id
left join criterion_types y on y.task_id = t.id
left join assigned a on a.task_id = t.id
left join task_cost c on c.task_id = t.id
where t.program_type = 'task'
order by t.id
