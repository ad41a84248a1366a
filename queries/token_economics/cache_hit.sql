-- title: Cache hits
-- question: How much of the input came out of the cache?
-- why: Input read from the cache costs a tenth of fresh input; a low ratio is money lost.
-- grain: key
-- params: filters
-- param by: text = model; what the rows are: one of model, project, session, day, origin
-- param timezone: text = UTC; the time zone whose days are meant
-- column key: VARCHAR; the model, project, session, day or origin; NULL when unknown, or for the total
-- column requests: BIGINT; requests that say what the cache did
-- column context_tokens: BIGINT; their whole input
-- column cache_read_tokens: BIGINT; the part read from the cache
-- column cache_write_tokens: BIGINT; the part written to it
-- column hit_ratio: DOUBLE; share of the input that was read from the cache
-- column write_ratio: DOUBLE; share of the input that was written to it
-- column read_per_write: DOUBLE; how often a written token was read
-- shown: key, hit_ratio, requests, context_tokens, cache_read_tokens, cache_write_tokens
-- empty: No request reports its tokens.
-- next: --param by=project groups by project; `aix query cache_savings` has the dollars
-- caveat: Requests that say nothing of the cache are left out.
-- references: docs/economics.md#the-other-figures; the hit ratio
with counted_request as (
  select
    case coalesce(getvariable('by'), 'model')
      when 'model' then r.model
      when 'project' then r.project
      when 'session' then r.session_label
      when 'day' then cast(d.day as varchar)
      when 'origin' then r.origin
    end as key,
    r.context_tokens,
    r.cache_read_tokens,
    r.cache_write_tokens
  from v_counted_requests r
  left join v_local_days d on d.quarter_hour = r.quarter_hour
  where r.cache_read_tokens is not null or r.cache_write_tokens is not null
),
key_totals as (
  select
    key,
    count(*) as requests,
    cast(sum(context_tokens) as bigint) as context_tokens,
    cast(sum(cache_read_tokens) as bigint) as cache_read_tokens,
    cast(sum(cache_write_tokens) as bigint) as cache_write_tokens
  from counted_request
  group by key
)
select
  key, requests, context_tokens, cache_read_tokens, cache_write_tokens,
  cache_read_tokens / nullif(context_tokens, 0) as hit_ratio,
  cache_write_tokens / nullif(context_tokens, 0) as write_ratio,
  cache_read_tokens / nullif(cache_write_tokens, 0) as read_per_write
from key_totals
order by context_tokens desc, key
