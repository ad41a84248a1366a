-- title: Carry cost
-- question: What do tool results cost in all later requests?
-- why: A large result early in a session costs far more than its first reading: cut the output of such tools.
-- grain: tool, or call
-- params: filters
-- param per: text = tool; what the rows are: one of tool, call
-- column tool_name: VARCHAR; the tool
-- column call_id: VARCHAR; the call; NULL where the row stands for a tool
-- column calls: BIGINT; calls
-- column result_tokens: BIGINT; tokens of their results; NULL when unknown
-- column requests_carried: BIGINT; later requests that sent these results again, summed over the calls
-- column cost_usd: DECIMAL(38,12); result tokens at the cache read price of these requests; NULL without a price
-- column cost_share: DOUBLE; share of the carry cost of all results
-- column basis: VARCHAR; measured where the context's growth shows the tokens, estimated from the length, or mixed
-- shown: tool_name, cost_usd, cost_share, calls, result_tokens, requests_carried
-- empty: No call has a result that later requests carry.
-- next: --param per=call lists the most expensive single results
-- caveat: A result is carried until the next compaction or the last request of its session, whatever time is asked for.
-- caveat: That every later request reads it from the cache is assumed; where the cache was lost, it cost more.
-- references: docs/economics.md#the-other-figures; the carry cost
with carried_result as (
  select
    call_id, tool_name, result_tokens, is_measured, later_requests,
    cast(result_tokens * later_read_usd as decimal(38, 12)) as cost_usd
  from v_counted_calls
  where later_requests is not null
),
tool_totals as (
  select
    tool_name,
    case when getvariable('per') = 'call' then call_id end as call_id,
    count(*) as calls,
    cast(sum(result_tokens) as bigint) as result_tokens,
    cast(sum(later_requests) as bigint) as requests_carried,
    sum(cost_usd) as cost_usd,
    bool_or(is_measured) as has_measured,
    bool_and(is_measured) as has_only_measured
  from carried_result
  group by 1, 2
)
select
  tool_name,
  call_id,
  calls,
  result_tokens,
  requests_carried,
  cost_usd,
  cast(cost_usd as double) / nullif(cast(sum(cost_usd) over () as double), 0) as cost_share,
  case when has_only_measured then 'measured' when has_measured then 'mixed' else 'estimated' end as basis
from tool_totals
order by cost_usd desc nulls last, tool_name, call_id
