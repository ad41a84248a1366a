-- title: Spending trend
-- question: How does spending develop from day to day?
-- why: A moving sum shows the trend that single days hide.
-- grain: local day with requests
-- params: filters
-- param timezone: text = UTC; whose hours and days these are
-- column day: DATE; the local day
-- column requests: BIGINT; requests
-- column output_tokens: BIGINT; output as reported; NULL when unknown
-- column cost_usd: DECIMAL(38,12); list price; NULL when nothing is priced
-- column cost_estimated_usd: DECIMAL(38,12); the same with the likely output
-- column cost_7_days_usd: DECIMAL(38,12); list price of this day and the 6 before
-- column cost_30_days_usd: DECIMAL(38,12); list price of this day and the 29 before
-- column change_share: DOUBLE; the last 7 days against the 7 before those; 0.5 is half as much again
-- column unpriced_requests: BIGINT; requests with tokens that have no price
-- column final_output_share: DOUBLE; share of the reported output tokens that is the final count; the rest is a lower bound
-- shown: day, cost_usd, change_share, cost_7_days_usd, cost_30_days_usd, requests, output_tokens, cost_estimated_usd
-- empty: No requests yet.
-- next: `aix cost --since DAY --until DAY --by session` shows what a day was spent on
-- caveat: Days without requests have no row, but the moving sums pass over them rightly.
-- caveat: The first days' moving sums see fewer days.
with by_quarter as (
  select
    quarter_hour,
    count(*) as requests,
    sum(output_tokens) as output_tokens,
    sum(case when is_usage_final then output_tokens end) as final_output_tokens,
    sum(cost_usd) as cost_usd,
    sum(cost_estimated_usd) as cost_estimated_usd,
    count(case when is_unpriced then 1 end) as unpriced_requests
  from v_counted_requests
  where quarter_hour is not null and requested_at between -62135596800000 and 253402214400000
  group by quarter_hour
),
local_quarter as (
  select
    *,
    cast(
      epoch_ms(quarter_hour * 900000) at time zone 'UTC' at time zone coalesce(getvariable('timezone'), 'UTC') as date
    ) as day
  from by_quarter
),
by_day as (
  select
    day,
    date_diff('day', date '1970-01-01', day) as day_number,
    sum(requests) as requests,
    sum(output_tokens) as output_tokens,
    sum(final_output_tokens) as final_output_tokens,
    sum(cost_usd) as cost_usd,
    sum(cost_estimated_usd) as cost_estimated_usd,
    sum(unpriced_requests) as unpriced_requests
  from local_quarter
  group by day
),
moving_sums as (
  select
    *,
    sum(cost_usd) over (order by day_number range between 6 preceding and current row) as cost_7_days_usd,
    sum(cost_usd) over (order by day_number range between 13 preceding and 7 preceding) as cost_7_days_before_usd,
    sum(cost_usd) over (order by day_number range between 29 preceding and current row) as cost_30_days_usd
  from by_day
)
select
  day,
  cast(requests as bigint) as requests,
  cast(output_tokens as bigint) as output_tokens,
  cost_usd,
  cost_estimated_usd,
  cast(cost_7_days_usd as decimal(38, 12)) as cost_7_days_usd,
  cast(cost_30_days_usd as decimal(38, 12)) as cost_30_days_usd,
  cast(cost_7_days_usd as double) / nullif(cast(cost_7_days_before_usd as double), 0) - 1 as change_share,
  cast(unpriced_requests as bigint) as unpriced_requests,
  cast(coalesce(final_output_tokens, 0) as double) / nullif(cast(output_tokens as double), 0) as final_output_share
from moving_sums
order by day
