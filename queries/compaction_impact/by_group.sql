-- title: Compactions by group
-- question: How do compactions differ by model or project?
-- why: One compaction is an anecdote; a median with its spread and number of cases shows what a change does.
-- grain: group
-- params: filters
-- param timezone: text = UTC; the time zone whose months are meant
-- param by: text = trigger; what makes a group, one of trigger, model, project, client_version, month, origin
-- column group_name: VARCHAR; the group; NULL where it is unknown
-- column compactions: BIGINT; number of cases
-- column tokens_before: BIGINT; median of the whole context before
-- column p10_tokens_before: BIGINT; one in ten is at most this
-- column p90_tokens_before: BIGINT; nine in ten are at most this
-- column tokens_after: BIGINT; median of the whole context after
-- column p10_tokens_after: BIGINT; one in ten is at most this
-- column p90_tokens_after: BIGINT; nine in ten are at most this
-- column reduction: DOUBLE; median of 1 - after / before
-- column p10_reduction: DOUBLE; one in ten is at most this
-- column p90_reduction: DOUBLE; nine in ten are at most this
-- column costed_compactions: BIGINT; cases whose cost is known
-- column cost_usd: DECIMAL(38,12); median of the cost, as in cost
-- column p10_cost_usd: DECIMAL(38,12); one in ten is at most this
-- column p90_cost_usd: DECIMAL(38,12); nine in ten are at most this
-- column net_usd: DECIMAL(38,12); median of what it saved less its cost, as in break_even
-- column p10_net_usd: DECIMAL(38,12); one in ten is at most this
-- column p90_net_usd: DECIMAL(38,12); nine in ten are at most this
-- column paid_back_share: DOUBLE; share that saved what it cost, of those where that is known
-- column basis: VARCHAR; of costs: computed, estimated where all summarising calls are, or mixed; NULL without any
-- column requests_after: BIGINT; median of the requests that followed
-- column p10_requests_after: BIGINT; one in ten is at most this
-- column p90_requests_after: BIGINT; nine in ten are at most this
-- column duration_ms: BIGINT; median of how long it took
-- column p10_duration_ms: BIGINT; one in ten is at most this
-- column p90_duration_ms: BIGINT; nine in ten are at most this
-- column mid_task_share: DOUBLE; share that cut a turn
-- shown: group_name, compactions, net_usd, paid_back_share, cost_usd, tokens_before, tokens_after, reduction, requests_after, mid_task_share, duration_ms
-- empty: No compaction yet.
-- next: --param by=model or by=project groups otherwise
-- caveat: Medians and spreads are over the cases where a figure is known; each is a value that occurs.
-- caveat: With few cases p10 and p90 are the smallest and the largest.
with grouped_compaction as (
  select
    *,
    case coalesce(getvariable('by'), 'trigger')
      when 'trigger' then trigger
      when 'model' then model
      when 'project' then project
      when 'client_version' then client_version
      when 'origin' then origin
      when 'month'
        then case
          when compacted_at between -62135596800000 and 253402214400000
            then left(
              cast(
                cast(
                  epoch_ms(compacted_at) at time zone 'UTC' at time zone coalesce(getvariable('timezone'), 'UTC')
                  as date
                ) as varchar
              ),
              7
            )
        end
    end as group_name
  from v_compaction_costs
),
-- One column for all figures, so that one window ranks them; money and tokens stay exact in it.
figure as (
  select group_name, 'tokens_before' as name, cast(tokens_before as decimal(38, 12)) as amount from grouped_compaction
  union all
  select group_name, 'tokens_after', cast(tokens_after as decimal(38, 12)) from grouped_compaction
  union all
  select group_name, 'reduction', cast(reduction as decimal(38, 12)) from grouped_compaction
  union all
  select group_name, 'cost_usd', total_usd from grouped_compaction
  union all
  select group_name, 'net_usd', net_usd from grouped_compaction
  union all
  select group_name, 'requests_after', cast(requests_after as decimal(38, 12)) from grouped_compaction
  union all
  select group_name, 'duration_ms', cast(duration_ms as decimal(38, 12)) from grouped_compaction
),
ranked_figure as (
  select
    group_name,
    name,
    amount,
    row_number() over (partition by group_name, name order by amount) as place,
    count(*) over (partition by group_name, name) as total
  from figure
  where amount is not null
),
percentile as (
  select
    group_name,
    name,
    min(case when place >= 0.1 * total then amount end) as p10,
    min(case when place >= 0.5 * total then amount end) as p50,
    min(case when place >= 0.9 * total then amount end) as p90
  from ranked_figure
  group by group_name, name
),
group_percentiles as (
  select
    group_name,
    max(case when name = 'tokens_before' then p10 end) as p10_tokens_before,
    max(case when name = 'tokens_before' then p50 end) as tokens_before,
    max(case when name = 'tokens_before' then p90 end) as p90_tokens_before,
    max(case when name = 'tokens_after' then p10 end) as p10_tokens_after,
    max(case when name = 'tokens_after' then p50 end) as tokens_after,
    max(case when name = 'tokens_after' then p90 end) as p90_tokens_after,
    max(case when name = 'reduction' then p10 end) as p10_reduction,
    max(case when name = 'reduction' then p50 end) as reduction,
    max(case when name = 'reduction' then p90 end) as p90_reduction,
    max(case when name = 'cost_usd' then p10 end) as p10_cost_usd,
    max(case when name = 'cost_usd' then p50 end) as cost_usd,
    max(case when name = 'cost_usd' then p90 end) as p90_cost_usd,
    max(case when name = 'net_usd' then p10 end) as p10_net_usd,
    max(case when name = 'net_usd' then p50 end) as net_usd,
    max(case when name = 'net_usd' then p90 end) as p90_net_usd,
    max(case when name = 'requests_after' then p10 end) as p10_requests_after,
    max(case when name = 'requests_after' then p50 end) as requests_after,
    max(case when name = 'requests_after' then p90 end) as p90_requests_after,
    max(case when name = 'duration_ms' then p10 end) as p10_duration_ms,
    max(case when name = 'duration_ms' then p50 end) as duration_ms,
    max(case when name = 'duration_ms' then p90 end) as p90_duration_ms
  from percentile
  group by group_name
),
group_totals as (
  select
    group_name,
    count(*) as compactions,
    count(total_usd) as costed_compactions,
    cast(count(case when is_paid_back then 1 end) as double) / nullif(count(is_paid_back), 0) as paid_back_share,
    cast(count(case when is_mid_task then 1 end) as double) / nullif(count(is_mid_task), 0) as mid_task_share,
    case when min(basis) < max(basis) then 'mixed' else min(basis) end as basis
  from grouped_compaction
  group by group_name
)
select
  s.group_name,
  s.compactions,
  cast(p.tokens_before as bigint) as tokens_before,
  cast(p.p10_tokens_before as bigint) as p10_tokens_before,
  cast(p.p90_tokens_before as bigint) as p90_tokens_before,
  cast(p.tokens_after as bigint) as tokens_after,
  cast(p.p10_tokens_after as bigint) as p10_tokens_after,
  cast(p.p90_tokens_after as bigint) as p90_tokens_after,
  cast(p.reduction as double) as reduction,
  cast(p.p10_reduction as double) as p10_reduction,
  cast(p.p90_reduction as double) as p90_reduction,
  s.costed_compactions,
  p.cost_usd,
  p.p10_cost_usd,
  p.p90_cost_usd,
  p.net_usd,
  p.p10_net_usd,
  p.p90_net_usd,
  s.paid_back_share,
  s.basis,
  cast(p.requests_after as bigint) as requests_after,
  cast(p.p10_requests_after as bigint) as p10_requests_after,
  cast(p.p90_requests_after as bigint) as p90_requests_after,
  cast(p.duration_ms as bigint) as duration_ms,
  cast(p.p10_duration_ms as bigint) as p10_duration_ms,
  cast(p.p90_duration_ms as bigint) as p90_duration_ms,
  s.mid_task_share
from group_totals s
left join group_percentiles p on p.group_name is not distinct from s.group_name
order by s.compactions desc, s.group_name nulls last
