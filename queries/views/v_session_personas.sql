-- title: The persona of each session
-- question: In whose name did the agent of a session work?
-- why: The user's file gives sessions to personas; a subagent works as whoever started it.
-- grain: session
-- column session_label: VARCHAR; the session
-- column persona_id: VARCHAR; the persona in force
-- column stated_persona_id: VARCHAR; the one that its log, or its importer, names
-- column basis: VARCHAR; mapping, a mapping of the file fits; parent, that of the session that started it; log, the stated one
-- column mapping: BIGINT; place of the mapping that fits, from 0
-- references: docs/personas.md#which-sessions-are-its-own; how a mapping fits

-- Sessions that another one of the ledger started.
with started_session as (
  select d.session_label, min(d.distance) as distance
  from v_subagents d
  join sessions p on p.label = d.ancestor_label
  group by d.session_label
),
-- The folder that a session began in: as it is routed by, else that of its first turn.
first_folder as (
  select session_label, workspace_path
  from (
    select
      o.session_label, t.workspace_path,
      row_number() over (partition by o.session_label order by t.started_at, t.id) as place
    from v_turn_owner o
    join turns t on t.id = o.turn_id
    where t.workspace_path is not null
  ) own_turn
  where place = 1
),
-- Sessions with what mappings ask about.
described_session as (
  select
    s.label, s.origin, s.persona_id, b.raw_target as agent_type,
    a.session_label is not null as is_started,
    replace(
      case when left(s.routing_key, 3) = 'ws:' then right(s.routing_key, length(s.routing_key) - 3)
        else f.workspace_path end,
      '\', '/'
    ) as written_folder
  from sessions s
  left join started_session a on a.session_label = s.label
  left join permission_decisions b on b.call_id = s.spawn_tool_call_id
  left join first_folder f on f.session_label = s.label
),
-- Drives of Windows are written either way.
placed_session as (
  select
    *,
    case when substring(written_folder, 2, 1) = ':'
      then upper(left(written_folder, 1)) || right(written_folder, length(written_folder) - 1)
      else written_folder end as folder
  from described_session
),
-- What an agent is called counts for subagents too; everything else they have from whoever started them.
fitting_mapping as (
  select
    s.label, m.persona_id, m.position,
    row_number() over (partition by s.label order by m.position) as place
  from placed_session s
  join persona_mappings m
    on (m.origin is null or m.origin = s.origin)
    and (
      m.workspace is null
      or m.workspace = s.folder
      or (m.workspace = '/' and left(s.folder, 1) = '/')
      or left(s.folder, length(m.workspace) + 1) = m.workspace || '/'
    )
    and (m.agent is null or m.agent = s.persona_id or m.agent = s.agent_type)
    and (m.agent is not null or not s.is_started)
),
-- The first mapping that fits.
mapped_session as (
  select label, persona_id, position from fitting_mapping where place = 1
),
-- The nearest of those that started it, directly or through others, to which a mapping fits.
inherited_persona as (
  select d.session_label, min_by(m.persona_id, d.distance) as persona_id
  from v_subagents d
  join mapped_session m on m.label = d.ancestor_label
  group by d.session_label
)
select
  s.label as session_label,
  coalesce(m.persona_id, i.persona_id, s.persona_id) as persona_id,
  s.persona_id as stated_persona_id,
  case
    when m.persona_id is not null then 'mapping'
    when i.persona_id is not null then 'parent'
    else 'log'
  end as basis,
  m.position as mapping
from sessions s
left join mapped_session m on m.label = s.label
left join inherited_persona i on i.session_label = s.label
