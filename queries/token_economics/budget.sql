-- title: Budget
-- question: How much of a limit was spent in each day or month?
-- why: Warns before the limit is reached, and shows which periods went over it.
-- grain: period with requests
-- params: filters
-- param timezone: text = UTC; whose hours and days these are
-- param limit_usd: number = none; the limit of a period, in dollars
-- param period: text = month; what a limit is for: one of day, week, month
-- param now: timestamp = none; the moment up to which the running period has come; none is that of the last request
-- column period_start: DATE; first day of the period
-- column period_end: DATE; first day after it
-- column is_running: BOOLEAN; whether it is the period of that moment
-- column requests: BIGINT; requests
-- column spent_usd: DECIMAL(38,12); list price; NULL when nothing is priced
-- column spent_estimated_usd: DECIMAL(38,12); the same with the likely output
-- column limit_usd: DECIMAL(38,12); the limit; NULL when none is set, or none that is an amount of money
-- column left_usd: DECIMAL(38,12); what is left of it, negative when overspent
-- column share: DOUBLE; spent as a share of the limit
-- column projected_usd: DOUBLE; the running period at its end, at the same pace; NULL for the others
-- column projected_share: DOUBLE; that as a share of the limit
-- column unpriced_requests: BIGINT; requests with tokens that have no price, which are not in the amounts
-- column final_output_share: DOUBLE; share of the reported output tokens that is the final count; the rest is a lower bound
-- shown: period_start, spent_usd, is_running, limit_usd, left_usd, share, projected_usd, projected_share, spent_estimated_usd, requests
-- empty: Nothing was spent yet.
-- next: --param limit_usd=100 compares with a limit, --param period=week counts weeks
-- caveat: Spending is at list price; a subscription is not billed that way.

-- The parameters; a limit that is no amount of money is ignored.
with budget_limit as (
  select
    case when try_cast(getvariable('limit_usd') as decimal(38, 12)) > 0
      then try_cast(getvariable('limit_usd') as decimal(38, 12)) end as limit_usd,
    coalesce(getvariable('period'), 'month') as period
),
-- Requests by quarter of an hour, of which the days of all time zones are made.
by_quarter as (
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
-- The moment that counts as now, in the time zone.
present_moment as (
  select
    epoch_ms(coalesce(getvariable('now'), max(quarter_hour) * 900000)) at time zone 'UTC'
      at time zone coalesce(getvariable('timezone'), 'UTC') as local_at
  from by_quarter
),
-- Each quarter with its local day.
dated_quarter as (
  select
    q.*,
    cast(
      epoch_ms(q.quarter_hour * 900000) at time zone 'UTC' at time zone coalesce(getvariable('timezone'), 'UTC') as date
    ) as day
  from by_quarter q
),
-- One row for each day, week or month.
by_period as (
  select
    case l.period
      when 'day' then d.day
      when 'week' then cast(date_trunc('week', d.day) as date)
      else cast(date_trunc('month', d.day) as date)
    end as period_start,
    l.period,
    l.limit_usd,
    sum(d.requests) as requests,
    sum(d.output_tokens) as output_tokens,
    sum(d.final_output_tokens) as final_output_tokens,
    sum(d.cost_usd) as cost_usd,
    sum(d.cost_estimated_usd) as cost_estimated_usd,
    sum(d.unpriced_requests) as unpriced_requests
  from dated_quarter d
  cross join budget_limit l
  group by 1, 2, 3
),
-- The same with its last day.
bounded_period as (
  select
    *,
    case period
      when 'day' then period_start + 1
      when 'week' then period_start + 7
      else cast(period_start + interval 1 month as date)
    end as period_end
  from by_period
),
-- Time is counted in quarters of an hour, the one that has begun included.
period_pace as (
  select
    b.*,
    cast(p.local_at as date) >= b.period_start and cast(p.local_at as date) < b.period_end as is_running,
    date_diff('day', b.period_start, b.period_end) * 96 as quarters,
    date_diff('day', b.period_start, cast(p.local_at as date)) * 96 + cast(extract(hour from p.local_at) as bigint) * 4
      + cast(extract(minute from p.local_at) as bigint) // 15 + 1 as quarters_gone
  from bounded_period b
  cross join present_moment p
),
-- The running period, were it to go on at this pace.
projected_period as (
  select
    *,
    case when is_running then cast(cost_usd as double) * quarters / quarters_gone end as projected_usd
  from period_pace
)
select
  period_start,
  period_end,
  is_running,
  cast(requests as bigint) as requests,
  cost_usd as spent_usd,
  cost_estimated_usd as spent_estimated_usd,
  limit_usd,
  cast(limit_usd - cost_usd as decimal(38, 12)) as left_usd,
  cast(cost_usd as double) / nullif(cast(limit_usd as double), 0) as share,
  projected_usd,
  projected_usd / nullif(cast(limit_usd as double), 0) as projected_share,
  cast(unpriced_requests as bigint) as unpriced_requests,
  cast(coalesce(final_output_tokens, 0) as double) / nullif(cast(output_tokens as double), 0) as final_output_share
from projected_period
order by period_start
