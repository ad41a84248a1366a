-- title: Model switches
-- question: When did a session change its model, and what did the cache that was lost with it cost?
-- why: Each model has a cache of its own: a switch sends the whole context again at full price.
-- grain: switch
-- param since: timestamp = none; first moment counted
-- param until: timestamp = none; first moment no longer counted
-- param project: text = none; only projects with this text in their path
-- param origin: text = none; only this origin
-- param model: text = none; only models with this text in their name
-- param session: text = none; only what counts for this session
-- param tag: text = none; only turns and sessions with this tag
-- column session_label: VARCHAR; the session
-- column switched_at: BIGINT; when the first request to the new model was made, in Unix ms
-- column turn_id: VARCHAR; the turn it served
-- column from_model: VARCHAR; the model before
-- column to_model: VARCHAR; the model after
-- column gap_ms: BIGINT; time since the request before
-- column context_tokens: BIGINT; whole input of the request after the switch
-- column lost_tokens: BIGINT; of the context before, what was not read from the cache any more
-- column lost_usd: DECIMAL(38,12); what these cost beyond reading them from the cache; NULL without a price
-- column cost_usd: DECIMAL(38,12); list price of the whole request; NULL without a price
-- column cost_estimated_usd: DECIMAL(38,12); the same with the likely output
-- caveat: After a pause longer than the cache lives (5 minutes, or 1 hour), it would have been lost without a switch.
-- caveat: The model parameter names the new model.
with request as (
  select r.id as request_id, o.session_label, r.requested_at, r.seq, r.model, r.context_tokens
  from requests r
  join v_turn_owner o on o.turn_id = r.turn_id
  where r.kind = 'main'
    and r.model is not null
    and r.context_tokens between 0 and 1000000000000
    and r.requested_at between -62135596800000 and 253402214400000
),
followed as (
  select
    request_id,
    model,
    lag(model) over thread as before_model,
    requested_at - lag(requested_at) over thread as gap_ms,
    lag(context_tokens) over thread as before_context_tokens
  from request
  window thread as (partition by session_label order by requested_at, seq, request_id)
),
switch as (
  select request_id, before_model, gap_ms, before_context_tokens from followed where before_model <> model
)
select
  r.session_label,
  r.requested_at as switched_at,
  r.turn_id,
  b.before_model as from_model,
  r.model as to_model,
  b.gap_ms,
  r.context_tokens,
  greatest(least(b.before_context_tokens, r.context_tokens) - coalesce(r.cache_read_tokens, 0), 0) as lost_tokens,
  cast(
    greatest(least(b.before_context_tokens, r.context_tokens) - coalesce(r.cache_read_tokens, 0), 0)
    * (
      case
        when r.cache_write_1h_tokens > 0 then r.cache_write_1h_price_usd
        when r.cache_write_5m_tokens > 0 then r.cache_write_5m_price_usd
        else r.input_price_usd
      end - r.cache_read_price_usd
    ) as decimal(38, 12)
  ) as lost_usd,
  r.cost_usd,
  r.cost_estimated_usd
from switch b
join v_counted_requests r on r.request_id = b.request_id
order by r.requested_at, r.session_label, r.request_id
