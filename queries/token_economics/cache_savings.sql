-- title: Savings by the cache
-- question: What would the same input cost without a cache?
-- why: Caching pays only where what is written is read again.
-- grain: key
-- params: filters
-- param by: text = model; what the rows are: one of model, project, session, day, origin
-- param timezone: text = UTC; the time zone whose days are meant
-- column key: VARCHAR; the model, project, session, day or origin; NULL when unknown, or for the total
-- column requests: BIGINT; priced requests
-- column paid_usd: DECIMAL(38,12); cost of their input with the cache
-- column without_cache_usd: DECIMAL(38,12); cost of the same input at the price of uncached input
-- column read_savings_usd: DECIMAL(38,12); what reading from the cache saved
-- column write_premium_usd: DECIMAL(38,12); what writing to the cache cost beyond uncached input
-- column saved_usd: DECIMAL(38,12); what is left of the savings after that premium
-- column saved_share: DOUBLE; that as a share of the cost without a cache
-- column unpriced_requests: BIGINT; requests with tokens that have no price, left out above
-- shown: key, saved_usd, saved_share, paid_usd, without_cache_usd, read_savings_usd, write_premium_usd, requests
-- empty: No request reports its tokens.
-- next: `aix query cache_break_causes` shows what lost caches cost
-- caveat: Without a cache one would work otherwise; the same requests are assumed.
-- references: docs/economics.md#the-other-figures; the money that caching saved
with counted_request as (
  select
    case coalesce(getvariable('by'), 'model')
      when 'model' then r.model
      when 'project' then r.project
      when 'session' then r.session_label
      when 'day' then cast(d.day as varchar)
      when 'origin' then r.origin
    end as key,
    r.cost_usd is not null and r.input_price_usd is not null as is_counted,
    r.is_unpriced,
    r.input_cost_usd + r.cache_read_cost_usd + r.cache_write_5m_cost_usd + r.cache_write_1h_cost_usd as paid_usd,
    r.cache_read_cost_usd,
    r.cache_write_5m_cost_usd + r.cache_write_1h_cost_usd as write_cost_usd,
    cast(cast(r.context_tokens as decimal(19, 0)) * r.input_price_usd as decimal(38, 12)) as without_cache_usd,
    cast(cast(coalesce(r.cache_read_tokens, 0) as decimal(19, 0)) * r.input_price_usd as decimal(38, 12))
      as read_uncached_usd,
    cast(cast(coalesce(r.cache_write_tokens, 0) as decimal(19, 0)) * r.input_price_usd as decimal(38, 12))
      as written_uncached_usd
  from v_counted_requests r
  left join v_local_days d on d.quarter_hour = r.quarter_hour
),
key_totals as (
  select
    key,
    count(case when is_counted then 1 end) as requests,
    sum(case when is_counted then paid_usd end) as paid_usd,
    sum(case when is_counted then without_cache_usd end) as without_cache_usd,
    sum(case when is_counted then read_uncached_usd end) as read_uncached_usd,
    sum(case when is_counted then cache_read_cost_usd end) as read_cost_usd,
    sum(case when is_counted then written_uncached_usd end) as written_uncached_usd,
    sum(case when is_counted then write_cost_usd end) as write_cost_usd,
    count(case when is_unpriced then 1 end) as unpriced_requests
  from counted_request
  group by key
)
select
  key,
  requests,
  paid_usd,
  without_cache_usd,
  read_uncached_usd - read_cost_usd as read_savings_usd,
  write_cost_usd - written_uncached_usd as write_premium_usd,
  without_cache_usd - paid_usd as saved_usd,
  cast(without_cache_usd - paid_usd as double) / nullif(cast(without_cache_usd as double), 0) as saved_share,
  unpriced_requests
from key_totals
order by saved_usd desc nulls last, key
