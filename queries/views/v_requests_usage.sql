-- title: The usage of each request
-- question: Which tokens does each request report, as far as the report can be believed?
-- why: Counts are cleaned and put together in one place, before prices and sessions come to them.
-- grain: request
-- column request_id: VARCHAR; the request
-- column turn_id: VARCHAR; the turn it served; NULL for side calls
-- column session_label: VARCHAR; the session that made it
-- column message_id: VARCHAR; the message it gave
-- column origin_message_id: VARCHAR; the API's own id of the message
-- column seq: BIGINT; place among the requests of the turn
-- column requested_at: BIGINT; when it was made, in Unix ms
-- column kind: VARCHAR; what it was for: main, advisor, compaction, side
-- column model: VARCHAR; the model the request named
-- column provider: VARCHAR; the vendor of the API
-- column variant: VARCHAR; how it was served: standard, batch, priority, flex, fast
-- column git_branch: VARCHAR; the branch checked out at the time
-- column cwd: VARCHAR; the working folder at the time
-- column stop_reason: VARCHAR; why the model stopped
-- column latency_ms: BIGINT; how long the answer took
-- column input_tokens: BIGINT; uncached input
-- column output_tokens: BIGINT; output as reported
-- column cache_read_tokens: BIGINT; input read from the cache
-- column cache_write_tokens: BIGINT; input written to the cache
-- column cache_write_5m_tokens: BIGINT; the part kept for 5 minutes, with what the log does not split
-- column cache_write_1h_tokens: BIGINT; the part kept for 1 hour
-- column reasoning_tokens: BIGINT; thinking, where it is counted apart
-- column context_tokens: BIGINT; whole input: uncached, read from and written to the cache
-- column web_search_count: BIGINT; searches the vendor ran
-- column estimated_output_tokens: BIGINT; output estimated from the length of what was written
-- column likely_output_tokens: BIGINT; as reported, or the estimate where that is larger and the report not final
-- column is_usage_final: BOOLEAN; whether the reported output is the final count
-- column is_ttl_assumed: BOOLEAN; whether cache writes were taken as 5-minute ones because the log does not say
-- column has_usage: BOOLEAN; whether any tokens are reported
-- column reported_cost_usd: DECIMAL(38,12); what the source itself says it cost
-- caveat: What a parent only says in total of a subagent whose log is gone is no request, and is left out.
-- caveat: Counts above a million million tokens, and reported costs above as many dollars, are taken for unknown.
-- references: docs/economics.md#cache-writes; writes whose lifetime the log does not say
-- references: docs/economics.md#output-that-is-not-final; the likely output
with plausible_usage as (
  select
    id as request_id, turn_id, session_label, message_id, origin_message_id, seq, requested_at, kind, model, provider,
    git_branch, cwd, stop_reason, latency_ms, is_usage_final,
    case when abs(reported_cost_usd) <= 1000000000000 then reported_cost_usd end as reported_cost_usd,
    case
      when speed = 'fast' then 'fast'
      when service_tier in ('batch', 'priority', 'flex') then service_tier
      else 'standard'
    end as variant,
    case when input_tokens between 0 and 1000000000000 then input_tokens end as input_tokens,
    case when output_tokens between 0 and 1000000000000 then output_tokens end as output_tokens,
    case when cache_read_tokens between 0 and 1000000000000 then cache_read_tokens end as cache_read_tokens,
    case when cache_write_tokens between 0 and 1000000000000 then cache_write_tokens end as stated_write_tokens,
    case when cache_write_5m_tokens between 0 and 1000000000000 then cache_write_5m_tokens end as stated_5m_tokens,
    case when cache_write_1h_tokens between 0 and 1000000000000 then cache_write_1h_tokens end as cache_write_1h_tokens,
    case when reasoning_tokens between 0 and 1000000000000 then reasoning_tokens end as reasoning_tokens,
    case when web_search_count between 0 and 1000000000 then web_search_count end as web_search_count,
    case when estimated_output_tokens between 0 and 1000000000000 then estimated_output_tokens end
      as estimated_output_tokens
  from requests
  where model is not null
    or coalesce(input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, web_search_count) is not null
),
usage_with_writes as (
  select
    *,
    -- What a total has beyond its parts was written, but for how long is not said.
    case
      when stated_write_tokens - coalesce(cache_write_1h_tokens, 0) > coalesce(stated_5m_tokens, 0)
        then stated_write_tokens - coalesce(cache_write_1h_tokens, 0)
      else stated_5m_tokens
    end as cache_write_5m_tokens
  from plausible_usage
)
select
  request_id, turn_id, session_label, message_id, origin_message_id, seq, requested_at, kind, model, provider, variant,
  git_branch, cwd, stop_reason, latency_ms,
  input_tokens, output_tokens, cache_read_tokens,
  case
    when coalesce(cache_write_5m_tokens, cache_write_1h_tokens) is not null
      then coalesce(cache_write_5m_tokens, 0) + coalesce(cache_write_1h_tokens, 0)
    else stated_write_tokens
  end as cache_write_tokens,
  cache_write_5m_tokens, cache_write_1h_tokens, reasoning_tokens,
  case
    when coalesce(input_tokens, output_tokens, cache_read_tokens, stated_write_tokens, cache_write_5m_tokens,
      cache_write_1h_tokens, web_search_count) is not null
      then coalesce(input_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_write_5m_tokens, 0)
        + coalesce(cache_write_1h_tokens, 0)
  end as context_tokens,
  web_search_count, estimated_output_tokens,
  case
    when coalesce(is_usage_final, false) then output_tokens
    when estimated_output_tokens > coalesce(output_tokens, 0) then estimated_output_tokens
    else output_tokens
  end as likely_output_tokens,
  is_usage_final,
  coalesce(cache_write_5m_tokens > coalesce(stated_5m_tokens, 0), false) as is_ttl_assumed,
  coalesce(input_tokens, output_tokens, cache_read_tokens, stated_write_tokens, cache_write_5m_tokens,
    cache_write_1h_tokens, web_search_count) is not null as has_usage,
  cast(reported_cost_usd as decimal(38, 12)) as reported_cost_usd
from usage_with_writes
