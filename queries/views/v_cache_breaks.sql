-- title: Requests that found less in the cache than the request before had left there
-- question: Which requests had to write again what was in the cache, and why?
-- why: A lost cache is paid for twice; the cause tells whether that can be avoided.
-- grain: request
-- params: filters
-- param min_tokens: integer = 1024; the smallest loss that counts
-- column request_id: VARCHAR; the request
-- column turn_id: VARCHAR; the turn it served
-- column session_label: VARCHAR; the session it counts for
-- column requested_at: BIGINT; when it was made, in Unix ms
-- column model: VARCHAR; the model it named
-- column cause: VARCHAR; compaction, model_switch, ttl or prefix_changed: the first that fits
-- column gap_ms: BIGINT; time since the request before
-- column before_context_tokens: BIGINT; whole input of the request before
-- column context_tokens: BIGINT; its whole input
-- column cache_read_tokens: BIGINT; input read from the cache
-- column cache_write_tokens: BIGINT; input written to the cache
-- column lost_tokens: BIGINT; what both inputs could have in common, less what was read from the cache
-- column lost_cost_usd: DECIMAL(38,12); these tokens at the price of writing less that of reading; NULL without a price
-- caveat: Counted as v_counted_requests does; the request before may lie outside the time asked for.
-- caveat: A request that neither reads nor writes the cache does not use it, and breaks nothing.
-- references: docs/economics.md#the-other-figures; a cache break, its cause and its cost
with cache_break as (
  select *, least(before_context_tokens, context_tokens) - coalesce(cache_read_tokens, 0) as lost_tokens
  from v_counted_requests
  where before_requested_at is not null
    and coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0) > 0
    and least(before_context_tokens, context_tokens) - coalesce(cache_read_tokens, 0)
      >= coalesce(getvariable('min_tokens'), 1024)
),
session_compaction as (
  select o.session_label, t.started_at as compacted_at
  from compactions c
  join turns t on t.id = c.turn_id
  join v_turn_owner o on o.turn_id = c.turn_id
),
break_by_compaction as (
  select distinct b.request_id
  from cache_break b
  join session_compaction c
    on c.session_label = b.session_label
    and c.compacted_at > b.before_requested_at
    and c.compacted_at <= b.requested_at
)
select
  b.request_id,
  b.turn_id,
  b.session_label,
  b.requested_at,
  b.model,
  case
    when c.request_id is not null then 'compaction'
    when b.before_model is distinct from b.model then 'model_switch'
    when b.gap_ms > 3600000 then 'ttl'
    when b.gap_ms > 300000 and not coalesce(b.before_write_1h_tokens > 0 or b.cache_write_1h_tokens > 0, false)
      then 'ttl'
    else 'prefix_changed'
  end as cause,
  b.gap_ms,
  b.before_context_tokens,
  b.context_tokens,
  b.cache_read_tokens,
  b.cache_write_tokens,
  b.lost_tokens,
  cast(
    cast(b.lost_tokens as decimal(19, 0)) * (
      case
        when coalesce(b.cache_write_1h_tokens, 0) > coalesce(b.cache_write_5m_tokens, 0) then b.cache_write_1h_price_usd
        else b.cache_write_5m_price_usd
      end - b.cache_read_price_usd
    ) as decimal(38, 12)
  ) as lost_cost_usd
from cache_break b
left join break_by_compaction c on c.request_id = b.request_id
