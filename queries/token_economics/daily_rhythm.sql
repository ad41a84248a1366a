-- title: Daily rhythm
-- question: When is the work done, by weekday and hour?
-- why: Shows when limits are under pressure, and when batch work would disturb nobody.
-- grain: weekday and hour
-- params: filters
-- param timezone: text = UTC; whose hours and days these are
-- column weekday: BIGINT; 1 for Monday to 7 for Sunday
-- column hour: BIGINT; hour of the local day, from 0
-- column days: BIGINT; different days with requests in that hour
-- column requests: BIGINT; requests
-- column output_tokens: BIGINT; output as reported; NULL when unknown
-- column cost_usd: DECIMAL(38,12); list price; NULL when nothing is priced
-- column cost_share: DOUBLE; share of all cost
-- column final_output_share: DOUBLE; share of the reported output tokens that is the final count; the rest is a lower bound
-- shown: weekday, hour, requests, cost_usd, cost_share, days, output_tokens
-- empty: No requests yet.
-- next: `aix query burn_rate` lists every hour by date
with by_quarter as (
  select
    quarter_hour,
    count(*) as requests,
    sum(output_tokens) as output_tokens,
    sum(case when is_usage_final then output_tokens end) as final_output_tokens,
    sum(cost_usd) as cost_usd
  from v_counted_requests
  where quarter_hour is not null and requested_at between -62135596800000 and 253402214400000
  group by quarter_hour
),
local_quarter as (
  select
    *,
    epoch_ms(quarter_hour * 900000) at time zone 'UTC' at time zone coalesce(getvariable('timezone'), 'UTC') as local_at
  from by_quarter
),
local_hour as (
  select *, cast(local_at as date) as day, cast(extract(hour from local_at) as bigint) as hour from local_quarter
),
hour_totals as (
  select
    ((date_diff('day', date '1970-01-05', day) % 7) + 7) % 7 + 1 as weekday,
    hour,
    count(distinct day) as days,
    cast(sum(requests) as bigint) as requests,
    cast(sum(output_tokens) as bigint) as output_tokens,
    sum(final_output_tokens) as final_output_tokens,
    sum(cost_usd) as cost_usd
  from local_hour
  group by 1, 2
)
select
  weekday,
  hour,
  days,
  requests,
  output_tokens,
  cost_usd,
  cast(cost_usd as double) / nullif(cast(sum(cost_usd) over () as double), 0) as cost_share,
  cast(coalesce(final_output_tokens, 0) as double) / nullif(cast(output_tokens as double), 0) as final_output_share
from hour_totals
order by weekday, hour
