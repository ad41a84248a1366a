-- title: The cost of each request
-- question: What did each request cost, part by part, and on which price?
-- why: One turn mixes models, cache lifetimes and price tiers, so cost can only be computed request by request.
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
-- column input_price_usd: DECIMAL(18,12); list price of an input token
-- column output_price_usd: DECIMAL(18,12); list price of an output token
-- column cache_read_price_usd: DECIMAL(18,12); list price of a token read from the cache
-- column cache_write_5m_price_usd: DECIMAL(18,12); list price of a token written for 5 minutes
-- column cache_write_1h_price_usd: DECIMAL(18,12); list price of a token written for 1 hour
-- column input_cost_usd: DECIMAL(38,12); cost of uncached input
-- column output_cost_usd: DECIMAL(38,12); cost of output
-- column cache_read_cost_usd: DECIMAL(38,12); cost of cache reads
-- column cache_write_5m_cost_usd: DECIMAL(38,12); cost of 5-minute writes
-- column cache_write_1h_cost_usd: DECIMAL(38,12); cost of 1-hour writes
-- column web_search_cost_usd: DECIMAL(38,12); cost of searches
-- column cost_usd: DECIMAL(38,12); computed at list price from the reported tokens; NULL without price or usage
-- column cost_estimated_usd: DECIMAL(38,12); the same with the likely output
-- column reported_cost_usd: DECIMAL(38,12); what the source itself says it cost
-- column price_basis: VARCHAR; whether the cost is computed or estimated, and on which price; NULL without a price
-- caveat: What a parent only says in total of a subagent whose log is gone is no request, and is left out.
-- caveat: Counts above a million million tokens, and reported costs above as many dollars, are taken for unknown.
-- references: docs/economics.md#one-request-one-cost; the formula of a cost
-- references: docs/prices.md#how-a-price-is-chosen; the price that applies to a request
-- references: https://github.com/pydantic/genai-prices; most of the list prices
-- kept: by family with requests

-- What is said of a price is put together once for each price, not for each request.
with price_line as (
  select
    *,
    cast(0 as decimal(31, 12)) as nothing_usd,
    'computed: ' || price_basis as computed_basis,
    'computed, 5-minute writes assumed: ' || price_basis as assumed_basis,
    'not computed, a price is missing: ' || price_basis as missing_basis,
    'not computed, no usage is reported: ' || price_basis as unused_basis
  from model_prices
),
priced_request as (
  select
    s.*,
    p.input_usd, p.output_usd, p.cache_read_usd, p.cache_write_5m_usd, p.cache_write_1h_usd,
    p.computed_basis, p.assumed_basis, p.missing_basis, p.unused_basis,
    case
      when s.input_tokens > 0 then cast(s.input_tokens as decimal(19, 0)) * p.input_usd
      else p.nothing_usd
    end as input_cost_usd,
    case
      when s.output_tokens > 0 then cast(s.output_tokens as decimal(19, 0)) * p.output_usd
      else p.nothing_usd
    end as output_cost_usd,
    case
      when s.likely_output_tokens > 0 then cast(s.likely_output_tokens as decimal(19, 0)) * p.output_usd
      else p.nothing_usd
    end as likely_output_cost_usd,
    case
      when s.cache_read_tokens > 0 then cast(s.cache_read_tokens as decimal(19, 0)) * p.cache_read_usd
      else p.nothing_usd
    end as cache_read_cost_usd,
    case
      when s.cache_write_5m_tokens > 0 then cast(s.cache_write_5m_tokens as decimal(19, 0)) * p.cache_write_5m_usd
      else p.nothing_usd
    end as cache_write_5m_cost_usd,
    case
      when s.cache_write_1h_tokens > 0 then cast(s.cache_write_1h_tokens as decimal(19, 0)) * p.cache_write_1h_usd
      else p.nothing_usd
    end as cache_write_1h_cost_usd,
    case
      when s.web_search_count > 0 then cast(s.web_search_count as decimal(19, 0)) * p.web_search_usd
      else p.nothing_usd
    end as web_search_cost_usd
  from v_requests_usage s
  left join price_line p
    on p.model = s.model
    and p.provider = coalesce(s.provider, '')
    and p.variant = s.variant
    and s.requested_at >= p.valid_from and s.requested_at < p.valid_to
    and coalesce(s.context_tokens, 0) >= p.tier_start_tokens and coalesce(s.context_tokens, 0) < p.tier_end_tokens
),
cost_parts as (
  select
    *,
    input_cost_usd + cache_read_cost_usd + cache_write_5m_cost_usd + cache_write_1h_cost_usd + web_search_cost_usd
      as cost_but_output_usd
  from priced_request
)
select
  request_id, turn_id, session_label, message_id, origin_message_id, seq, requested_at, kind, model, provider, variant,
  git_branch, cwd, stop_reason, latency_ms,
  input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cache_write_5m_tokens, cache_write_1h_tokens,
  reasoning_tokens,
  context_tokens, web_search_count, estimated_output_tokens, likely_output_tokens, is_usage_final, is_ttl_assumed,
  has_usage,
  input_usd as input_price_usd,
  output_usd as output_price_usd,
  cache_read_usd as cache_read_price_usd,
  cache_write_5m_usd as cache_write_5m_price_usd,
  cache_write_1h_usd as cache_write_1h_price_usd,
  cast(input_cost_usd as decimal(38, 12)) as input_cost_usd,
  cast(output_cost_usd as decimal(38, 12)) as output_cost_usd,
  cast(cache_read_cost_usd as decimal(38, 12)) as cache_read_cost_usd,
  cast(cache_write_5m_cost_usd as decimal(38, 12)) as cache_write_5m_cost_usd,
  cast(cache_write_1h_cost_usd as decimal(38, 12)) as cache_write_1h_cost_usd,
  cast(web_search_cost_usd as decimal(38, 12)) as web_search_cost_usd,
  case when has_usage then cast(cost_but_output_usd + output_cost_usd as decimal(38, 12)) end as cost_usd,
  case
    when has_usage or likely_output_tokens > 0
      then cast(cost_but_output_usd + likely_output_cost_usd as decimal(38, 12))
  end as cost_estimated_usd,
  reported_cost_usd,
  case
    when cost_but_output_usd is null or output_cost_usd is null then missing_basis
    when not has_usage then unused_basis
    when is_ttl_assumed then assumed_basis
    else computed_basis
  end as price_basis
from cost_parts
