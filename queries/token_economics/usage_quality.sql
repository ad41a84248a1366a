-- title: Quality of usage figures
-- question: How far can the token counts be trusted?
-- why: Every cost is as good as the counts and prices under it.
-- grain: origin and model
-- params: filters
-- column origin: VARCHAR; where the session came from; NULL for side calls of no known session
-- column model: VARCHAR; the model the request named
-- column requests: BIGINT; requests
-- column without_usage_requests: BIGINT; requests for which no tokens are reported
-- column zero_usage_requests: BIGINT; requests for which every reported count is zero
-- column final_share: DOUBLE; share of the requests with usage whose reported output is the final count
-- column unpriced_requests: BIGINT; requests with tokens that have no price
-- column unpriced_tokens: BIGINT; their tokens, which no cost includes
-- column ttl_assumed_share: DOUBLE; share of the requests with cache writes whose log does not say for how long
-- column output_tokens: BIGINT; output as reported
-- column likely_output_tokens: BIGINT; the same with the estimate where that is larger and the report not final
-- column reported_share: DOUBLE; reported output as a share of the likely output
-- column final_reported_to_estimated: DOUBLE; reported over estimated output where the report is final
-- column other_reported_to_estimated: DOUBLE; the same where it is not final; the difference is what the reports miss
-- column reported_cost_requests: BIGINT; requests for which the source itself reports a cost
-- shown: origin, model, final_share, requests, reported_share, unpriced_requests, without_usage_requests, zero_usage_requests
-- empty: No requests yet.
-- caveat: Requests with neither a model nor tokens, such as searches of the client, are no part of this.
-- caveat: Estimates are a quarter of the characters written; hidden thinking is not among them.
-- references: docs/economics.md#output-that-is-not-final; final and likely output
select
  origin,
  model,
  count(*) as requests,
  count(case when not has_usage then 1 end) as without_usage_requests,
  count(case when has_usage and context_tokens + coalesce(output_tokens, 0) = 0 then 1 end) as zero_usage_requests,
  count(case when has_final_usage then 1 end) / nullif(count(case when has_usage then 1 end), 0) as final_share,
  count(case when is_unpriced then 1 end) as unpriced_requests,
  cast(coalesce(sum(unpriced_tokens), 0) as bigint) as unpriced_tokens,
  count(case when cache_write_tokens > 0 and is_ttl_assumed then 1 end)
    / nullif(count(case when cache_write_tokens > 0 then 1 end), 0) as ttl_assumed_share,
  cast(sum(output_tokens) as bigint) as output_tokens,
  cast(sum(likely_output_tokens) as bigint) as likely_output_tokens,
  cast(sum(output_tokens) as bigint) / nullif(cast(sum(likely_output_tokens) as bigint), 0) as reported_share,
  cast(sum(case when has_final_usage and estimated_output_tokens > 0 then output_tokens end) as bigint)
    / nullif(cast(sum(case when has_final_usage and output_tokens >= 0 then estimated_output_tokens end) as bigint), 0)
    as final_reported_to_estimated,
  cast(sum(case when not has_final_usage and estimated_output_tokens > 0 then output_tokens end) as bigint)
    / nullif(
      cast(sum(case when not has_final_usage and output_tokens >= 0 then estimated_output_tokens end) as bigint), 0
    ) as other_reported_to_estimated,
  count(reported_cost_usd) as reported_cost_requests
from v_counted_requests
group by origin, model
order by requests desc, origin, model
