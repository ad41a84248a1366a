-- title: Five-hour blocks
-- question: How much was used in each 5-hour block, and where does the running one lead?
-- why: Some plans limit use by blocks of 5 hours that begin with the first request.
-- grain: block
-- params: filters
-- param now: timestamp = none; the moment up to which the running block has come; none is that of the last request
-- column started_at: BIGINT; when the block began: the full hour of its first request, in Unix ms
-- column ends_at: BIGINT; 5 hours later
-- column first_at: BIGINT; its first request
-- column last_at: BIGINT; its last request
-- column is_running: BOOLEAN; whether that moment is in it
-- column requests: BIGINT; requests
-- column context_tokens: BIGINT; whole input; NULL when unknown
-- column output_tokens: BIGINT; output as reported; NULL when unknown
-- column cost_usd: DECIMAL(38,12); list price; NULL when nothing is priced
-- column cost_estimated_usd: DECIMAL(38,12); the same with the likely output
-- column unpriced_requests: BIGINT; requests with tokens that have no price
-- column cost_per_hour_usd: DOUBLE; cost for each hour from its first to its last request; NULL with one moment only
-- column projected_usd: DOUBLE; the running block at its end, at that pace from that moment on; NULL for the others
-- column final_output_share: DOUBLE; share of the reported output tokens that is the final count; the rest is a lower bound
-- shown: started_at, cost_usd, is_running, requests, output_tokens, cost_per_hour_usd, projected_usd, last_at
-- empty: No requests yet.
-- next: `aix query burn_rate` shows the hours
-- caveat: As ccusage counts them, a block begins at the full hour (UTC) of the first request after the block before.
-- caveat: Filters come first: with a filter, blocks are those of the requests that are left.
-- references: docs/economics.md#the-other-figures; a block

-- Hours with requests: blocks begin at full hours, so no finer step is needed.
with recursive active_hour as (
  select
    cast(floor(requested_at / 3600000) as bigint) as hour,
    min(requested_at) as first_at,
    max(requested_at) as last_at,
    count(*) as requests,
    sum(context_tokens) as context_tokens,
    sum(output_tokens) as output_tokens,
    sum(case when is_usage_final then output_tokens end) as final_output_tokens,
    sum(cost_usd) as cost_usd,
    sum(cost_estimated_usd) as cost_estimated_usd,
    count(case when is_unpriced then 1 end) as unpriced_requests
  from v_counted_requests
  where requested_at between -62135596800000 and 253402214400000
  group by 1
),
-- After 5 hours without a request a block begins in any case, so that each such stretch is walked by itself.
hour_after_pause as (
  select hour, case when hour - lag(hour) over (order by hour) < 5 then 0 else 1 end as is_after_pause from active_hour
),
-- Hours by the number of their stretch.
stretch_hour as (
  select hour, is_after_pause, sum(is_after_pause) over (order by hour rows unbounded preceding) as number
  from hour_after_pause
),
-- The hour at which the next block would begin if one began in this hour.
possible_block as (
  select
    hour,
    is_after_pause,
    min(hour) over (partition by number order by hour range between 5 following and unbounded following) as next_hour
  from stretch_hour
),
-- Blocks that really begin, each found from the one before it.
block as (
  select hour, next_hour from possible_block where is_after_pause = 1
  union all
  select n.hour, n.next_hour
  from block b
  join possible_block n on n.hour = b.next_hour
),
-- An hour belongs to the last block that has begun: every other hour of a block lies before the next begins.
blocked_hour as (
  select a.*, max(b.hour) over (order by a.hour rows unbounded preceding) as block_hour
  from active_hour a
  left join block b on b.hour = a.hour
),
-- One row for each block.
block_totals as (
  select
    a.block_hour * 3600000 as started_at,
    min(a.first_at) as first_at,
    max(a.last_at) as last_at,
    sum(a.requests) as requests,
    sum(a.context_tokens) as context_tokens,
    sum(a.output_tokens) as output_tokens,
    sum(a.final_output_tokens) as final_output_tokens,
    sum(a.cost_usd) as cost_usd,
    sum(a.cost_estimated_usd) as cost_estimated_usd,
    sum(a.unpriced_requests) as unpriced_requests
  from blocked_hour a
  group by a.block_hour
),
-- The cost per hour of each block, and the moment that counts as now.
block_pace as (
  select
    *,
    coalesce(getvariable('now'), max(last_at) over ()) as present_at,
    cast(cost_usd as double) * 3600000 / nullif(last_at - first_at, 0) as cost_per_hour_usd
  from block_totals
)
select
  started_at,
  started_at + 18000000 as ends_at,
  first_at,
  last_at,
  present_at >= started_at and present_at < started_at + 18000000 as is_running,
  cast(requests as bigint) as requests,
  cast(context_tokens as bigint) as context_tokens,
  cast(output_tokens as bigint) as output_tokens,
  cost_usd,
  cost_estimated_usd,
  cast(unpriced_requests as bigint) as unpriced_requests,
  cost_per_hour_usd,
  case
    when present_at >= started_at and present_at < started_at + 18000000
      then cast(cost_usd as double) + cost_per_hour_usd * (started_at + 18000000 - present_at) / 3600000
  end as projected_usd,
  cast(coalesce(final_output_tokens, 0) as double) / nullif(cast(output_tokens as double), 0) as final_output_share
from block_pace
order by started_at
