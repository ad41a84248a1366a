-- title: Paths outside the workspace
-- question: Which files outside of the project were touched?
-- why: An agent seldom needs them, and settings can name those that it does.
-- grain: path and access
-- params: filters
-- column path: VARCHAR; the file or folder
-- column access: VARCHAR; read or write
-- column calls: BIGINT; calls
-- column ran: BIGINT; of these, calls that ran
-- column failed: BIGINT; calls that failed
-- column denied: BIGINT; calls that were denied
-- column sessions: BIGINT; sessions
-- column first_called_at: BIGINT; the first call, in Unix ms
-- column last_called_at: BIGINT; the last call, in Unix ms
-- column by_command: BIGINT; calls that name it in a command rather than as their target
-- column projects: BIGINT; projects from which it was reached
-- shown: path, access, calls, ran, failed, denied, sessions, last_called_at
-- empty: Nothing outside of the projects was read or written.
-- next: `aix query risky_calls` lists the risky calls
-- caveat: A path of which nobody can tell whether it lies outside is left out.
-- caveat: A folder that settings add to a workspace lies outside as well.
with path_call as (
  select
    target, access, call_id,
    min(outcome) as outcome,
    bool_or(is_denied) as is_denied,
    bool_or(class = 'exec') as is_command,
    min(session_label) as session_label,
    min(project) as project,
    min(called_at) as called_at
  from v_counted_targets
  where kind = 'path' and is_outside
  group by target, access, call_id
)
select
  target as path,
  access,
  count(*) as calls,
  count(case when outcome = 'ran' then 1 end) as ran,
  count(case when outcome = 'failed' then 1 end) as failed,
  count(case when is_denied then 1 end) as denied,
  count(distinct session_label) as sessions,
  min(called_at) as first_called_at,
  max(called_at) as last_called_at,
  count(case when is_command then 1 end) as by_command,
  count(distinct project) as projects
from path_call
group by target, access
order by count(*) desc, target, access
