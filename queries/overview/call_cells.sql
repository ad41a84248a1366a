-- title: Calls by day, project, model, origin, tool and outcome
-- question: How did the calls of each tool end, and when?
-- why: Sums over these rows answer questions about any of them, without the ledger at hand: `aix report` filters them.
-- grain: day, project, model, origin, tool_name and outcome
-- params: filters
-- param timezone: text = UTC; the time zone whose days are meant
-- column day: DATE; local day of the request that made the call, else of the call; NULL where no calendar has it
-- column project: VARCHAR; the project; NULL when unknown
-- column model: VARCHAR; the model that made the call; NULL when unknown
-- column origin: VARCHAR; the tool whose logs were imported
-- column tool_name: VARCHAR; the tool that was called
-- column outcome: VARCHAR; what became of the calls, as far as the log tells
-- column calls: BIGINT; calls
-- column repeated_calls: BIGINT; calls that their session had made before with the same parameters
-- column result_tokens: BIGINT; tokens of context that their results took; NULL when unknown
-- column carry_cost_usd: DECIMAL(38,12); what later requests paid to read these results again; NULL without a price
-- shown: day, tool_name, outcome, calls, project, model
-- empty: No calls yet.
-- next: `aix query permission_usage/calls` lists each call
-- caveat: A result is carried until the next compaction or the last request of its session, as in `carry_cost`.
with counted_call as (
  select
    project, model, origin, tool_name, outcome, is_repeat, result_tokens, later_requests, later_read_usd,
    cast(floor(requested_at / 900000) as bigint) as quarter_hour
  from v_counted_calls
),
quarter_day as (
  select
    quarter_hour,
    cast(
      epoch_ms(quarter_hour * 900000) at time zone 'UTC' at time zone coalesce(getvariable('timezone'), 'UTC') as date
    ) as day
  from (select distinct quarter_hour from counted_call where quarter_hour between -69039552 and 281558015) quarter
)
select
  d.day,
  c.project,
  c.model,
  c.origin,
  c.tool_name,
  c.outcome,
  count(*) as calls,
  count(case when c.is_repeat then 1 end) as repeated_calls,
  cast(sum(c.result_tokens) as bigint) as result_tokens,
  sum(case when c.later_requests is not null then cast(c.result_tokens * c.later_read_usd as decimal(38, 12)) end)
    as carry_cost_usd
from counted_call c
left join quarter_day d on d.quarter_hour = c.quarter_hour
group by d.day, c.project, c.model, c.origin, c.tool_name, c.outcome
order by
  d.day nulls first, c.project nulls first, c.model nulls first, c.origin nulls first,
  c.tool_name nulls first, c.outcome nulls first
