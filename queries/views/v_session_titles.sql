-- title: The title of each session
-- question: What do people call a session?
-- why: A session has the same title in every list.
-- grain: session
-- column session_label: VARCHAR; the session
-- column title: VARCHAR; its title, else the task that a subagent was given, else the beginning of its first prompt, on one line; NULL without any
-- kept: by family with sessions
with prompt as (
  select
    w.session_label,
    replace(replace(left(m.content, 1000), chr(13), ' '), chr(10), ' ') as content,
    -- A message that a tool sent in the name of the user comes after what people typed.
    case when m.source = 'event' then '1' else '0' end
      || right('0000000000' || cast(w.position as varchar), 10)
      || right('0000000000' || cast(m.sequence as varchar), 10) || m.id as place
  from v_session_turns w
  join messages m on m.turn_id = w.turn_id
  where m.role = 'user' and trim(m.content) <> ''
),
first_prompt as (
  select session_label, min_by(content, place) as content from prompt group by session_label
)
select
  s.label as session_label,
  coalesce(nullif(trim(c.title), ''), nullif(trim(s.task_description), ''), p.content) as title
from sessions s
left join session_context c on c.label = s.label
left join first_prompt p on p.session_label = s.label
