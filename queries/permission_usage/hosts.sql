-- title: Hosts
-- question: Which hosts did calls name, and what came of it?
-- why: What leaves a machine leaves through these.
-- grain: host
-- params: filters
-- column host: VARCHAR; the host
-- column calls: BIGINT; calls
-- column ran: BIGINT; of these, calls that ran
-- column failed: BIGINT; calls that failed
-- column denied: BIGINT; calls that were denied
-- column sessions: BIGINT; sessions
-- column first_called_at: BIGINT; the first call, in Unix ms
-- column last_called_at: BIGINT; the last call, in Unix ms
-- column by_command: BIGINT; calls that name it in a command rather than as their target
-- column projects: BIGINT; projects
-- shown: host, calls, ran, failed, denied, sessions, last_called_at
-- empty: No host was named.
-- next: `aix query paths_outside` shows the files
-- caveat: Hosts are those that a call spells out: what a program reaches by itself, or by a redirect, is not seen.
with host_call as (
  select
    target, call_id,
    min(outcome) as outcome,
    bool_or(is_denied) as is_denied,
    bool_or(class = 'exec') as is_command,
    min(session_label) as session_label,
    min(project) as project,
    min(called_at) as called_at
  from v_counted_targets
  where kind = 'host'
  group by target, call_id
)
select
  target as host,
  count(*) as calls,
  count(case when outcome = 'ran' then 1 end) as ran,
  count(case when outcome = 'failed' then 1 end) as failed,
  count(case when is_denied then 1 end) as denied,
  count(distinct session_label) as sessions,
  min(called_at) as first_called_at,
  max(called_at) as last_called_at,
  count(case when is_command then 1 end) as by_command,
  count(distinct project) as projects
from host_call
group by target
order by count(*) desc, target
