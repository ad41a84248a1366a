-- title: API errors and retries
-- question: Where did the model not answer, at what extra cost?
-- why: An error breaks off a turn; the next request sends the whole context again, often after its cache has expired.
-- grain: error
-- param since: timestamp = none; first moment counted
-- param until: timestamp = none; first moment no longer counted
-- param project: text = none; only projects with this text in their path
-- param origin: text = none; only this origin
-- param session: text = none; only what counts for this session
-- param tag: text = none; only turns and sessions with this tag
-- column session_label: VARCHAR; the session the turn counts for
-- column turn_id: VARCHAR; the turn in which the error was reported
-- column message_id: VARCHAR; the message that reports it
-- column failed_at: BIGINT; when, in Unix ms
-- column turn_status: VARCHAR; how far the turn came
-- column requests_before: BIGINT; requests of the turn until then
-- column cost_before_usd: DECIMAL(38,12); list price of those; NULL when none is priced
-- column outcome: VARCHAR; answered, failed_again (an error followed) or given_up (nothing followed in the session)
-- column is_same_turn: BOOLEAN; whether the next try belongs to the same turn; NULL without one
-- column wait_ms: BIGINT; time until the next try was answered or failed; NULL without one
-- column retry_model: VARCHAR; the model that answered; NULL unless answered
-- column retry_context_tokens: BIGINT; whole input of the request that was answered
-- column retry_cache_read_tokens: BIGINT; how much of it the cache still had
-- column cost_usd: DECIMAL(38,12); list price of that request; NULL unless answered and priced
-- column cost_estimated_usd: DECIMAL(38,12); the same with the likely output
-- shown: session_label, failed_at, outcome, cost_usd, wait_ms, turn_id, cost_before_usd, retry_model, requests_before
-- empty: The model always answered.
-- next: `aix show TURN` shows the error
-- caveat: A request that ends in an error has no usage in the logs; what the client tries again unseen is not known.
-- caveat: The next try also does work of its own: its cost is an upper bound of what the error cost.

-- All errors, whatever is asked for: the error after one may be one that is not counted.
with dated_error as (
  select message_id, turn_id, session_label, failed_at, sequence
  from v_api_errors
  where failed_at between -62135596800000 and 253402214400000
),
-- The errors that the filters leave.
counted_error as (
  select e.*
  from dated_error e
  join sessions s on s.label = e.session_label
  left join session_context c on c.label = e.session_label
  left join v_project p on p.turn_id = e.turn_id
  where (getvariable('since') is null or e.failed_at >= getvariable('since'))
    and (getvariable('until') is null or e.failed_at < getvariable('until'))
    and (getvariable('origin') is null or s.origin = getvariable('origin'))
    and (getvariable('session') is null or e.session_label = getvariable('session'))
    and (
      getvariable('project') is null
      or contains(lower(coalesce(p.project, c.project)), lower(getvariable('project')))
    )
    and (
      getvariable('tag') is null
      or e.turn_id in (select entity_id from v_work_tags where entity_type = 'turns' and tag = getvariable('tag'))
      or e.session_label in (select entity_id from v_work_tags where entity_type = 'sessions' and tag = getvariable('tag'))
    )
),
-- All errors of the sessions that have one of these.
session_error as (
  select e.session_label, e.message_id, e.turn_id, e.failed_at, e.sequence
  from (select distinct session_label from counted_error) s
  join dated_error e on e.session_label = s.session_label
),
-- Their requests; a message that is an error is no answer.
session_request as (
  select
    r.session_label, r.turn_id, r.request_id, r.message_id, r.requested_at, r.seq, r.model, r.context_tokens,
    r.cache_read_tokens, r.cost_usd, r.cost_estimated_usd
  from (select distinct session_label from counted_error) s
  join v_requests r on r.session_label = s.session_label
  where r.kind = 'main'
    and r.turn_id is not null
    and r.requested_at between -62135596800000 and 253402214400000
    and (r.message_id is null or r.message_id not in (select message_id from dated_error))
),
-- Errors come before requests of the same moment: what follows an error is the next try.
event as (
  select session_label, failed_at as happened_at, 0 as rank, sequence as place, message_id as id,
    cast(null as varchar) as request_id
  from session_error
  union all
  select session_label, requested_at, 1, seq, request_id, request_id from session_request
),
-- Each error with the next thing that happened in its session.
next_event as (
  select
    id,
    lead(id) over timeline as next_id,
    lead(happened_at) over timeline as next_at,
    lead(request_id) over timeline as next_request_id
  from event
  window timeline as (partition by session_label order by happened_at, rank, place, id)
),
-- The requests of the same turn that had been made by then.
requests_before as (
  select e.message_id, count(*) as requests, sum(r.cost_usd) as cost_usd
  from counted_error e
  join session_request r on r.turn_id = e.turn_id
  where r.requested_at <= e.failed_at
  group by e.message_id
)
select
  e.session_label,
  e.turn_id,
  e.message_id,
  e.failed_at,
  t.status as turn_status,
  coalesce(b.requests, 0) as requests_before,
  b.cost_usd as cost_before_usd,
  case when n.next_id is null then 'given_up' when n.next_request_id is null then 'failed_again' else 'answered' end
    as outcome,
  coalesce(r.turn_id, next_error.turn_id) = e.turn_id as is_same_turn,
  n.next_at - e.failed_at as wait_ms,
  r.model as retry_model,
  r.context_tokens as retry_context_tokens,
  r.cache_read_tokens as retry_cache_read_tokens,
  r.cost_usd,
  r.cost_estimated_usd
from counted_error e
join turns t on t.id = e.turn_id
left join next_event n on n.id = e.message_id
left join session_request r on r.request_id = n.next_request_id
left join dated_error next_error on next_error.message_id = n.next_id
left join requests_before b on b.message_id = e.message_id
order by e.failed_at, e.session_label, e.sequence, e.message_id
