-- title: What if: another model or cache lifetime
-- question: What would another model or cache lifetime cost?
-- why: Shows what a change of model or lifetime is worth before it is made.
-- grain: model and the model it is priced at
-- params: filters
-- param as_model: text = none; the model to price all requests at, by its exact name; none takes the next cheaper one
-- param lifetime: text = none; the lifetime to price all cache writes at, else what was written: one of 5m, 1h
-- column model: VARCHAR; the model the request named
-- column then_model: VARCHAR; the model it is priced at instead; the same when the ledger has no cheaper one
-- column requests: BIGINT; requests with usage
-- column cost_now_usd: DECIMAL(38,12); their cost as it was; NULL when none is priced
-- column cost_then_usd: DECIMAL(38,12); their cost then; NULL when none can be priced, as with an unknown model
-- column difference_usd: DECIMAL(38,12); cost then less cost now, of requests priced both ways
-- column unpriced_now: BIGINT; requests that have no price as they were
-- column unpriced_then: BIGINT; requests that have no price then
-- column final_share: DOUBLE; share of these requests whose reported output is the final count
-- shown: model, then_model, difference_usd, cost_now_usd, cost_then_usd, requests
-- empty: No requests yet.
-- next: --param as_model=NAME prices all at one model, --param lifetime=1h changes cache writes
-- caveat: Without as_model and lifetime, a model becomes the next cheaper one of its vendor that the ledger has seen.
-- caveat: Of several at that price, it is the one used last. With a lifetime alone, each model stays.
-- caveat: Another model would use other tokens for the same text, and other turns for the same task.
-- caveat: Another lifetime would also change what is found in the cache; see cache_lifetimes and cache_breaks.
-- caveat: Where a model has no price for the cache, its price of uncached input is taken.
-- caveat: Of several vendors of a model, the request's own is taken, else the first by name.
-- references: docs/economics.md#the-other-figures; prices of another model or lifetime

-- The vendor whose price of the named model each request gets.
with then_provider as (
  select
    q.provider,
    coalesce(max(case when p.provider = q.provider then p.provider end), min(nullif(p.provider, '')), '')
      as provider_then
  from (select distinct coalesce(provider, '') as provider from requests) q
  cross join (select distinct provider from model_prices where model = getvariable('as_model')) p
  group by q.provider
),
-- The models of the ledger at their latest usual prices, in tokens of small contexts.
seen_model as (
  select r.provider, r.model, r.last_at, max(p.input_usd) as input_usd, max(p.output_usd) as output_usd
  from (
    select coalesce(provider, '') as provider, model, max(coalesce(requested_at, 0)) as last_at
    from v_requests
    where model is not null
    group by 1, 2
  ) r
  join model_prices p on p.model = r.model and p.provider = r.provider
  where p.variant = 'standard' and p.tier_start_tokens = 0 and p.valid_to = 9223372036854775807
  group by r.provider, r.model, r.last_at
),
-- For each of them the next cheaper one of the same vendor, when neither a model nor a lifetime is given.
cheaper_model as (
  select provider, model, then_model
  from (
    select
      m.provider, m.model, c.model as then_model,
      row_number() over (
        partition by m.provider, m.model
        order by c.output_usd desc, c.input_usd desc, c.last_at desc, c.model
      ) as place
    from seen_model m
    join seen_model c
      on c.provider = m.provider and c.output_usd < m.output_usd and c.input_usd <= m.input_usd
    where getvariable('as_model') is null and getvariable('lifetime') is null
  )
  where place = 1
),
-- Prices, of which an amount without a unit has no type of its own.
price_line as (
  select
    provider, model, variant, valid_from, valid_to, tier_start_tokens, tier_end_tokens, input_usd, output_usd,
    web_search_usd, cache_read_usd, cache_write_5m_usd, cache_write_1h_usd,
    cast(0 as decimal(31, 12)) as nothing_usd
  from model_prices
),
-- Each request with the model, the vendor and the cache writes that it is priced at.
moved_request as (
  select
    r.model,
    coalesce(getvariable('as_model'), c.then_model, r.model) as then_model,
    case when getvariable('as_model') is null then coalesce(r.provider, '') else t.provider_then end as then_provider,
    coalesce(getvariable('as_model'), c.then_model) is not null as is_moved,
    r.variant, r.requested_at, r.cost_usd, r.has_final_usage, r.context_tokens, r.input_tokens, r.output_tokens,
    r.cache_read_tokens, r.web_search_count,
    case
      when getvariable('lifetime') is null then coalesce(r.cache_write_5m_tokens, 0)
      when getvariable('lifetime') = '5m' then coalesce(r.cache_write_tokens, 0)
      when getvariable('lifetime') = '1h' then 0
    end as write_5m_tokens,
    case
      when getvariable('lifetime') is null then coalesce(r.cache_write_1h_tokens, 0)
      when getvariable('lifetime') = '5m' then 0
      when getvariable('lifetime') = '1h' then coalesce(r.cache_write_tokens, 0)
    end as write_1h_tokens
  from v_counted_requests r
  left join then_provider t on t.provider = coalesce(r.provider, '')
  left join cheaper_model c on c.provider = coalesce(r.provider, '') and c.model = r.model
  where r.has_usage
),
-- Each request at the prices of that model; where it has none for the cache, at that of uncached input.
priced_request as (
  select
    m.model,
    m.then_model,
    m.cost_usd,
    m.has_final_usage,
    case
      when m.write_5m_tokens is not null
        then cast(
          case when m.input_tokens > 0 then cast(m.input_tokens as decimal(19, 0)) * p.input_usd
            else p.nothing_usd end
          + case when m.output_tokens > 0 then cast(m.output_tokens as decimal(19, 0)) * p.output_usd
            else p.nothing_usd end
          + case when m.cache_read_tokens > 0 then cast(m.cache_read_tokens as decimal(19, 0))
              * coalesce(p.cache_read_usd, case when m.is_moved then p.input_usd end)
            else p.nothing_usd end
          + case when m.write_5m_tokens > 0 then cast(m.write_5m_tokens as decimal(19, 0))
              * coalesce(p.cache_write_5m_usd, case when m.is_moved then p.input_usd end)
            else p.nothing_usd end
          + case when m.write_1h_tokens > 0 then cast(m.write_1h_tokens as decimal(19, 0))
              * coalesce(p.cache_write_1h_usd, case when m.is_moved then p.input_usd end)
            else p.nothing_usd end
          + case when m.web_search_count > 0 then cast(m.web_search_count as decimal(19, 0)) * p.web_search_usd
            else p.nothing_usd end
          as decimal(38, 12)
        )
    end as then_usd
  from moved_request m
  left join price_line p
    on p.model = m.then_model
    and p.provider = m.then_provider
    and p.variant = m.variant
    and m.requested_at >= p.valid_from and m.requested_at < p.valid_to
    and m.context_tokens >= p.tier_start_tokens and m.context_tokens < p.tier_end_tokens
)
select
  model,
  then_model,
  count(*) as requests,
  sum(cost_usd) as cost_now_usd,
  sum(then_usd) as cost_then_usd,
  sum(then_usd - cost_usd) as difference_usd,
  count(*) - count(cost_usd) as unpriced_now,
  count(*) - count(then_usd) as unpriced_then,
  count(case when has_final_usage then 1 end) / nullif(count(*), 0) as final_share
from priced_request
group by model, then_model
order by cost_now_usd desc nulls last, model, then_model
