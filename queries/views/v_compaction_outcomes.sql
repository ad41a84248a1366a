-- title: What became of each turn around a compaction
-- question: Did the turns before and after a compaction fail, what did they cost, and when did they first write a file?
-- why: Whether work goes on as well as before shows in these turns.
-- grain: compaction and turn
-- column compaction_turn_id: VARCHAR; the compaction
-- column turn_id: VARCHAR; a turn before or after it
-- column distance: BIGINT; -1 is the last turn before it, 1 the first after
-- column is_failed: BOOLEAN; whether the turn failed and was not interrupted
-- column is_interrupted: BOOLEAN; whether the user or a hook stopped it
-- column requests: BIGINT; its requests of kind main
-- column unpriced_requests: BIGINT; requests of any kind with tokens that have no price
-- column cost_usd: DECIMAL(38,12); list price of all its requests; NULL when none has a price
-- column calls: BIGINT; its tool calls
-- column failed_calls: BIGINT; calls that failed and were not denied
-- column denied_calls: BIGINT; calls that were denied
-- column first_write_at: BIGINT; when it began the first call that wrote a file and succeeded, in Unix ms
-- kept: by family with compactions
with turn_near_compaction as (
  select distinct turn_id from v_compaction_turns
),
turn_cost as (
  select
    r.turn_id,
    count(case when r.kind = 'main' then 1 end) as requests,
    count(case when r.is_unpriced then 1 end) as unpriced_requests,
    sum(r.cost_usd) as cost_usd
  from turn_near_compaction a
  join v_requests r on r.turn_id = a.turn_id
  group by r.turn_id
),
turn_calls as (
  select
    c.turn_id,
    count(*) as calls,
    count(case when c.status = 'failed' and not c.is_denied then 1 end) as failed_calls,
    count(case when c.is_denied then 1 end) as denied_calls,
    min(case when d.class = 'write' and c.status = 'completed' then coalesce(t.started_at, c.requested_at) end)
      as first_write_at
  from turn_near_compaction a
  join v_calls c on c.turn_id = a.turn_id
  join tool_calls t on t.id = c.call_id
  left join permission_decisions d on d.call_id = c.call_id
  group by c.turn_id
)
select
  k.compaction_turn_id,
  k.turn_id,
  k.distance,
  t.status = 'failed' and not coalesce(x.is_interrupted, false) as is_failed,
  coalesce(x.is_interrupted, false) as is_interrupted,
  coalesce(s.requests, 0) as requests,
  coalesce(s.unpriced_requests, 0) as unpriced_requests,
  cast(s.cost_usd as decimal(38, 12)) as cost_usd,
  coalesce(c.calls, 0) as calls,
  coalesce(c.failed_calls, 0) as failed_calls,
  coalesce(c.denied_calls, 0) as denied_calls,
  c.first_write_at
from v_compaction_turns k
join turns t on t.id = k.turn_id
left join turn_context x on x.turn_id = k.turn_id
left join turn_cost s on s.turn_id = k.turn_id
left join turn_calls c on c.turn_id = k.turn_id
