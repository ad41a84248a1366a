-- title: Events of programs
-- question: What happened to which program, when, by whom, and which state did it lead to?
-- why: The fields of an event have the same names here, whichever way its writer spells them.
-- grain: event
-- column event_id: VARCHAR; the event
-- column kind: VARCHAR; what happened, such as TASK_ASSIGNED
-- column program_id: VARCHAR; the program it happened to
-- column program_type: VARCHAR; its type: that of the program, else the one that the kind of event names
-- column occurred_at: BIGINT; when it happened, in Unix ms
-- column event_order: VARCHAR; by which the events of all programs are in the order in which they happened
-- column principal_type: VARCHAR; one of human, agent, session, system
-- column principal: VARCHAR; who acted
-- column on_behalf_of: VARCHAR; for whom, as a JSON array from the one who asked the principal to the first
-- column agent_id: VARCHAR; the agent that it names: the agent it happened to, or the assignee
-- column task_id: VARCHAR; the task that it names, or happened to
-- column session_id: VARCHAR; the session that it names, or happened to
-- column model_id: VARCHAR; the model that it names, or happened to
-- column request_id: VARCHAR; the request that it is about, by the id of its API
-- column situation: VARCHAR; the situation that it names
-- column params_json: VARCHAR; parameters that it states
-- column stated_from_state: VARCHAR; the state before, where the event states it
-- column to_state: VARCHAR; the state after, as the event states it or its kind means it; NULL where nothing changes
-- column reason: VARCHAR; the reason that it states
-- references: docs/programs.md#events; fields of events
-- rows: only with program_events

-- References in one row for each event.
with named as (
  select
    source_id as event_id,
    max(case when field in ('agent', 'assignee') then target_id end) as agent_id,
    max(case when field = 'task' then target_id end) as task_id,
    max(case when field = 'session' then target_id end) as session_id,
    max(case when field = 'model' then target_id end) as model_id
  from v_program_references
  where source_table = 'program_events'
  group by source_id
),
-- States that kinds of events lead to; a program that is created begins in the first one of its type.
kind_state (kind, state) as (
  values
    ('PROVIDER_PUBLISHED', 'published'), ('MODEL_PUBLISHED', 'published'), ('PROGRAM_PUBLISHED', 'published'),
    ('PROVIDER_DEPRECATED', 'deprecated'), ('MODEL_DEPRECATED', 'deprecated'), ('PROGRAM_DEPRECATED', 'deprecated'),
    ('INFORMATION_VALIDATED', 'validated'), ('INFORMATION_ACTIVATED', 'active'),
    ('INFORMATION_ARCHIVED', 'archived'),
    ('SESSION_MESSAGE', 'active'), ('SESSION_PAUSED', 'paused'),
    ('SESSION_RESUMED', 'active'), ('SESSION_COMPLETED', 'completed'),
    ('AGENT_TASK_ASSIGNED', 'thinking'), ('AGENT_THINKING', 'thinking'),
    ('AGENT_EXECUTING', 'executing'), ('AGENT_WAITING', 'waiting'), ('AGENT_ERROR', 'error'),
    ('AGENT_COMPLETED', 'completed'), ('AGENT_RESET', 'idle'),
    ('TASK_UNASSIGNED', 'pending'),
    ('TASK_STARTED', 'active'), ('TASK_COMPLETED', 'completed'), ('TASK_FAILED', 'failed'), ('TASK_BLOCKED', 'blocked'),
    ('TASK_UNBLOCKED', 'active')
),
-- Events with the object that some writers wrap their fields in.
wrapped as (
  select
    *,
    cast(
      coalesce(
        json_extract(payload_json, '$.data.properties'), json_extract(payload_json, '$.data'),
        json_extract(payload_json, '$.payload')
      ) as varchar
    ) as data_json
  from program_events
),
-- Fields under each of the names that writers give them.
read_event as (
  select
    *,
    coalesce(
      json_extract_string(payload_json, '$.requestId'), json_extract_string(payload_json, '$.request_id'),
      json_extract_string(data_json, '$.requestId'), json_extract_string(data_json, '$.request_id')
    ) as request_id,
    coalesce(json_extract_string(payload_json, '$.situation'), json_extract_string(data_json, '$.situation'))
      as situation,
    cast(
      coalesce(
        json_extract(payload_json, '$.params'), json_extract(data_json, '$.params'),
        json_extract(payload_json, '$.parameters'), json_extract(data_json, '$.parameters')
      ) as varchar
    ) as params_json,
    coalesce(
      json_extract_string(payload_json, '$.previousState'), json_extract_string(data_json, '$.previousState'),
      json_extract_string(payload_json, '$.previousLifecycle'), json_extract_string(data_json, '$.previousLifecycle')
    ) as from_state,
    coalesce(
      json_extract_string(payload_json, '$.newState'), json_extract_string(data_json, '$.newState'),
      json_extract_string(payload_json, '$.newLifecycle'), json_extract_string(data_json, '$.newLifecycle')
    ) as new_state,
    coalesce(
      json_extract_string(payload_json, '$.state'), json_extract_string(data_json, '$.state'),
      json_extract_string(payload_json, '$.lifecycle'), json_extract_string(data_json, '$.lifecycle')
    ) as state,
    coalesce(json_extract_string(payload_json, '$.reason'), json_extract_string(data_json, '$.reason')) as reason
  from wrapped
),
-- Events with the type of what they happened to.
typed as (
  select
    e.*,
    coalesce(
      p.program_type,
      case split_part(e.kind, '_', 1)
        when 'PROVIDER' then 'provider'
        when 'MODEL' then 'model'
        when 'SESSION' then 'session'
        when 'AGENT' then 'agent'
        when 'TASK' then 'task'
        when 'INFORMATION' then 'information'
        when 'HUMAN' then 'human'
      end
    ) as program_type
  from read_event e
  left join programs p on p.id = e.program_id
),
-- States before and after; what an agent calls its state in other kinds of events is something else.
changing as (
  select
    e.*,
    case when left(e.from_state, 1) not in ('{', '[') then e.from_state end as state_before,
    coalesce(
      case when left(e.new_state, 1) not in ('{', '[') then e.new_state end,
      case
        when left(e.state, 1) not in ('{', '[')
          and (
            k.kind is not null
            or regexp_matches(lower(e.kind), 'state|lifecycle|(created|assigned|updated|changed|configured)$')
          )
          then e.state
      end,
      k.state,
      l.to_state
    ) as state_after
  from typed e
  left join kind_state k on k.kind = e.kind
  left join v_program_lifecycles l
    on ends_with(e.kind, '_CREATED') and l.program_type = e.program_type and l.from_state is null
)
select
  e.event_id, e.kind, e.program_id, e.program_type, e.occurred_at,
  right('0000000000000000' || cast(coalesce(e.occurred_at, 0) as varchar), 16)
    || right('0000000000000000' || cast(coalesce(e.position, 0) as varchar), 16) || e.event_id as event_order,
  e.principal_type, e.principal, e.on_behalf_of,
  case when starts_with(e.kind, 'AGENT_') then e.program_id else n.agent_id end as agent_id,
  case when starts_with(e.kind, 'TASK_') then e.program_id else n.task_id end as task_id,
  case when starts_with(e.kind, 'SESSION_') then e.program_id else n.session_id end as session_id,
  case when starts_with(e.kind, 'MODEL_') then e.program_id else n.model_id end as model_id,
  e.request_id, e.situation, e.params_json,
  case e.state_before when 'assigned' then 'pending' when 'in_progress' then 'active' else e.state_before end
    as stated_from_state,
  case e.state_after when 'assigned' then 'pending' when 'in_progress' then 'active' else e.state_after end as to_state,
  e.reason
from changing e
left join named n on n.event_id = e.event_id
