-- title: Causes of cache breaks
-- question: What does each cause of a lost cache cost?
-- why: Shows whether shorter pauses, one model for a session, or a stable prefix would save most.
-- grain: cause
-- params: filters
-- param min_tokens: integer = 1024; the smallest loss that counts
-- column cause: VARCHAR; compaction, model_switch, ttl (left too long) or prefix_changed: the first that fits
-- column breaks: BIGINT; requests that lost the cache
-- column sessions: BIGINT; sessions in which that happened
-- column lost_tokens: BIGINT; tokens written again
-- column lost_cost_usd: DECIMAL(38,12); what that cost beyond reading them; NULL when none has a price
-- column unpriced_breaks: BIGINT; breaks without a price
-- column median_gap_s: DOUBLE; median of the seconds since the request before
-- shown: cause, lost_cost_usd, breaks, sessions, lost_tokens, median_gap_s
-- empty: No cache was lost.
-- next: `aix query cache_breaks` lists each loss with its session
-- caveat: After a compaction or a rewind the inputs have less in common than their length says: an upper bound.
-- caveat: A cache is left too long after 5 minutes, or after 1 hour where it was written for 1 hour.
select
  cause,
  count(*) as breaks,
  count(distinct session_label) as sessions,
  cast(sum(lost_tokens) as bigint) as lost_tokens,
  sum(lost_cost_usd) as lost_cost_usd,
  count(*) - count(lost_cost_usd) as unpriced_breaks,
  median(gap_ms) / 1000 as median_gap_s
from v_cache_breaks
group by cause
order by lost_cost_usd desc nulls last, cause
