-- title: Spirals of compactions
-- question: Where did compactions follow soon on each other?
-- why: A context that is full again at once pays for each compaction and gets nothing done.
-- grain: run of compactions of one session
-- params: filters
-- param n: integer = 3; compactions that make a spiral, at least
-- param minutes: number = 10; minutes from one to the next, at most
-- column session_label: VARCHAR; the session
-- column project: VARCHAR; the project of its first compaction
-- column client_version: VARCHAR; version of the tool at the first compaction
-- column started_at: BIGINT; the first compaction, in Unix ms
-- column ended_at: BIGINT; the last compaction, in Unix ms
-- column compactions: BIGINT; compactions of the run
-- column minutes: DOUBLE; from the first to the last
-- column first_tokens_before: BIGINT; whole context before the first
-- column last_tokens_before: BIGINT; whole context before the last
-- column least_tokens_after: BIGINT; smallest whole context after one of them; NULL when none is known
-- column most_tokens_after: BIGINT; largest whole context after one of them
-- column requests: BIGINT; requests of kind main with usage after each of them, until the next or the end
-- column cost_usd: DECIMAL(38,12); what they cost, as in cost; NULL when of none it is known
-- column uncosted_compactions: BIGINT; compactions whose cost is unknown and not in that sum
-- column basis: VARCHAR; of the cost: computed, or estimated where a summarising call is; NULL without a cost
-- shown: session_label, started_at, compactions, minutes, cost_usd, requests, first_tokens_before, last_tokens_before, project
-- empty: No session was compacted again and again.
-- next: `aix compactions SESSION` lists the compactions of one session
-- caveat: A time to the next is that between two compactions that count for one session, on whatever branch.
with spaced_compaction as (
  select
    *,
    case
      when compacted_at - lag(compacted_at) over (partition by session_label order by compacted_at, turn_id)
        <= coalesce(getvariable('minutes'), 10) * 60000
        then 0
      else 1
    end as is_first
  from v_compaction_costs
),
numbered_compaction as (
  select
    *,
    sum(is_first) over (
      partition by session_label order by compacted_at, turn_id rows unbounded preceding
    ) as run
  from spaced_compaction
),
placed_compaction as (
  select
    *,
    row_number() over (partition by session_label, run order by compacted_at, turn_id) as place,
    count(*) over (partition by session_label, run) as compactions
  from numbered_compaction
)
select
  session_label,
  max(case when place = 1 then project end) as project,
  max(case when place = 1 then client_version end) as client_version,
  min(compacted_at) as started_at,
  max(compacted_at) as ended_at,
  count(*) as compactions,
  cast(max(compacted_at) - min(compacted_at) as double) / 60000 as minutes,
  max(case when place = 1 then tokens_before end) as first_tokens_before,
  max(case when place = compactions then tokens_before end) as last_tokens_before,
  min(tokens_after) as least_tokens_after,
  max(tokens_after) as most_tokens_after,
  cast(sum(requests_after) as bigint) as requests,
  sum(total_usd) as cost_usd,
  count(*) - count(total_usd) as uncosted_compactions,
  max(basis) as basis
from placed_compaction
where compactions >= coalesce(getvariable('n'), 3)
group by session_label, run
order by started_at, session_label
