-- title: Model mix
-- question: Which models were used in each month?
-- why: Shows how work moves between models, and whether the dear ones do the bulk of it.
-- grain: month and model
-- params: filters
-- param timezone: text = UTC; whose hours and days these are
-- column month: DATE; first day of the local month; NULL where the time is no date
-- column model: VARCHAR; the model the request named; NULL when it named none
-- column requests: BIGINT; requests
-- column context_tokens: BIGINT; whole input; NULL when unknown
-- column output_tokens: BIGINT; output as reported; NULL when unknown
-- column cost_usd: DECIMAL(38,12); list price; NULL when nothing is priced
-- column cost_estimated_usd: DECIMAL(38,12); the same with the likely output
-- column unpriced_requests: BIGINT; requests with tokens that have no price
-- column request_share: DOUBLE; share of the month's requests
-- column cost_share: DOUBLE; share of the month's cost
-- column final_output_share: DOUBLE; share of the reported output tokens that is the final count; the rest is a lower bound
-- shown: month, model, cost_usd, cost_share, request_share, requests, output_tokens
-- empty: No requests yet.
-- next: `aix query token_economics/what_if` prices the work at cheaper models
-- caveat: Where final_output_share is below 1, output and cost_usd are a lower bound.
with by_quarter as (
  select
    case when requested_at between -62135596800000 and 253402214400000 then quarter_hour end as quarter_hour,
    model,
    count(*) as requests,
    sum(context_tokens) as context_tokens,
    sum(output_tokens) as output_tokens,
    sum(case when is_usage_final then output_tokens end) as final_output_tokens,
    sum(cost_usd) as cost_usd,
    sum(cost_estimated_usd) as cost_estimated_usd,
    count(case when is_unpriced then 1 end) as unpriced_requests
  from v_counted_requests
  group by 1, 2
),
dated_quarter as (
  select
    *,
    cast(
      epoch_ms(quarter_hour * 900000) at time zone 'UTC' at time zone coalesce(getvariable('timezone'), 'UTC') as date
    ) as day
  from by_quarter
),
by_month as (
  select
    cast(date_trunc('month', day) as date) as month,
    model,
    sum(requests) as requests,
    sum(context_tokens) as context_tokens,
    sum(output_tokens) as output_tokens,
    sum(final_output_tokens) as final_output_tokens,
    sum(cost_usd) as cost_usd,
    sum(cost_estimated_usd) as cost_estimated_usd,
    sum(unpriced_requests) as unpriced_requests
  from dated_quarter
  group by 1, 2
)
select
  month,
  model,
  cast(requests as bigint) as requests,
  cast(context_tokens as bigint) as context_tokens,
  cast(output_tokens as bigint) as output_tokens,
  cost_usd,
  cost_estimated_usd,
  cast(unpriced_requests as bigint) as unpriced_requests,
  cast(requests as double) / cast(sum(requests) over (partition by month) as double) as request_share,
  cast(cost_usd as double) / nullif(cast(sum(cost_usd) over (partition by month) as double), 0) as cost_share,
  cast(coalesce(final_output_tokens, 0) as double) / nullif(cast(output_tokens as double), 0) as final_output_share
from by_month
order by month, model
