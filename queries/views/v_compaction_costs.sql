-- title: Each counted compaction with its cost and its saving
-- question: What did a compaction cost, what does it save with each later request, and what is left in the end?
-- why: Cost, break-even, spirals and groups must mean the same by cost.
-- grain: compaction
-- column turn_id: VARCHAR; the compaction's turn
-- column session_label: VARCHAR; the session it counts for
-- column project: VARCHAR; the project of its turn, else of its session
-- column origin: VARCHAR; where that session came from
-- column client_version: VARCHAR; version of the tool that wrote the log
-- column compacted_at: BIGINT; when, in Unix ms
-- column trigger: VARCHAR; why: context_limit, manual, periodic; NULL when the log does not say
-- column model: VARCHAR; the model that summarised; unknown when nothing tells
-- column is_mid_task: BOOLEAN; whether it cut a turn that went on after it, else it stands between two turns
-- column tokens_before: BIGINT; whole context before
-- column tokens_after: BIGINT; whole context after; NULL when unknown
-- column reduction: DOUBLE; 1 - after / before; below 0 when the context grew; NULL when unknown
-- column duration_ms: BIGINT; how long it took
-- column summary_tokens: BIGINT; tokens of the summary
-- column summarise_cost_usd: DECIMAL(38,12); cost of the summarising call; NULL without a price
-- column summarise_basis: VARCHAR; computed from the call's own log, else estimated; NULL without a cost
-- column rebuild_tokens: BIGINT; what the first request after it wrote to the cache; NULL without such a request
-- column rebuild_cost_usd: DECIMAL(38,12); these tokens at the price of writing
-- column rebuild_premium_usd: DECIMAL(38,12); the part of that beyond the price of reading them
-- column total_usd: DECIMAL(38,12); summarising call and premium; NULL when either is unknown
-- column saved_tokens_per_request: BIGINT; before less after; 0 or less when nothing is saved; NULL when unknown
-- column saved_per_request_usd: DECIMAL(38,12); these tokens at the price of reading from the cache, at the request after
-- column requests_after: BIGINT; requests of kind main with usage after it, until the next compaction
-- column net_usd: DECIMAL(38,12); saved by all of these requests less the total; NULL when unknown
-- column is_paid_back: BOOLEAN; whether that is 0 or more
-- column before_session_label: VARCHAR; the session which the last request before it counts for
-- column basis: VARCHAR; of total and net: computed, or estimated where the summarising call is; NULL without a total
-- caveat: An estimated summarising call reads the whole context from the cache and writes the summary, nothing else.
-- references: docs/compaction.md#method; cost, premium and saving of a compaction
with cost_part as (
  select
    turn_id, session_label, project, origin, client_version, compacted_at, trigger, model, is_mid_task,
    tokens_before, tokens_after, duration_ms, summary_tokens, requests_after, before_session_label,
    after_cache_read_price_usd as read_price_usd,
    summariser_cost_usd,
    cast(
      cast(tokens_before as decimal(19, 0)) * before_cache_read_price_usd
      + cast(summary_tokens as decimal(19, 0)) * before_output_price_usd
      as decimal(38, 12)
    ) as estimated_cost_usd,
    case
      when coalesce(after_cache_write_5m_tokens, after_cache_write_1h_tokens) is not null
        then coalesce(after_cache_write_5m_tokens, 0) + coalesce(after_cache_write_1h_tokens, 0)
    end as rebuild_tokens,
    cast(
      case
        when after_cache_write_5m_tokens > 0
          then cast(after_cache_write_5m_tokens as decimal(19, 0)) * after_cache_write_5m_price_usd
        else 0
      end
      + case
        when after_cache_write_1h_tokens > 0
          then cast(after_cache_write_1h_tokens as decimal(19, 0)) * after_cache_write_1h_price_usd
        else 0
      end
      as decimal(38, 12)
    ) as written_usd
  from v_counted_compactions
),
compaction_cost as (
  select
    *,
    coalesce(summariser_cost_usd, estimated_cost_usd) as summarise_cost_usd,
    case
      when summariser_cost_usd is not null then 'computed' when estimated_cost_usd is not null then 'estimated'
    end as summarise_basis,
    case when rebuild_tokens is not null then written_usd end as rebuild_cost_usd,
    cast(
      case
        when rebuild_tokens > 0 then written_usd - cast(rebuild_tokens as decimal(19, 0)) * read_price_usd
        when rebuild_tokens = 0 then 0
      end
      as decimal(38, 12)
    ) as rebuild_premium_usd,
    tokens_before - tokens_after as saved_tokens_per_request
  from cost_part
),
compaction_total as (
  select
    *,
    cast(summarise_cost_usd + rebuild_premium_usd as decimal(38, 12)) as total_usd,
    cast(cast(saved_tokens_per_request * requests_after as decimal(19, 0)) * read_price_usd as decimal(38, 12))
      as saved_usd
  from compaction_cost
)
select
  turn_id, session_label, project, origin, client_version, compacted_at, trigger, model, is_mid_task,
  tokens_before,
  tokens_after,
  1 - cast(tokens_after as double) / nullif(cast(tokens_before as double), 0) as reduction,
  duration_ms,
  summary_tokens,
  summarise_cost_usd,
  summarise_basis,
  rebuild_tokens,
  rebuild_cost_usd,
  rebuild_premium_usd,
  total_usd,
  saved_tokens_per_request,
  cast(cast(saved_tokens_per_request as decimal(19, 0)) * read_price_usd as decimal(38, 12)) as saved_per_request_usd,
  requests_after,
  cast(saved_usd - total_usd as decimal(38, 12)) as net_usd,
  saved_usd >= total_usd as is_paid_back,
  before_session_label,
  case when total_usd is not null then summarise_basis end as basis
from compaction_total
