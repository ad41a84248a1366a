-- title: Five-hour blocks
-- question: How much was used in each 5-hour block?
-- why: Some plans limit use by blocks of 5 hours that begin with the first request.
-- grain: block
-- params: filters
-- param now: timestamp = none; the moment up to which the running block has come; none is that of the last request
-- column started_at: BIGINT; when the block began: the full hour of its first request, in Unix ms; NULL for requests without a time
-- column ends_at: BIGINT; 5 hours later
-- column first_at: BIGINT; its first request
-- column last_at: BIGINT; its last request
-- column is_running: BOOLEAN; whether that moment is in it
-- column turns: BIGINT; turns with such requests
-- column requests: BIGINT; requests
-- column context_tokens: BIGINT; whole input; NULL when unknown
-- column input_tokens: BIGINT; uncached input; all tokens are NULL when unknown
-- column output_tokens: BIGINT; output as reported
-- column cache_read_tokens: BIGINT; input read from the cache
-- column cache_write_5m_tokens: BIGINT; input written to the cache for 5 minutes, with what the log does not split
-- column cache_write_1h_tokens: BIGINT; input written to the cache for 1 hour
-- column cost_usd: DECIMAL(38,12); list price of the priced requests; NULL when none is priced
-- column cost_estimated_usd: DECIMAL(38,12); the same with the likely output where the report is not final
-- column reported_cost_usd: DECIMAL(38,12); what the sources themselves say it cost
-- column unpriced_requests: BIGINT; requests with tokens that have no price
-- column unpriced_tokens: BIGINT; their tokens, which no cost includes
-- column final_share: DOUBLE; share of the requests with usage whose reported output is the final count
-- column price_basis: VARCHAR; whether computed, and on which price; the first of several
-- column cost_per_hour_usd: DOUBLE; cost for each hour to its last request, of the running block to now; NULL if too short
-- column tokens_per_hour: DOUBLE; whole input and output for each hour in the same way
-- column projected_usd: DOUBLE; the running block at its end, at that pace from that moment on; NULL for the others
-- column projected_tokens: BIGINT; whole input and output of the running block at its end, in the same way
-- column final_output_share: DOUBLE; share of the reported output tokens that is the final count; the rest is a lower bound
-- shown: started_at, cost_usd, is_running, requests, output_tokens, cost_per_hour_usd, projected_usd, last_at
-- empty: No requests yet.
-- next: `aix cost --by block` adds a total, `aix query burn_rate` shows the hours
-- caveat: As ccusage counts them, a block begins at the full hour (UTC) of the first request after the block before.
-- caveat: Filters come first: with a filter, blocks are those of the requests that are left.
-- caveat: One request has no pace, and the running block none in its first 10 minutes.
-- caveat: Where final_share is below 1, output and cost_usd are a lower bound.
-- references: docs/economics.md#the-other-figures; a block

-- One row for each block.
with block_totals as (
  select
    h.block_started_at as started_at,
    case when h.block_started_at is not null then min(r.requested_at) end as first_at,
    case when h.block_started_at is not null then max(r.requested_at) end as last_at,
    cast(sum(r.context_tokens) as bigint) as context_tokens,
    sum(case when r.is_usage_final then r.output_tokens end) as final_output_tokens,
    count(distinct r.turn_id) as turns,
    count(*) as requests,
    cast(sum(r.input_tokens) as bigint) as input_tokens,
    cast(sum(r.output_tokens) as bigint) as output_tokens,
    cast(sum(r.cache_read_tokens) as bigint) as cache_read_tokens,
    cast(sum(r.cache_write_5m_tokens) as bigint) as cache_write_5m_tokens,
    cast(sum(r.cache_write_1h_tokens) as bigint) as cache_write_1h_tokens,
    sum(r.cost_usd) as cost_usd,
    sum(r.cost_estimated_usd) as cost_estimated_usd,
    sum(r.reported_cost_usd) as reported_cost_usd,
    count(case when r.is_unpriced then 1 end) as unpriced_requests,
    cast(coalesce(sum(r.unpriced_tokens), 0) as bigint) as unpriced_tokens,
    count(case when r.has_final_usage then 1 end)
      / nullif(count(case when r.has_usage then 1 end), 0) as final_share,
    min(r.price_basis)
      || case when min(r.price_basis) < max(r.price_basis) then ' and others' else '' end as price_basis
  from v_counted_requests r
  left join v_block_hours h on h.hour = cast(floor(r.quarter_hour / 4) as bigint)
  group by h.block_started_at
),
-- Each block with the moment that counts as now.
block_now as (
  select *, coalesce(getvariable('now'), max(last_at) over ()) as present_at from block_totals
),
-- Hours that are left of the running block; NULL for the others.
block_rest as (
  select
    *,
    case
      when present_at >= started_at and present_at < started_at + 18000000
        then (started_at + 18000000 - present_at) / 3600000
    end as rest_hours
  from block_now
),
-- The time that the pace is taken over: to the last request, in the running block to now, and there at least 10 minutes.
block_time as (
  select
    *,
    case
      when rest_hours is null then nullif(last_at - first_at, 0)
      when greatest(present_at, last_at) - first_at >= 600000 then greatest(present_at, last_at) - first_at
    end as elapsed_ms
  from block_rest
),
-- The pace of each block.
block_pace as (
  select
    *,
    cast(cost_usd as double) * 3600000 / elapsed_ms as cost_per_hour_usd,
    cast(coalesce(context_tokens, 0) + coalesce(output_tokens, 0) as double) * 3600000 / elapsed_ms as tokens_per_hour
  from block_time
)
select
  started_at,
  started_at + 18000000 as ends_at,
  first_at,
  last_at,
  rest_hours is not null as is_running,
  turns, requests, context_tokens,
  input_tokens, output_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens,
  cost_usd, cost_estimated_usd, reported_cost_usd,
  unpriced_requests, unpriced_tokens, final_share, price_basis,
  cost_per_hour_usd,
  tokens_per_hour,
  cast(cost_usd as double) + cost_per_hour_usd * rest_hours as projected_usd,
  cast(
    round(coalesce(context_tokens, 0) + coalesce(output_tokens, 0) + tokens_per_hour * rest_hours) as bigint
  ) as projected_tokens,
  cast(coalesce(final_output_tokens, 0) as double) / nullif(cast(output_tokens as double), 0) as final_output_share
from block_pace
order by started_at
