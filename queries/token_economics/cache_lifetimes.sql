-- title: Cache writes for 5 minutes and for 1 hour
-- question: What do cache writes of each lifetime cost?
-- why: Writing for 1 hour costs more, and pays only where the next request comes later than 5 minutes.
-- grain: lifetime
-- params: filters
-- column lifetime: VARCHAR; 5m or 1h
-- column requests: BIGINT; requests that wrote for that long
-- column write_tokens: BIGINT; tokens written; NULL when unknown
-- column assumed_tokens: BIGINT; tokens of requests whose log does not say for how long they wrote, taken as 5m
-- column cost_as_5m_usd: DECIMAL(38,12); cost of these tokens written for 5 minutes
-- column cost_as_1h_usd: DECIMAL(38,12); cost of these tokens written for 1 hour
-- column unpriced_requests: BIGINT; requests without one of these prices, left out of both costs
-- column followed_within_5m: BIGINT; requests made within 5 minutes of such a write in their session
-- column followed_within_1h: BIGINT; requests made later, within 1 hour: what 1 hour is paid for
-- column followed_later: BIGINT; requests made later than that
-- column read_within_5m_tokens: BIGINT; what they read from the cache within 5 minutes
-- column read_within_1h_tokens: BIGINT; what they read later, within 1 hour
-- column read_later_tokens: BIGINT; what they read later than that
-- shown: lifetime, cost_as_5m_usd, cost_as_1h_usd, requests, write_tokens, followed_within_5m, followed_within_1h, followed_later
-- empty: Nothing was written to a cache.
-- next: `aix query token_economics/what_if --param lifetime=1h` prices all writes for one hour
-- caveat: Only the request right before is looked at: every read refreshes what it reads.
-- caveat: A request that wrote for both lifetimes counts in both rows, and so does the one that followed it.
with cached_request as (
  select
    r.cache_write_5m_tokens as tokens_5m,
    r.cache_write_1h_tokens as tokens_1h,
    r.is_ttl_assumed,
    r.cache_write_5m_price_usd as price_5m,
    r.cache_write_1h_price_usd as price_1h,
    r.cache_write_5m_price_usd is not null and r.cache_write_1h_price_usd is not null as has_prices,
    r.cache_read_tokens,
    r.before_write_5m_tokens as before_5m,
    r.before_write_1h_tokens as before_1h,
    r.gap_ms
  from v_counted_requests r
),
lifetime_totals as (
  select
    count(case when tokens_5m > 0 then 1 end) as requests_5m,
    cast(sum(tokens_5m) as bigint) as tokens_5m,
    sum(case when has_prices then cast(tokens_5m * price_5m as decimal(38, 12)) end) as wrote_5m_as_5m,
    sum(case when has_prices then cast(tokens_5m * price_1h as decimal(38, 12)) end) as wrote_5m_as_1h,
    count(case when tokens_5m > 0 and not has_prices then 1 end) as unpriced_5m,
    count(case when tokens_1h > 0 then 1 end) as requests_1h,
    cast(sum(tokens_1h) as bigint) as tokens_1h,
    sum(case when has_prices then cast(tokens_1h * price_5m as decimal(38, 12)) end) as wrote_1h_as_5m,
    sum(case when has_prices then cast(tokens_1h * price_1h as decimal(38, 12)) end) as wrote_1h_as_1h,
    count(case when tokens_1h > 0 and not has_prices then 1 end) as unpriced_1h,
    cast(sum(case when is_ttl_assumed then tokens_5m end) as bigint) as assumed_5m,
    count(case when before_5m > 0 and gap_ms <= 300000 then 1 end) as within_5m_5m,
    count(case when before_5m > 0 and gap_ms > 300000 and gap_ms <= 3600000 then 1 end) as within_1h_5m,
    count(case when before_5m > 0 and gap_ms > 3600000 then 1 end) as later_5m,
    cast(sum(case when before_5m > 0 and gap_ms <= 300000 then cache_read_tokens end) as bigint) as read_within_5m_5m,
    cast(sum(case when before_5m > 0 and gap_ms > 300000 and gap_ms <= 3600000 then cache_read_tokens end) as bigint)
      as read_within_1h_5m,
    cast(sum(case when before_5m > 0 and gap_ms > 3600000 then cache_read_tokens end) as bigint) as read_later_5m,
    count(case when before_1h > 0 and gap_ms <= 300000 then 1 end) as within_5m_1h,
    count(case when before_1h > 0 and gap_ms > 300000 and gap_ms <= 3600000 then 1 end) as within_1h_1h,
    count(case when before_1h > 0 and gap_ms > 3600000 then 1 end) as later_1h,
    cast(sum(case when before_1h > 0 and gap_ms <= 300000 then cache_read_tokens end) as bigint) as read_within_5m_1h,
    cast(sum(case when before_1h > 0 and gap_ms > 300000 and gap_ms <= 3600000 then cache_read_tokens end) as bigint)
      as read_within_1h_1h,
    cast(sum(case when before_1h > 0 and gap_ms > 3600000 then cache_read_tokens end) as bigint) as read_later_1h
  from cached_request
)
select
  '5m' as lifetime,
  requests_5m as requests,
  tokens_5m as write_tokens,
  assumed_5m as assumed_tokens,
  wrote_5m_as_5m as cost_as_5m_usd,
  wrote_5m_as_1h as cost_as_1h_usd,
  unpriced_5m as unpriced_requests,
  within_5m_5m as followed_within_5m,
  within_1h_5m as followed_within_1h,
  later_5m as followed_later,
  read_within_5m_5m as read_within_5m_tokens,
  read_within_1h_5m as read_within_1h_tokens,
  read_later_5m as read_later_tokens
from lifetime_totals
union all
select
  '1h' as lifetime,
  requests_1h as requests,
  tokens_1h as write_tokens,
  cast(0 as bigint) as assumed_tokens,
  wrote_1h_as_5m as cost_as_5m_usd,
  wrote_1h_as_1h as cost_as_1h_usd,
  unpriced_1h as unpriced_requests,
  within_5m_1h as followed_within_5m,
  within_1h_1h as followed_within_1h,
  later_1h as followed_later,
  read_within_5m_1h as read_within_5m_tokens,
  read_within_1h_1h as read_within_1h_tokens,
  read_later_1h as read_later_tokens
from lifetime_totals
order by lifetime desc
