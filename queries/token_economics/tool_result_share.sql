-- title: Tool result share
-- question: Which tools fill the context with their results?
-- why: Output that can be filtered or cut at the source is the cheapest context to save.
-- grain: tool
-- params: filters
-- column tool_name: VARCHAR; the tool
-- column calls: BIGINT; calls
-- column failed_calls: BIGINT; calls that failed or were denied
-- column result_chars: BIGINT; length of their results; NULL when unknown
-- column result_tokens: BIGINT; tokens of their results; NULL when unknown
-- column tokens_per_call: DOUBLE; result tokens for each call
-- column measured_calls: BIGINT; calls whose tokens were measured
-- column basis: VARCHAR; measured where the context's growth shows the tokens, estimated from the length, or mixed
-- column result_share: DOUBLE; share of the result tokens of all tools
-- shown: tool_name, result_share, result_tokens, calls, tokens_per_call, failed_calls
-- empty: No call has a result.
-- next: `aix query carry_cost` shows what these results cost
-- caveat: Measured is what the context grew by between two requests of a turn, split by the length of the results.
-- caveat: Reminders that a client adds to a result are in it; the estimate takes 4 characters for a token.
with tool_totals as (
  select
    t.tool_name,
    count(*) as calls,
    count(case when t.status = 'failed' then 1 end) as failed_calls,
    sum(t.result_chars) as result_chars,
    sum(t.result_tokens) as result_tokens,
    count(case when t.is_measured then 1 end) as measured_calls
  from v_counted_calls t
  where t.request_id is not null
  group by t.tool_name
)
select
  tool_name,
  calls,
  failed_calls,
  cast(result_chars as bigint) as result_chars,
  cast(result_tokens as bigint) as result_tokens,
  cast(result_tokens as double) / calls as tokens_per_call,
  measured_calls,
  case when measured_calls = calls then 'measured' when measured_calls > 0 then 'mixed' else 'estimated' end as basis,
  cast(result_tokens as double) / nullif(cast(sum(result_tokens) over () as double), 0) as result_share
from tool_totals
order by result_tokens desc nulls last, tool_name
