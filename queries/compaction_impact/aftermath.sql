-- title: Aftermath
-- question: Did work go worse after a compaction than before?
-- why: A compaction that is followed by failures and a long search cost more than its tokens.
-- grain: compaction
-- params: filters
-- param k: integer = 10; turns on each side that are looked at
-- column compaction_turn_id: VARCHAR; the compaction
-- column session_label: VARCHAR; the session it counts for
-- column compacted_at: BIGINT; when, in Unix ms
-- column trigger: VARCHAR; why: context_limit, manual, periodic; NULL when the log does not say
-- column is_mid_task: BOOLEAN; whether it cut a turn: the last turn before and the first after are then one piece of work
-- column turns_before: BIGINT; the k turns before, or as many as there are since the compaction before
-- column turns_after: BIGINT; the k turns after, or as many as there are until the next compaction
-- column failed_turns_before: BIGINT; those before that failed and were not interrupted
-- column failed_turns_after: BIGINT; those after that failed and were not interrupted
-- column failure_rate_before: DOUBLE; failed turns per turn before
-- column failure_rate_after: DOUBLE; failed turns per turn after
-- column failure_rate_change: DOUBLE; after less before; NULL when a side has no turns
-- column interrupts_before: BIGINT; turns before that the user or a hook stopped
-- column interrupts_after: BIGINT; turns after that the user or a hook stopped
-- column interrupt_rate_change: DOUBLE; interrupts per turn, after less before
-- column calls_before: BIGINT; tool calls before
-- column calls_after: BIGINT; tool calls after
-- column failed_calls_before: BIGINT; those before that failed and were not denied
-- column failed_calls_after: BIGINT; those after that failed and were not denied
-- column call_failure_rate_before: DOUBLE; failed calls per call before; NULL without calls
-- column call_failure_rate_after: DOUBLE; failed calls per call after; NULL without calls
-- column call_failure_rate_change: DOUBLE; after less before
-- column denials_before: BIGINT; calls before that were denied
-- column denials_after: BIGINT; calls after that were denied
-- column denial_rate_change: DOUBLE; denials per call, after less before
-- column requests_per_turn_before: DOUBLE; requests of kind main per turn before
-- column requests_per_turn_after: DOUBLE; requests of kind main per turn after
-- column requests_per_turn_change: DOUBLE; after less before
-- column cost_before_usd: DECIMAL(38,12); list price of the turns before, computed; NULL when a request has no price
-- column cost_after_usd: DECIMAL(38,12); list price of the turns after, computed; NULL when a request has no price
-- column cost_per_turn_before: DOUBLE; US dollars per turn before
-- column cost_per_turn_after: DOUBLE; US dollars per turn after
-- column cost_per_turn_change: DOUBLE; after less before
-- column minutes_to_first_edit: DOUBLE; to the first call after it that wrote a file; NULL without one, or when the clock went back
-- shown: compaction_turn_id, compacted_at, failure_rate_change, call_failure_rate_change, cost_per_turn_change, requests_per_turn_change, interrupt_rate_change, minutes_to_first_edit, session_label
-- empty: No compaction yet.
-- next: `aix compactions TURN` shows one compaction in detail
-- caveat: Counts and costs are computed from what the log reports.
-- caveat: The first edit is looked for in all turns until the next compaction, not in k of them.
-- caveat: An edit by a command, such as sed, or by a subagent is not seen.
-- caveat: A side of few turns says little: look at the numbers of turns, and at many compactions together.
-- caveat: Cost leaves out the compaction itself; the cache that is rebuilt is in the cost after it.
-- references: docs/compaction.md#method; the rates before and after
with turn_near_compaction as (
  select
    o.*,
    o.distance < 0 and o.distance >= -coalesce(getvariable('k'), 10) as is_before,
    o.distance > 0 and o.distance <= coalesce(getvariable('k'), 10) as is_after
  from v_compaction_outcomes o
),
compaction_counts as (
  select
    compaction_turn_id,
    count(case when is_before then 1 end) as turns_before,
    count(case when is_after then 1 end) as turns_after,
    count(case when is_before and is_failed then 1 end) as failed_turns_before,
    count(case when is_after and is_failed then 1 end) as failed_turns_after,
    count(case when is_before and is_interrupted then 1 end) as interrupts_before,
    count(case when is_after and is_interrupted then 1 end) as interrupts_after,
    cast(sum(case when is_before then calls end) as bigint) as calls_before,
    cast(sum(case when is_after then calls end) as bigint) as calls_after,
    cast(sum(case when is_before then failed_calls end) as bigint) as failed_calls_before,
    cast(sum(case when is_after then failed_calls end) as bigint) as failed_calls_after,
    cast(sum(case when is_before then denied_calls end) as bigint) as denials_before,
    cast(sum(case when is_after then denied_calls end) as bigint) as denials_after,
    sum(case when is_before then requests end) as requests_before,
    sum(case when is_after then requests end) as requests_after,
    sum(case when is_before then unpriced_requests end) as unpriced_before,
    sum(case when is_after then unpriced_requests end) as unpriced_after,
    sum(case when is_before then cost_usd end) as priced_before_usd,
    sum(case when is_after then cost_usd end) as priced_after_usd,
    min(case when distance > 0 then first_write_at end) as first_write_at
  from turn_near_compaction
  group by compaction_turn_id
),
compaction_rates as (
  select
    c.turn_id as compaction_turn_id, c.session_label, c.compacted_at, c.trigger, c.is_mid_task,
    n.first_write_at,
    coalesce(n.turns_before, 0) as turns_before,
    coalesce(n.turns_after, 0) as turns_after,
    case when n.turns_before > 0 then n.failed_turns_before end as failed_turns_before,
    case when n.turns_after > 0 then n.failed_turns_after end as failed_turns_after,
    case when n.turns_before > 0 then n.interrupts_before end as interrupts_before,
    case when n.turns_after > 0 then n.interrupts_after end as interrupts_after,
    n.calls_before,
    n.calls_after,
    n.failed_calls_before,
    n.failed_calls_after,
    n.denials_before,
    n.denials_after,
    case when n.unpriced_before = 0 then n.priced_before_usd end as cost_before_usd,
    case when n.unpriced_after = 0 then n.priced_after_usd end as cost_after_usd,
    cast(n.failed_turns_before as double) / nullif(cast(n.turns_before as double), 0) as failure_rate_before,
    cast(n.failed_turns_after as double) / nullif(cast(n.turns_after as double), 0) as failure_rate_after,
    cast(n.interrupts_before as double) / nullif(cast(n.turns_before as double), 0) as interrupt_rate_before,
    cast(n.interrupts_after as double) / nullif(cast(n.turns_after as double), 0) as interrupt_rate_after,
    cast(n.denials_before as double) / nullif(cast(n.calls_before as double), 0) as denial_rate_before,
    cast(n.denials_after as double) / nullif(cast(n.calls_after as double), 0) as denial_rate_after,
    cast(n.failed_calls_before as double) / nullif(cast(n.calls_before as double), 0) as call_failure_rate_before,
    cast(n.failed_calls_after as double) / nullif(cast(n.calls_after as double), 0) as call_failure_rate_after,
    cast(n.requests_before as double) / nullif(cast(n.turns_before as double), 0) as requests_per_turn_before,
    cast(n.requests_after as double) / nullif(cast(n.turns_after as double), 0) as requests_per_turn_after,
    cast(case when n.unpriced_before = 0 then n.priced_before_usd end as double)
      / nullif(cast(n.turns_before as double), 0) as cost_per_turn_before,
    cast(case when n.unpriced_after = 0 then n.priced_after_usd end as double)
      / nullif(cast(n.turns_after as double), 0) as cost_per_turn_after
  from v_counted_compactions c
  left join compaction_counts n on n.compaction_turn_id = c.turn_id
)
select
  compaction_turn_id,
  session_label,
  compacted_at,
  trigger,
  is_mid_task,
  turns_before,
  turns_after,
  failed_turns_before,
  failed_turns_after,
  failure_rate_before,
  failure_rate_after,
  failure_rate_after - failure_rate_before as failure_rate_change,
  interrupts_before,
  interrupts_after,
  interrupt_rate_after - interrupt_rate_before as interrupt_rate_change,
  calls_before,
  calls_after,
  failed_calls_before,
  failed_calls_after,
  call_failure_rate_before,
  call_failure_rate_after,
  call_failure_rate_after - call_failure_rate_before as call_failure_rate_change,
  denials_before,
  denials_after,
  denial_rate_after - denial_rate_before as denial_rate_change,
  requests_per_turn_before,
  requests_per_turn_after,
  requests_per_turn_after - requests_per_turn_before as requests_per_turn_change,
  cost_before_usd,
  cost_after_usd,
  cost_per_turn_before,
  cost_per_turn_after,
  cost_per_turn_after - cost_per_turn_before as cost_per_turn_change,
  case when first_write_at >= compacted_at then cast(first_write_at - compacted_at as double) / 60000 end
    as minutes_to_first_edit
from compaction_rates
order by compacted_at, compaction_turn_id
