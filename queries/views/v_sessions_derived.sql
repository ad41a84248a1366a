-- title: Threads whose head has no children
-- question: Which ends does the tree of turns have, and which sessions stand there?
-- why: Without labels, a session is the tip of a branch: this finds sessions from the turns alone.
-- grain: thread
-- column thread_id: VARCHAR; the turn that no other turn follows
-- column thread_key: VARCHAR; the thread's structured address
-- column depth: BIGINT; how many turns lead to it, itself included
-- column total_tokens: BIGINT; their tokens; NULL when all are unknown
-- column started_at: BIGINT; when the turn began, in Unix ms
-- column session_label: VARCHAR; the session whose head it is, an active one first; NULL where `aix check` finds none
-- column sessions: BIGINT; how many sessions have it as their head
with standing as (
  select
    thread_id,
    min(case when status = 'active' then label end) as active_label,
    min(label) as label,
    count(*) as sessions
  from sessions
  group by thread_id
)
select
  t.id as thread_id,
  h.thread_key,
  h.depth,
  h.total_tokens,
  t.started_at,
  coalesce(s.active_label, s.label) as session_label,
  coalesce(s.sessions, 0) as sessions
from turns t
join threads h on h.turn_id = t.id
left join standing s on s.thread_id = t.id
where t.has_children = 0
