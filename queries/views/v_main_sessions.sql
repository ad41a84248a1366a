-- title: The main session of each persona
-- question: To which session does a message lead that names only a persona?
-- why: A trigger knows in whose name it acts, and not in which thread.
-- grain: persona with a main session
-- column persona_id: VARCHAR; the persona
-- column session_label: VARCHAR; its main session
-- column thread_id: VARCHAR; the thread that this session stands at
-- column is_stated: BOOLEAN; whether the user's file names it; else it is the latest
-- references: docs/personas.md#the-main-session; which session it is
with named_session as (
  select p.persona_id, s.label, s.thread_id
  from personas p
  left join session_aliases a on a.alias = p.main_session
  join sessions s on s.label = coalesce(a.session_label, p.main_session)
  where p.main_session is not null
),
-- A session of a log without times has the time of a file, which says nothing about when it was used.
undated_session as (
  select distinct row_key as label
  from inferred_values
  where table_name = 'sessions' and column_name = 'updated_at' and basis = 'undated'
),
ranked_session as (
  select
    p.persona_id, s.label, s.thread_id,
    row_number() over (
      partition by p.persona_id order by u.label is not null, s.updated_at desc, s.label
    ) as place
  from sessions s
  join v_session_personas p on p.session_label = s.label
  left join undated_session u on u.label = s.label
  where coalesce(s.is_subagent, 0) = 0 and s.status = 'active'
)
select
  coalesce(n.persona_id, r.persona_id) as persona_id,
  coalesce(n.label, r.label) as session_label,
  coalesce(n.thread_id, r.thread_id) as thread_id,
  n.persona_id is not null as is_stated
from (select * from ranked_session where place = 1) r
full join named_session n on n.persona_id = r.persona_id
