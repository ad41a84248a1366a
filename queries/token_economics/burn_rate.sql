-- title: Burn rate
-- question: How much was spent in each hour?
-- why: Shows the hours in which money and limits run out fastest.
-- grain: hour with requests
-- params: filters
-- param timezone: text = UTC; whose hours and days these are
-- column day: DATE; the local day
-- column hour: BIGINT; the hour of that day, from 0
-- column started_at: BIGINT; when the hour began, in Unix ms
-- column requests: BIGINT; requests
-- column sessions: BIGINT; sessions that made them
-- column context_tokens: BIGINT; whole input; NULL when unknown
-- column output_tokens: BIGINT; output as reported; NULL when unknown
-- column cost_usd: DECIMAL(38,12); list price; NULL when nothing is priced
-- column cost_estimated_usd: DECIMAL(38,12); the same with the likely output
-- column unpriced_requests: BIGINT; requests with tokens that have no price
-- column final_output_share: DOUBLE; share of the reported output tokens that is the final count; the rest is a lower bound
-- shown: day, hour, cost_usd, requests, sessions, output_tokens, context_tokens
-- empty: No requests yet.
-- next: `aix query blocks` adds the hours up to blocks of five
-- caveat: When clocks are put back, the hour that comes twice has two rows, which started_at tells apart.
with dated_request as (
  select * from v_counted_requests where requested_at between -62135596800000 and 253402214400000
),
local_quarter as (
  select
    quarter_hour,
    epoch_ms(quarter_hour * 900000) at time zone 'UTC' at time zone coalesce(getvariable('timezone'), 'UTC') as local_at
  from (select distinct quarter_hour from dated_request) q
),
local_hour as (
  select
    quarter_hour,
    cast(local_at as date) as day,
    cast(extract(hour from local_at) as bigint) as hour,
    quarter_hour * 900000 - cast(extract(minute from local_at) as bigint) * 60000 as started_at
  from local_quarter
)
select
  h.day,
  h.hour,
  h.started_at,
  count(*) as requests,
  count(distinct r.session_label) as sessions,
  cast(sum(r.context_tokens) as bigint) as context_tokens,
  cast(sum(r.output_tokens) as bigint) as output_tokens,
  sum(r.cost_usd) as cost_usd,
  sum(r.cost_estimated_usd) as cost_estimated_usd,
  count(case when r.is_unpriced then 1 end) as unpriced_requests,
  cast(coalesce(sum(case when r.is_usage_final then r.output_tokens end), 0) as double)
    / nullif(cast(sum(r.output_tokens) as double), 0) as final_output_share
from dated_request r
join local_hour h on h.quarter_hour = r.quarter_hour
group by h.day, h.hour, h.started_at
order by h.started_at
