-- title: The request before each request
-- question: Which request of the same session came before, and what has changed since?
-- why: The cache, the context and the model are compared with those of the request before.
-- grain: request
-- column request_id: VARCHAR; the request
-- column session_label: VARCHAR; the session it counts for
-- column context_tokens: BIGINT; its whole input
-- column cache_read_tokens: BIGINT; what it read from the cache
-- column cache_write_tokens: BIGINT; what it wrote to the cache
-- column before_request_id: VARCHAR; the request before it in that session; NULL for the first
-- column before_requested_at: BIGINT; when that one was made, in Unix ms
-- column before_model: VARCHAR; the model it named
-- column before_turn_id: VARCHAR; the turn it served
-- column before_context_tokens: BIGINT; its whole input
-- column before_output_tokens: BIGINT; its output
-- column before_write_5m_tokens: BIGINT; what it wrote to the cache for 5 minutes
-- column before_write_1h_tokens: BIGINT; what it wrote to the cache for 1 hour
-- column gap_ms: BIGINT; time between the two; NULL where a time is in no calendar
-- caveat: Only requests of kind main with usage are looked at; an abandoned branch stands in its session by time.

-- Requests are put in order by numbers: for long labels that takes half as long again.
with numbered_session as (
  select label, row_number() over (order by label) as number from sessions
),
owner as (
  select o.turn_id, o.session_label, s.number
  from v_turn_owner o
  left join numbered_session s on s.label = o.session_label
),
owned as (
  select
    u.*,
    o.session_label as owner_label,
    case when u.requested_at between -62135596800000 and 253402214400000 then u.requested_at end as dated_at,
    coalesce(o.number, s.number) as session_number,
    case when coalesce(o.number, s.number) is null then coalesce(o.session_label, u.session_label) end
      as unnumbered_label
  from v_requests_usage u
  left join owner o on o.turn_id = u.turn_id
  left join numbered_session s on s.label = case when o.turn_id is null then u.session_label end
  where u.kind = 'main' and u.has_usage
)
select
  r.request_id,
  coalesce(r.owner_label, r.session_label) as session_label,
  r.context_tokens,
  r.cache_read_tokens,
  r.cache_write_tokens,
  lag(r.request_id) over thread as before_request_id,
  lag(r.requested_at) over thread as before_requested_at,
  lag(r.model) over thread as before_model,
  lag(r.turn_id) over thread as before_turn_id,
  lag(r.context_tokens) over thread as before_context_tokens,
  lag(r.output_tokens) over thread as before_output_tokens,
  lag(r.cache_write_5m_tokens) over thread as before_write_5m_tokens,
  lag(r.cache_write_1h_tokens) over thread as before_write_1h_tokens,
  r.dated_at - lag(r.dated_at) over thread as gap_ms
from owned r
window thread as (partition by r.session_number, r.unnumbered_label order by r.requested_at, r.seq, r.request_id)
