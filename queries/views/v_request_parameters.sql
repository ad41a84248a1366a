-- title: Inference parameters of requests
-- question: With which parameters was each request made, and which setting gave them?
-- why: An answer depends on temperature and the like; they are kept apart from requests, as defaults and situations.
-- grain: request_id and parameter
-- column request_id: VARCHAR; the request
-- column parameter: VARCHAR; the parameter, such as temperature or maxTokens
-- column value: VARCHAR; its value, as JSON where it is no plain value
-- column basis: VARCHAR; the setting it comes from: request, situation or default
-- column default_value: VARCHAR; the value that the model has without a situation; NULL where it has none
-- column model_program_id: VARCHAR; the model program
-- column situation: VARCHAR; the situation in force
-- caveat: A request overrides a situation, a situation overrides the defaults of the model program, as that was last seen.
-- caveat: An event of an agent's graph states the parameters of the request of its run that has the same time and model.
-- caveat: Parameters and situations whose names have a dot, bracket, star or quotation mark are left out.
-- rows: only with programs, program_events, dag_events

-- Requests with their model program and situation, read once.
with request_program as (
  select request_id, model_program_id, situation from v_request_programs
),
-- Settings of a model that are no parameters.
no_parameter (name) as (
  values
    ('name'), ('modelId'), ('backendModel'), ('modelType'), ('provider'), ('situations'), ('description'), ('dimensions'),
    ('aix:node')
),
-- Settings of each model program.
model_setting as (
  select id as program_id, config_json, unnest(json_keys(config_json)) as name
  from programs
  where program_type = 'model' and config_json is not null
),
-- Defaults.
default_parameter as (
  select
    s.program_id, s.name as parameter,
    json_extract_string(s.config_json, case when regexp_matches(s.name, '^[^."*\[]+$') then '$.' || s.name end) as value
  from model_setting s
  left join no_parameter n on n.name = s.name
  where n.name is null
),
-- Names of situations.
situation_name as (
  select id as program_id, config_json, unnest(json_keys(json_extract(config_json, '$.situations'))) as situation
  from programs
  where program_type = 'model' and json_extract(config_json, '$.situations') is not null
),
-- Each situation as JSON.
situation_settings as (
  select
    program_id, situation,
    cast(
      json_extract(
        config_json, case when regexp_matches(situation, '^[^."*\[]+$') then '$.situations.' || situation end
      ) as varchar
    ) as settings_json
  from situation_name
),
-- Parameters of situations.
situation_setting as (
  select program_id, situation, settings_json, unnest(json_keys(settings_json)) as parameter
  from situation_settings
  where settings_json like '{%'
),
-- Parameters that events state for a request: of programs, and of an agent's graph.
request_settings as (
  select r.id as request_id, max_by(e.params_json, e.event_order) as params_json
  from v_program_events e
  join requests r on r.origin_request_id = e.request_id
  where e.kind = 'MODEL_INFERENCE_REQUESTED' and e.params_json like '{%'
  group by r.id
  union all
  select r.id, max(cast(json_extract(g.payload_json, '$.params') as varchar))
  from dag_events g
  join requests r
    on r.session_label
      = 'agent-dag:' || replace(replace(g.agent_id, '%', '%25'), '/', '%2F') || '/' || g.run_id
    and r.requested_at = g.occurred_at
    and r.model = json_extract_string(g.payload_json, '$.model')
  where g.kind = 'model_request' and cast(json_extract(g.payload_json, '$.params') as varchar) like '{%'
  group by r.id
),
-- Each of these parameters.
request_setting as (
  select request_id, params_json, unnest(json_keys(params_json)) as parameter from request_settings
),
-- Every parameter with the setting it comes from; the greatest rank wins.
candidate as (
  select p.request_id, d.parameter, d.value, 1 as rank
  from request_program p
  join default_parameter d on d.program_id = p.model_program_id
  union all
  select
    p.request_id, s.parameter,
    json_extract_string(
      s.settings_json, case when regexp_matches(s.parameter, '^[^."*\[]+$') then '$.' || s.parameter end
    ),
    2
  from request_program p
  join situation_setting s on s.program_id = p.model_program_id and s.situation = p.situation
  union all
  select
    request_id, parameter,
    json_extract_string(params_json, case when regexp_matches(parameter, '^[^."*\[]+$') then '$.' || parameter end),
    3
  from request_setting
),
-- One row for each request and parameter.
chosen as (
  select
    request_id, parameter,
    max_by(value, rank) as value,
    max(rank) as rank,
    max(case when rank = 1 then value end) as default_value
  from candidate
  where value is not null
  group by request_id, parameter
)
select
  c.request_id, c.parameter, c.value,
  case c.rank when 3 then 'request' when 2 then 'situation' else 'default' end as basis,
  c.default_value,
  p.model_program_id, p.situation
from chosen c
left join request_program p on p.request_id = c.request_id
