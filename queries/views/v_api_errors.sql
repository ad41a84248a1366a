-- title: Messages that report that the model could not answer
-- question: When did a request fail, in which turn and session?
-- why: What follows an error is a retry, and errors are few among many messages.
-- grain: message
-- column message_id: VARCHAR; the message
-- column turn_id: VARCHAR; its turn
-- column session_label: VARCHAR; the session it counts for; NULL when no session has its turn
-- column failed_at: BIGINT; when it was written, in Unix ms
-- column sequence: BIGINT; its place in the turn
-- column next_request_id: VARCHAR; the next request of kind main in the session: the retry; NULL when there is none
-- kept: by family with message_facts
with error_message as (
  select m.id as message_id, m.turn_id, o.session_label, m.created_at as failed_at, m.sequence
  from message_facts f
  join messages m on m.id = f.message_id
  left join v_turn_owner o on o.turn_id = m.turn_id
  where f.is_error
),
-- Errors come before requests of the same moment: what follows an error is the next try.
event as (
  select session_label, failed_at as happened_at, 0 as is_request, cast(0 as bigint) as seq, message_id as id
  from error_message
  union all
  select r.session_label, r.requested_at, 1, r.seq, r.request_id
  from (select distinct session_label from error_message) e
  join v_requests r on r.session_label = e.session_label
  where r.kind = 'main' and r.turn_id is not null
),
numbered_event as (
  select
    session_label,
    id,
    is_request,
    sum(is_request) over (
      partition by session_label order by happened_at, is_request, seq, id rows unbounded preceding
    ) as requests_until
  from event
)
select e.message_id, e.turn_id, e.session_label, e.failed_at, e.sequence, r.id as next_request_id
from error_message e
left join numbered_event n on n.id = e.message_id and n.is_request = 0
left join numbered_event r
  on r.session_label = n.session_label and r.is_request = 1 and r.requests_until = n.requests_until + 1
