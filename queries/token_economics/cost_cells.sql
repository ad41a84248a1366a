-- title: Cost by day, project, model and origin
-- question: What did each mix of day, project and model cost?
-- why: Sums over these rows answer questions about any of the four, without the ledger at hand: `aix report` filters them.
-- grain: day, project, model and origin
-- params: filters
-- param timezone: text = UTC; the time zone whose days are meant
-- column day: DATE; local day; NULL where the log has no time, or one that no calendar has
-- column project: VARCHAR; the project; NULL when unknown
-- column model: VARCHAR; the model the request named; NULL when unknown
-- column origin: VARCHAR; the tool whose logs were imported
-- column requests: BIGINT; requests
-- column total_tokens: BIGINT; the tokens of the four kinds below together; NULL when unknown
-- column input_tokens: BIGINT; uncached input
-- column output_tokens: BIGINT; output as reported
-- column cache_read_tokens: BIGINT; input read from the cache
-- column cache_write_tokens: BIGINT; input written to the cache
-- column cached_context_tokens: BIGINT; whole input of the requests that say what the cache did
-- column cost_usd: DECIMAL(38,12); list price of the priced requests; NULL when none is priced
-- column cost_estimated_usd: DECIMAL(38,12); the same with the likely output where the report is not final
-- column without_cache_usd: DECIMAL(38,12); cost of the input of priced requests at the price of uncached input
-- column saved_usd: DECIMAL(38,12); what the cache saved of that
-- column unpriced_requests: BIGINT; requests with tokens that have no price
-- shown: day, project, model, cost_usd, requests, total_tokens, saved_usd, origin
-- empty: No requests yet.
-- next: `aix cost --by day,model` groups by two of them
-- caveat: Turns and sessions are left out: one of several days or models would count for each of them.
-- references: docs/economics.md#the-other-figures; the money that caching saved
with counted_request as (
  select
    r.*,
    case when r.cost_usd is not null and r.input_price_usd is not null
      then cast(cast(r.context_tokens as decimal(19, 0)) * r.input_price_usd as decimal(38, 12))
    end as without_cache_usd,
    case when r.cost_usd is not null and r.input_price_usd is not null
      then r.input_cost_usd + r.cache_read_cost_usd + r.cache_write_5m_cost_usd + r.cache_write_1h_cost_usd
    end as paid_usd
  from v_counted_requests r
)
select
  d.day,
  r.project,
  r.model,
  r.origin,
  count(*) as requests,
  cast(sum(
    case when coalesce(r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens) is not null
      then coalesce(r.input_tokens, 0) + coalesce(r.output_tokens, 0)
        + coalesce(r.cache_read_tokens, 0) + coalesce(r.cache_write_tokens, 0)
    end
  ) as bigint) as total_tokens,
  cast(sum(r.input_tokens) as bigint) as input_tokens,
  cast(sum(r.output_tokens) as bigint) as output_tokens,
  cast(sum(r.cache_read_tokens) as bigint) as cache_read_tokens,
  cast(sum(r.cache_write_tokens) as bigint) as cache_write_tokens,
  cast(sum(
    case when r.cache_read_tokens is not null or r.cache_write_tokens is not null then r.context_tokens end
  ) as bigint) as cached_context_tokens,
  sum(r.cost_usd) as cost_usd,
  sum(r.cost_estimated_usd) as cost_estimated_usd,
  sum(r.without_cache_usd) as without_cache_usd,
  sum(r.without_cache_usd) - sum(r.paid_usd) as saved_usd,
  count(case when r.is_unpriced then 1 end) as unpriced_requests
from counted_request r
left join v_local_days d on d.quarter_hour = r.quarter_hour
group by d.day, r.project, r.model, r.origin
order by d.day nulls first, r.project nulls first, r.model nulls first, r.origin nulls first
