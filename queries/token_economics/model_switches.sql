-- title: Model switches
-- question: When did a session change its model, at what cost?
-- why: Each model has a cache of its own: a switch sends the whole context again at full price.
-- grain: switch
-- params: filters
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
-- shown: session_label, switched_at, lost_usd, from_model, to_model, turn_id, gap_ms, lost_tokens
-- empty: No session changed its model.
-- next: `aix show TURN` shows where the model changed
-- caveat: After a pause longer than the cache lives (5 minutes, or 1 hour), it would have been lost without a switch.
-- caveat: The model parameter names the new model.
select
  r.session_label,
  r.requested_at as switched_at,
  r.turn_id,
  r.before_model as from_model,
  r.model as to_model,
  r.gap_ms,
  r.context_tokens,
  greatest(least(r.before_context_tokens, r.context_tokens) - coalesce(r.cache_read_tokens, 0), 0) as lost_tokens,
  cast(
    greatest(least(r.before_context_tokens, r.context_tokens) - coalesce(r.cache_read_tokens, 0), 0)
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
from v_counted_requests r
where r.before_model <> r.model
order by r.requested_at, r.session_label, r.request_id
