-- title: MCP servers and their tools
-- question: Which tools of which MCP servers were called?
-- why: A server brings in tools by the dozen, and few of them are used.
-- grain: server and tool
-- params: filters
-- column server: VARCHAR; the server
-- column tool: VARCHAR; its tool
-- column calls: BIGINT; calls
-- column ran: BIGINT; of these, calls that ran
-- column failed: BIGINT; calls that failed
-- column denied: BIGINT; calls that were denied
-- column sessions: BIGINT; sessions
-- column first_called_at: BIGINT; the first call, in Unix ms
-- column last_called_at: BIGINT; the last call, in Unix ms
-- column projects: BIGINT; projects
-- shown: server, tool, calls, ran, failed, denied, sessions, last_called_at
-- empty: No MCP server was called.
-- next: `aix query mcp_overhead` shows what their results cost
with server_call as (
  select
    target, detail, call_id,
    min(outcome) as outcome,
    bool_or(is_denied) as is_denied,
    min(session_label) as session_label,
    min(project) as project,
    min(called_at) as called_at
  from v_counted_targets
  where kind = 'server'
  group by target, detail, call_id
)
select
  target as server,
  detail as tool,
  count(*) as calls,
  count(case when outcome = 'ran' then 1 end) as ran,
  count(case when outcome = 'failed' then 1 end) as failed,
  count(case when is_denied then 1 end) as denied,
  count(distinct session_label) as sessions,
  min(called_at) as first_called_at,
  max(called_at) as last_called_at,
  count(distinct project) as projects
from server_call
group by target, detail
order by count(*) desc, target, detail nulls first
