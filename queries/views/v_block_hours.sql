-- title: The five-hour block of each hour with requests
-- question: To which block of 5 hours does an hour belong?
-- why: Some plans limit use by blocks of 5 hours that begin with the first request.
-- grain: hour with requests
-- params: filters
-- column hour: BIGINT; hours since 1970
-- column block_started_at: BIGINT; when its block began: the full hour of the block's first request, in Unix ms
-- caveat: As ccusage counts them, a block begins at the full hour (UTC) of the first request after the block before.
-- caveat: Filters come first: with a filter, blocks are those of the requests that are left.
-- caveat: Hours that no calendar has, and times that are only those of a file, are left out.
-- references: docs/economics.md#the-other-figures; a block

-- Blocks begin at full hours, so no finer step is needed.
with recursive active_hour as (
  select distinct cast(floor(quarter_hour / 4) as bigint) as hour
  from v_counted_requests
  where quarter_hour between -69039552 and 281558015
),
-- After 5 hours without a request a block begins in any case, so that each such stretch is walked by itself.
hour_after_pause as (
  select hour, case when hour - lag(hour) over (order by hour) < 5 then 0 else 1 end as is_after_pause from active_hour
),
-- Hours by the number of their stretch.
stretch_hour as (
  select hour, is_after_pause, sum(is_after_pause) over (order by hour rows unbounded preceding) as number
  from hour_after_pause
),
-- The hour at which the next block would begin if one began in this hour.
possible_block as (
  select
    hour,
    is_after_pause,
    min(hour) over (partition by number order by hour range between 5 following and unbounded following) as next_hour
  from stretch_hour
),
-- Blocks that really begin, each found from the one before it.
block as (
  select hour, next_hour from possible_block where is_after_pause = 1
  union all
  select n.hour, n.next_hour
  from block b
  join possible_block n on n.hour = b.next_hour
)
-- An hour belongs to the last block that has begun: every other hour of a block lies before the next begins.
select a.hour, max(b.hour) over (order by a.hour rows unbounded preceding) * 3600000 as block_started_at
from active_hour a
left join block b on b.hour = a.hour
