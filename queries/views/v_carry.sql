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
-- column requested_at: BIGINT; when it was made, in Unix ms
-- column later_requests: BIGINT; later counted requests of the session until its next compaction
-- column later_read_usd: DECIMAL(38,12); their prices of one token read from the cache, summed; NULL when none has a price
-- caveat: Requests are put in order by time; an abandoned branch stands in its session where its time puts it.
with stretch as (
  -- A compaction is a turn of its own, and a turn that it cut goes on as another: stretches are made of whole turns.
  select
    t.id as turn_id,
    sum(case when t.turn_type = 'compaction' then 1 else 0 end) over (
      partition by o.session_label
      order by t.started_at, case when t.turn_type = 'compaction' then 0 else 1 end, t.id
      rows unbounded preceding
    ) as number
  from turns t
  join v_turn_owner o on o.turn_id = t.id
)
select
  r.request_id,
  r.message_id,
  r.session_label,
  r.requested_at,
  count(*) over later as later_requests,
  cast(sum(r.cache_read_price_usd) over later as decimal(38, 12)) as later_read_usd
from v_counted_requests r
join stretch s on s.turn_id = r.turn_id
where r.kind = 'main'
window later as (
  partition by r.session_label, s.number
  order by r.requested_at, r.seq, r.request_id
  rows between 1 following and unbounded following
)
