-- title: MCP overhead
-- question: What do results of each MCP server cost to carry?
-- why: A server that is hardly used, or that answers at length, costs with every request.
-- grain: MCP server
-- params: filters
-- column server: VARCHAR; the server, as it is named in mcp__server__tool
-- column tools_used: BIGINT; different tools of it that were called
-- column calls: BIGINT; calls
-- column failed_calls: BIGINT; calls that failed or were denied
-- column sessions: BIGINT; sessions that called it
-- column last_used_at: BIGINT; when it was last called, in Unix ms
-- column result_tokens: BIGINT; tokens of its results; NULL when unknown
-- column result_share: DOUBLE; share of the result tokens of all tools
-- column carry_cost_usd: DECIMAL(38,12); what later requests paid to read these results again; NULL without a price
-- column basis: VARCHAR; measured where the context's growth shows the tokens, estimated from the length, or mixed
-- shown: server, carry_cost_usd, result_tokens, result_share, calls, failed_calls, tools_used, sessions, last_used_at
-- empty: No MCP server was called.
-- next: `aix query mcp_servers` shows which of their tools were called
-- caveat: The definitions of a server's tools stand in the context of every request; no log shows their size.
-- caveat: A server that was connected and never called is not listed.
with carried_result as (
  select
    call_id, tool_name, status, result_tokens, is_measured, session_label, requested_at,
    cast(result_tokens * later_read_usd as decimal(38, 12)) as cost_usd
  from v_counted_calls
  where later_requests is not null
),
all_results as (
  select sum(result_tokens) as result_tokens from carried_result
)
select
  split_part(c.tool_name, '__', 2) as server,
  count(distinct c.tool_name) as tools_used,
  count(*) as calls,
  count(case when c.status = 'failed' then 1 end) as failed_calls,
  count(distinct c.session_label) as sessions,
  max(c.requested_at) as last_used_at,
  cast(sum(c.result_tokens) as bigint) as result_tokens,
  cast(sum(c.result_tokens) as double) / nullif(cast(max(n.result_tokens) as double), 0) as result_share,
  sum(c.cost_usd) as carry_cost_usd,
  case when bool_and(c.is_measured) then 'measured' when bool_or(c.is_measured) then 'mixed' else 'estimated' end
    as basis
from carried_result c
cross join all_results n
where starts_with(c.tool_name, 'mcp__')
group by 1
order by carry_cost_usd desc nulls last, server
