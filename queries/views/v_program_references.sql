-- title: References between programs
-- question: Which programs do the settings of a program and its events name, and in which field?
-- why: References such as `@(id)` are read here and nowhere else, so that they mean the same in every question.
-- grain: source_table, source_id, field and target_id
-- column source_table: VARCHAR; one of programs, program_events
-- column source_id: VARCHAR; the program or the event
-- column field: VARCHAR; the field that holds it, such as owner, tools or task; `other` for lists within lists
-- column target_id: VARCHAR; the program it names, without `@( )` and version
-- column target_type: VARCHAR; the type of that program; NULL where the ledger has no such program
-- column is_resolved: BOOLEAN; whether there is such a program, or for the field of a session such a session
-- caveat: An id without `@( )` counts in the fields of a task, session, agent, assignee or request, and in others only where a program has that id.
-- caveat: An id with a quotation mark, a backslash or a bracket is not found.
-- rows: only with programs, program_events

-- Settings and events, as JSON without blanks between its parts.
with holder as (
  select 'programs' as source_table, id as source_id, config_json as json from programs where config_json is not null
  union all
  select 'program_events', event_id, payload_json from program_events
),
-- Fields with one reference, and fields with a list of texts, at any depth.
referring_field as (
  select source_table, source_id, unnest(regexp_extract_all(json, '("[^"\\]*":" *@\([^()"\\]*\) *")', 1)) as found
  from holder
  union all
  select
    source_table, source_id,
    unnest(regexp_extract_all(json, '("[^"\\]*":\[[^\[\]{}]*" *@\([^()"\\]*\) *"[^\[\]{}]*\])', 1)) as found
  from holder
),
-- References that are written as such.
written_reference as (
  select
    source_table, source_id,
    regexp_extract(found, '^"([^"\\]*)":', 1) as field,
    unnest(regexp_extract_all(found, '" *@\(([^()"\\]*)\) *"', 1)) as target_id
  from referring_field
),
-- All texts of that form, wherever they are.
written_anywhere as (
  select source_table, source_id, unnest(regexp_extract_all(json, '" *@\(([^()"\\]*)\) *"', 1)) as target_id from holder
),
-- Fields that may hold an id as it is; a field is sure where it can hold nothing else.
plain_field (source_table, field, is_sure) as (
  values
    ('programs', 'currentTask', true), ('programs', 'currentSession', true),
    ('programs', 'owner', false), ('programs', 'onBehalfOf', false), ('programs', 'assignee', false),
    ('programs', 'provider', false), ('programs', 'defaultModel', false), ('programs', 'model', false),
    ('programs', 'session', false), ('programs', 'task', false), ('programs', 'parent', false),
    ('programs', 'schema', false),
    ('program_events', 'task', true), ('program_events', 'taskId', true),
    ('program_events', 'agent', true), ('program_events', 'agentId', true), ('program_events', 'assignee', true),
    ('program_events', 'session', true), ('program_events', 'sessionId', true),
    ('program_events', 'model', false), ('program_events', 'modelId', false), ('program_events', 'defaultModel', false),
    ('program_events', 'owner', false), ('program_events', 'requestedBy', false)
),
-- Ids in these fields, and in the objects that some writers wrap the fields of an event in.
plain_reference as (
  select
    h.source_table, h.source_id, f.field, f.is_sure,
    coalesce(
      json_extract_string(h.json, '$.' || f.field), json_extract_string(h.json, '$.data.' || f.field),
      json_extract_string(h.json, '$.payload.' || f.field), json_extract_string(h.json, '$.data.properties.' || f.field)
    ) as target_id
  from holder h
  join plain_field f on f.source_table = h.source_table
  where contains(h.json, '"' || f.field || '":"')
),
-- Every reference, however it is written.
reference as (
  select source_table, source_id, field, target_id, true as is_sure from written_reference
  union all
  select a.source_table, a.source_id, 'other', a.target_id, true
  from written_anywhere a
  left join written_reference w
    on w.source_table = a.source_table and w.source_id = a.source_id and w.target_id = a.target_id
  where w.source_id is null
  union all
  select source_table, source_id, field, target_id, is_sure
  from plain_reference
  where not starts_with(trim(target_id), '@(')
),
-- Each once, `taskId` as `task`; the id of `@(id:version)` where no program has the whole as its id.
named_reference as (
  select
    r.source_table, r.source_id,
    case
      when r.field in ('taskId', 'agentId', 'sessionId', 'modelId') then left(r.field, length(r.field) - 2)
      else r.field
    end as field,
    coalesce(p.id, v.id, trim(r.target_id)) as target_id,
    coalesce(p.program_type, v.program_type) as target_type,
    bool_or(r.is_sure) as is_sure
  from reference r
  left join programs p on p.id = trim(r.target_id)
  left join programs v on p.id is null and v.id = regexp_replace(trim(r.target_id), ':[^:]*$', '')
  where trim(r.target_id) <> ''
  group by all
),
-- Sessions by the id that their own tool gives them.
known_session as (
  select origin_session_id as session_id from sessions where origin_session_id is not null group by origin_session_id
)
select
  r.source_table, r.source_id, r.field, r.target_id, r.target_type,
  r.target_type is not null or s.session_id is not null as is_resolved
from named_reference r
left join known_session s on r.field in ('session', 'currentSession') and s.session_id = r.target_id
where r.is_sure or r.target_type is not null
