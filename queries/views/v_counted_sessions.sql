-- title: The sessions that a question counts
-- question: Which sessions have a turn or a request that counts, and which of them are subagents?
-- why: Every screen counts sessions, and subagents apart from them, in the same way.
-- grain: session
-- params: filters
-- column session_label: VARCHAR; the session
-- column origin: VARCHAR; where it came from
-- column is_subagent: BOOLEAN; whether another session spawned it
-- caveat: A session without a turn of its own counts where nothing is filtered.
with counted_label as (
  select session_label from v_turns_in_time
  union
  select session_label from v_counted_requests
)
select s.label as session_label, s.origin, s.is_subagent = 1 as is_subagent
from sessions s
left join counted_label c on c.session_label = s.label
where c.session_label is not null
  or (
    getvariable('since') is null and getvariable('until') is null and getvariable('project') is null
    and getvariable('origin') is null and getvariable('model') is null and getvariable('session') is null
    and getvariable('tag') is null
  )
