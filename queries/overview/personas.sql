-- title: Personas
-- question: In whose name did agents work, and how much?
-- why: Shows whether the mappings of the file of personas fit the sessions that were meant.
-- grain: persona
-- column persona_id: VARCHAR; the persona
-- column name: VARCHAR; its name, as the user's file has it
-- column is_described: BOOLEAN; whether the file describes it; else only logs name it
-- column model: VARCHAR; the model that it thinks with by default
-- column rules: BIGINT; its rules on tools
-- column sessions: BIGINT; its sessions
-- column mapped_sessions: BIGINT; of these, those that a mapping fits
-- column subagents: BIGINT; of these, those of subagents
-- column turns: BIGINT; turns that count for its sessions
-- column last_active_at: BIGINT; when one of its sessions was last used, in Unix ms
-- column main_session_label: VARCHAR; its main session; NULL where it has none
-- column thread_id: VARCHAR; the thread that its main session stands at
-- shown: persona_id, sessions, turns, last_active_at, main_session_label, model, rules, name, subagents
-- empty: No session yet.
-- next: `aix cost --by persona` shows what each cost
-- references: docs/personas.md#which-sessions-are-its-own; the persona of a session
with known_persona as (
  select persona_id from personas
  union
  select persona_id from v_session_personas
),
turns_by_session as (
  select session_label, count(*) as turns from v_turn_owner group by session_label
),
sessions_by_persona as (
  select
    p.persona_id,
    count(*) as sessions,
    count(case when p.basis = 'mapping' then 1 end) as mapped_sessions,
    count(case when s.is_subagent = 1 then 1 end) as subagents,
    cast(coalesce(sum(t.turns), 0) as bigint) as turns,
    max(case when u.row_key is null then s.updated_at end) as last_active_at
  from v_session_personas p
  join sessions s on s.label = p.session_label
  left join turns_by_session t on t.session_label = p.session_label
  left join inferred_values u
    on u.table_name = 'sessions' and u.row_key = s.label and u.column_name = 'updated_at' and u.basis = 'undated'
  group by p.persona_id
),
rules_by_persona as (
  select persona_id, count(*) as rules
  from persona_permissions
  where kind in ('allow', 'ask', 'deny')
  group by persona_id
)
select
  k.persona_id,
  d.name,
  d.persona_id is not null as is_described,
  d.model,
  coalesce(r.rules, 0) as rules,
  coalesce(s.sessions, 0) as sessions,
  coalesce(s.mapped_sessions, 0) as mapped_sessions,
  coalesce(s.subagents, 0) as subagents,
  coalesce(s.turns, 0) as turns,
  s.last_active_at,
  m.session_label as main_session_label,
  m.thread_id
from known_persona k
left join personas d on d.persona_id = k.persona_id
left join rules_by_persona r on r.persona_id = k.persona_id
left join sessions_by_persona s on s.persona_id = k.persona_id
left join v_main_sessions m on m.persona_id = k.persona_id
order by s.last_active_at desc nulls last, k.persona_id
