-- title: Cost of all requests
-- question: What did everything cost, and of which time?
-- why: Every breakdown of cost adds up to this row, and overviews and totals show it.
-- grain: the whole ledger, or what the filters leave of it
-- params: filters
-- column first_at: BIGINT; the first request with a time, in Unix ms
-- column last_at: BIGINT; the last request with a time, in Unix ms
-- column sessions: BIGINT; sessions that people started, those without a request as well
-- column subagents: BIGINT; sessions that other sessions spawned, in the same way
-- column turns: BIGINT; turns with such requests
-- column turns_without_requests: BIGINT; turns that made no request, and so have no cost
-- column requests: BIGINT; requests
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
-- shown: cost_usd, requests, sessions, turns, output_tokens, input_tokens, cache_read_tokens, cost_estimated_usd
-- next: `aix cost` shows it by model
-- caveat: Where final_share is below 1, output and cost_usd are a lower bound.
with request_total as (
  select
    min(case when r.quarter_hour between -69039552 and 281558015 then r.requested_at end) as first_at,
    max(case when r.quarter_hour between -69039552 and 281558015 then r.requested_at end) as last_at,
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
),
session_total as (
  select count(case when not is_subagent then 1 end) as sessions, count(case when is_subagent then 1 end) as subagents
  from v_counted_sessions
),
turn_total as (
  select count(*) as turns_without_requests
  from v_turns_in_time
  where turn_id not in (select turn_id from v_requests where turn_id is not null)
)
select
  r.first_at, r.last_at, s.sessions, s.subagents, r.turns, t.turns_without_requests, r.requests,
  r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_5m_tokens, r.cache_write_1h_tokens,
  r.cost_usd, r.cost_estimated_usd, r.reported_cost_usd,
  r.unpriced_requests, r.unpriced_tokens, r.final_share, r.price_basis
from request_total r
cross join session_total s
cross join turn_total t
