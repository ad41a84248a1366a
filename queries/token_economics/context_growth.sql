-- title: Context growth
-- question: How did a session's context fill, turn by turn?
-- why: Shows which turns made the context large, and how near the limit it came.
-- grain: turn
-- params: filters
-- column session_label: VARCHAR; the session the turn counts for
-- column position: BIGINT; place of the turn on its way from the root, from 1
-- column turn_id: VARCHAR; the turn
-- column started_at: BIGINT; when the turn began, in Unix ms
-- column requests: BIGINT; its requests with known context
-- column context_tokens: BIGINT; whole input of its last request
-- column delta_tokens: BIGINT; change since the last request of the turn before; NULL where that has none
-- column peak_tokens: BIGINT; largest whole input of its requests
-- column context_token_limit: BIGINT; size of the context window, where the source says it
-- column share_of_limit: DOUBLE; context at the end of the turn as a share of the limit
-- column follows_compaction: BOOLEAN; whether the turn before is a compaction
-- shown: session_label, started_at, context_tokens, delta_tokens, turn_id, requests, follows_compaction, peak_tokens
-- empty: No turn reports the size of its context.
-- next: --session SESSION shows one session; `aix context TURN` shows what filled it
-- caveat: Few sources say how large the window is; where none does, limit and share are NULL.
-- caveat: After a compaction the change is counted from the last request before it, and so negative.
with turn_end as (
  select
    turn_id,
    count(*) as requests,
    max(context_tokens) as peak_tokens,
    arg_max(context_tokens, coalesce(seq, 0)) as context_tokens
  from requests
  where kind = 'main' and turn_id is not null and context_tokens between 0 and 1000000000000
  group by turn_id
),
counted_turn as (
  select turn_id, min(session_label) as session_label
  from v_counted_requests
  where turn_id is not null
  group by turn_id
)
select
  k.session_label,
  h.depth as position,
  k.turn_id,
  t.started_at,
  e.requests,
  e.context_tokens,
  e.context_tokens - b.context_tokens as delta_tokens,
  e.peak_tokens,
  c.context_token_limit,
  cast(e.context_tokens as double) / nullif(cast(c.context_token_limit as double), 0) as share_of_limit,
  coalesce(p.turn_type = 'compaction', false) as follows_compaction
from counted_turn k
join turn_end e on e.turn_id = k.turn_id
join turns t on t.id = k.turn_id
join threads h on h.turn_id = k.turn_id
left join session_context c on c.label = k.session_label
left join turns p on p.id = t.parent_turn_id
left join turn_end b on b.turn_id = case when p.turn_type = 'compaction' then p.parent_turn_id else p.id end
order by k.session_label, position, t.started_at, k.turn_id
