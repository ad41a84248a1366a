-- title: Recent use, by quarter of an hour
-- question: What was used in each quarter of an hour lately?
-- why: The days, weeks and months of every time zone are made of such quarters: `aix status` adds them up.
-- grain: quarter of an hour
-- column quarter_hour: BIGINT; quarters of an hour since 1970
-- column requests: BIGINT; requests made in it
-- column unpriced_requests: BIGINT; those with tokens that have no price
-- column tokens: BIGINT; tokens of all kinds; NULL when unknown
-- column cost_usd: DECIMAL(38,12); computed at list price from the reported tokens; NULL when no price is known
-- column cost_estimated_usd: DECIMAL(38,12); the same with the output estimated where its count is not final
-- caveat: What a parent only says in total of a subagent whose log is gone is no request, and is left out.
with dated_request as (
  select r.*
  from v_requests_cost r
  left join inferred_values i
    on i.table_name = 'requests' and i.row_key = r.request_id and i.column_name = 'requested_at' and i.basis = 'undated'
  where i.row_key is null
),
last_import as (
  -- A clock that went wrong must not use up the days: nothing later than the day after the last import counts.
  select max(coalesce(finished_at, started_at)) + 86400000 as ends_at from import_runs
),
active_day as (
  select distinct cast(floor(r.requested_at / 86400000) as bigint) as number
  from dated_request r
  cross join last_import t
  where r.requested_at <= coalesce(t.ends_at, r.requested_at)
),
recent_day as (
  select number from active_day order by number desc limit 62
),
first_recent_day as (
  select min(number) * 86400000 as began_at from recent_day
)
select
  cast(floor(r.requested_at / 900000) as bigint) as quarter_hour,
  count(*) as requests,
  count(case when r.has_usage and r.cost_usd is null then 1 end) as unpriced_requests,
  cast(sum(case when r.has_usage then coalesce(r.context_tokens, 0) + coalesce(r.output_tokens, 0) end) as bigint)
    as tokens,
  cast(sum(r.cost_usd) as decimal(38, 12)) as cost_usd,
  cast(sum(r.cost_estimated_usd) as decimal(38, 12)) as cost_estimated_usd
from dated_request r
join first_recent_day b on r.requested_at >= b.began_at
group by quarter_hour
order by quarter_hour
