-- title: What it costs to carry a token on
-- question: How many later requests sent again what a request had brought into the context, and at which price?
-- why: What once came into the context is paid for with every request until a compaction or the end.
-- grain: request
-- param since: timestamp = none; first moment counted
-- param until: timestamp = none; first moment no longer counted
-- param project: text = none; only projects with this text in their path
-- param origin: text = none; only this origin
-- param model: text = none; only models with this text in their name
-- param session: text = none; only what counts for this session
-- param tag: text = none; only turns and sessions with this tag
-- column request_id: VARCHAR; the request
-- column message_id: VARCHAR; the message it gave
-- column session_label: VARCHAR; the session it counts for
-- column later_requests: BIGINT; later counted requests of the session until its next compaction
-- column later_read_usd: DECIMAL(38,12); their prices of one token read from the cache, summed; NULL when none has a price
-- caveat: Requests are put in order by time; an abandoned branch stands in its session where its time puts it.
with request as (
  select request_id, message_id, session_label, requested_at, seq, cache_read_price_usd
  from v_counted_requests
  where kind = 'main' and turn_id is not null
),
event as (
  select request_id, message_id, session_label, requested_at as happened_at, 1 as rank, seq, cache_read_price_usd
  from request
  union all
  select cast(null as varchar), cast(null as varchar), o.session_label, t.started_at, 0, 0, cast(null as decimal(18, 12))
  from turns t
  join v_turn_owner o on o.turn_id = t.id
  where t.turn_type = 'compaction'
),
stretch as (
  select
    *,
    count(*) filter (where rank = 0)
      over (partition by session_label order by happened_at, rank, seq, request_id rows unbounded preceding) as number
  from event
)
select
  request_id,
  message_id,
  session_label,
  count(*) over later as later_requests,
  cast(sum(cache_read_price_usd) over later as decimal(38, 12)) as later_read_usd
from stretch
where rank = 1
window later as (
  partition by session_label, number
  order by happened_at, seq, request_id
  rows between 1 following and unbounded following
)
