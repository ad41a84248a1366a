-- title: Context peaks
-- question: How large did the context of each session become?
-- why: A session pays for its whole context with every request, and loses some of it at each compaction.
-- grain: session
-- params: filters
-- column session_label: VARCHAR; the session
-- column title: VARCHAR; its title, else the task that a subagent was given, else the beginning of its first prompt
-- column turns: BIGINT; turns that count for it
-- column requests: BIGINT; requests with known context
-- column peak_tokens: BIGINT; largest whole input of a request
-- column peak_at: BIGINT; when it was first reached, in Unix ms
-- column turns_until_peak: BIGINT; turns that had begun by then
-- column compactions: BIGINT; compactions among its turns
-- column context_token_limit: BIGINT; size of the context window, where the source says it
-- column share_of_limit: DOUBLE; the peak as a share of the limit
-- shown: session_label, peak_tokens, title, peak_at, compactions, turns, requests
-- empty: No session reports the size of its context.
-- next: `aix query context_growth --session SESSION` shows how it grew
-- caveat: Few sources say how large the window is; where none does, limit and share are NULL.
-- caveat: Turns that it shares with an earlier session count for that one.
with main_request as (
  select session_label, requested_at, context_tokens
  from v_counted_requests
  where kind = 'main' and context_tokens is not null
),
session_peak as (
  select session_label, count(*) as requests, max(context_tokens) as peak_tokens
  from main_request
  group by session_label
),
dated_peak as (
  select s.session_label, s.requests, s.peak_tokens, min(m.requested_at) as peak_at
  from session_peak s
  join main_request m on m.session_label = s.session_label and m.context_tokens = s.peak_tokens
  group by s.session_label, s.requests, s.peak_tokens
),
turn_count as (
  select
    o.session_label,
    count(*) as turns,
    count(case when t.started_at <= p.peak_at then 1 end) as turns_until_peak,
    count(case when t.turn_type = 'compaction' then 1 end) as compactions
  from v_turn_owner o
  join turns t on t.id = o.turn_id
  join dated_peak p on p.session_label = o.session_label
  group by o.session_label
)
select
  p.session_label,
  x.title,
  coalesce(n.turns, 0) as turns,
  p.requests,
  p.peak_tokens,
  p.peak_at,
  coalesce(n.turns_until_peak, 0) as turns_until_peak,
  coalesce(n.compactions, 0) as compactions,
  c.context_token_limit,
  cast(p.peak_tokens as double) / nullif(cast(c.context_token_limit as double), 0) as share_of_limit
from dated_peak p
left join turn_count n on n.session_label = p.session_label
left join session_context c on c.label = p.session_label
left join v_session_titles x on x.session_label = p.session_label
order by p.peak_tokens desc, p.session_label
