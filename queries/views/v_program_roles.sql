-- title: Programs that others name for a role
-- question: Which owner, model, provider, task, session and assignee do the settings of a program name?
-- why: A role is a setting of the program itself; the same word deeper in its settings means something else.
-- grain: program
-- column program_id: VARCHAR; the program
-- column owner_id: VARCHAR; its owner
-- column on_behalf_of_id: VARCHAR; for whom it acts
-- column default_model_id: VARCHAR; the model program that it uses by default
-- column provider_id: VARCHAR; the provider program of a model
-- column task_id: VARCHAR; the task of a session
-- column current_task_id: VARCHAR; the task that an agent has
-- column current_session_id: VARCHAR; the session that an agent has
-- column assignee_id: VARCHAR; who has to do a task
-- caveat: An id without `@( )` counts as current task or session, and in other roles only where a program has that id.
-- rows: only with programs

-- Settings that name a program; a field is sure where a text can be nothing else.
with role (field, is_sure) as (
  values
    ('owner', false), ('onBehalfOf', false), ('defaultModel', false), ('provider', false), ('task', false),
    ('assignee', false), ('currentTask', true), ('currentSession', true)
),
-- Their texts; fields beside the settings count where the settings lack them.
stated as (
  select
    p.id as program_id, r.field, r.is_sure,
    trim(coalesce(
      json_extract_string(p.config_json, '$.' || r.field), json_extract_string(p.config_json, '$.aix:node.' || r.field)
    )) as text
  from programs p
  join role r on contains(p.config_json, '"' || r.field || '":')
),
-- Ids without `@( )`.
bare as (
  select
    program_id, field,
    is_sure or text like '@(%)' as is_sure,
    case when text like '@(%)' then trim(substr(text, 3, length(text) - 3)) else text end as target_id
  from stated
  where text <> '' and not starts_with(text, '{') and not starts_with(text, '[')
),
-- Ids without versions where no program has the whole as its id.
named as (
  select b.program_id, b.field, coalesce(p.id, v.id, b.target_id) as target_id
  from bare b
  left join programs p on p.id = b.target_id
  left join programs v on p.id is null and v.id = regexp_replace(b.target_id, ':[^:]*$', '')
  where b.target_id <> '' and (b.is_sure or p.id is not null or v.id is not null)
)
select
  program_id,
  max(case when field = 'owner' then target_id end) as owner_id,
  max(case when field = 'onBehalfOf' then target_id end) as on_behalf_of_id,
  max(case when field = 'defaultModel' then target_id end) as default_model_id,
  max(case when field = 'provider' then target_id end) as provider_id,
  max(case when field = 'task' then target_id end) as task_id,
  max(case when field = 'currentTask' then target_id end) as current_task_id,
  max(case when field = 'currentSession' then target_id end) as current_session_id,
  max(case when field = 'assignee' then target_id end) as assignee_id
from named
group by program_id
