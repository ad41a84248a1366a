-- title: Cache breaks
-- question: When was the cache lost, why, and at what cost?
-- why: Waiting too long, switching models, compacting and changing the prefix all make the input be paid for again.
-- grain: request
-- params: filters
-- param min_tokens: integer = 1024; the smallest loss that counts
-- column request_id: VARCHAR; the request that found less in the cache than the one before had left there
-- column turn_id: VARCHAR; the turn it served
-- column session_label: VARCHAR; the session it counts for
-- column requested_at: BIGINT; when it was made, in Unix ms
-- column model: VARCHAR; the model it named
-- column cause: VARCHAR; compaction, model_switch, ttl (left too long) or prefix_changed: the first that fits
-- column gap_s: DOUBLE; seconds since the request before
-- column before_context_tokens: BIGINT; whole input of the request before
-- column context_tokens: BIGINT; its whole input
-- column cache_read_tokens: BIGINT; input read from the cache
-- column cache_write_tokens: BIGINT; input written to the cache
-- column lost_tokens: BIGINT; what both inputs could have in common, less what was read from the cache
-- column lost_cost_usd: DECIMAL(38,12); these tokens at the price of writing less that of reading; NULL without a price
-- shown: session_label, requested_at, lost_cost_usd, cause, gap_s, lost_tokens, turn_id, model
-- empty: No cache was lost.
-- next: `aix show TURN` shows what was asked after the pause
-- caveat: After a compaction or a rewind the inputs have less in common than their length says: an upper bound.
-- caveat: A cache is left too long after 5 minutes, or after 1 hour where it was written for 1 hour.
select
  request_id, turn_id, session_label, requested_at, model, cause,
  gap_ms / 1000 as gap_s,
  before_context_tokens, context_tokens, cache_read_tokens, cache_write_tokens, lost_tokens, lost_cost_usd
from v_cache_breaks
order by lost_cost_usd desc nulls last, lost_tokens desc, request_id
