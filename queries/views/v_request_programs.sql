-- title: Requests and the programs they belong to
-- question: Which session, agent, task, human, model, provider and situation does a request belong to?
-- why: Costs by task, agent, human and situation are sums over these rows.
-- grain: request
-- column request_id: VARCHAR; the request
-- column turn_id: VARCHAR; the turn it served; NULL for side calls
-- column session_program_id: VARCHAR; the program of its session
-- column agent_id: VARCHAR; the agent that made it
-- column task_id: VARCHAR; the task that it was made for
-- column human_id: VARCHAR; the human that it was made for
-- column model_program_id: VARCHAR; the model program: as log or event name it, else the default one, else in a session of programs the only one of that model
-- column provider_program_id: VARCHAR; the provider program of that model
-- column situation: VARCHAR; the situation in force, as the entry or an event names it, else the question of its turn
-- caveat: A program of another model than the one that answered is not the default one of a request.
-- caveat: A request that serves no turn is for the human of its session, if all turns that name one name the same.

-- Turns with their programs, read once.
with turn_program as (
  select * from v_turn_programs
),
-- Programs of a session, for requests that serve none of its turns.
session_program as (
  select
    session_label,
    max(session_program_id) as session_program_id,
    max(agent_id) as agent_id,
    case when min(human_id) = max(human_id) then max(human_id) end as human_id,
    max(default_model_id) as default_model_id
  from turn_program
  where coalesce(session_program_id, agent_id, human_id) is not null
  group by session_label
),
-- Models as programs describe them.
model_program as (
  select
    p.id as program_id,
    coalesce(json_extract_string(p.config_json, '$.modelId'), json_extract_string(p.config_json, '$.backendModel'))
      as model,
    r.provider_id
  from programs p
  left join v_program_roles r on r.program_id = p.id
  where p.program_type = 'model'
),
-- Models that one program alone describes.
only_program as (
  select model, max(program_id) as program_id
  from model_program
  where model is not null
  group by model
  having count(*) = 1
),
-- Names of models that programs explain: those of their vendors, and ids that no import could resolve.
known_model as (
  select model from model_program where model is not null
  union
  select program_id from model_program
),
-- Situations that the messages of a turn state, where any of them does.
stated_situation as (
  select
    m.turn_id,
    max(case when m.role = 'user' then json_extract_string(m.metadata_json, '$.situation') end) as of_question
  from turn_context c
  join messages m on m.turn_id = c.turn_id
  where c.situation is not null and contains(m.metadata_json, '"situation":')
  group by m.turn_id
),
-- Models and situations that entries name, in sessions with programs, with such a model or with situations.
entry as (
  select
    r.id as request_id,
    trim(regexp_extract(trim(json_extract_string(m.metadata_json, '$.message.model')), '^@\((.*)\)$', 1)) as model_id,
    json_extract_string(m.metadata_json, '$.situation') as situation
  from requests r
  join messages m on m.id = r.message_id
  left join session_program s on s.session_label = r.session_label
  left join turn_context c on c.turn_id = r.turn_id
  left join known_model k on k.model = r.model
  left join known_model v on k.model is null and v.model = regexp_replace(r.model, ':[^:]*$', '')
  where coalesce(s.session_label, k.model, v.model, c.situation) is not null
    and (contains(m.metadata_json, '"situation":') or contains(m.metadata_json, '@('))
),
-- Statements of events about a request that they name.
event as (
  select
    request_id as origin_request_id,
    max_by(model_id, event_order) as model_id,
    max_by(situation, event_order) as situation
  from v_program_events
  where request_id is not null
  group by request_id
),
-- Everything that is said about a request.
described as (
  select
    r.id as request_id, r.turn_id,
    coalesce(t.session_program_id, s.session_program_id) as session_program_id,
    coalesce(t.agent_id, s.agent_id) as agent_id,
    t.task_id,
    case when t.turn_id is null then s.human_id else t.human_id end as human_id,
    coalesce(v.situation, e.situation, case when q.turn_id is null then t.situation else q.of_question end)
      as situation,
    coalesce(v.model_id, n.program_id, o.program_id, d.program_id, u.program_id) as model_program_id
  from requests r
  left join turn_program t on t.turn_id = r.turn_id
  left join session_program s on s.session_label = coalesce(t.session_label, r.session_label)
  left join stated_situation q on q.turn_id = r.turn_id
  left join entry e on e.request_id = r.id
  left join event v on v.origin_request_id = r.origin_request_id
  left join model_program n on n.program_id = e.model_id
  -- Without the version, where no program has the whole as its id.
  left join model_program o on n.program_id is null and o.program_id = regexp_replace(e.model_id, ':[^:]*$', '')
  left join model_program d
    on d.program_id = s.default_model_id and (r.model is null or r.model in (d.model, d.program_id))
  left join only_program u on u.model = r.model and s.session_label is not null
)
select
  d.request_id, d.turn_id, d.session_program_id, d.agent_id, d.task_id, d.human_id, d.model_program_id,
  m.provider_id as provider_program_id,
  d.situation
from described d
left join model_program m on m.program_id = d.model_program_id
