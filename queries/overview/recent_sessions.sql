-- title: Recent sessions
-- question: What did the latest 40 sessions cost?
-- why: A status line shows the session that runs: `aix status` takes it from here.
-- grain: session
-- column session_label: VARCHAR; the session
-- column last_request_at: BIGINT; its own last request, in Unix ms
-- column requests: BIGINT; requests that it and its subagents made
-- column unpriced_requests: BIGINT; those with tokens that have no price
-- column tokens: BIGINT; tokens of all kinds; NULL when unknown
-- column cost_usd: DECIMAL(38,12); computed at list price from the reported tokens; NULL when no price is known
-- column cost_estimated_usd: DECIMAL(38,12); the same with the output estimated where its count is not final
-- column context_tokens: BIGINT; whole input of its last request in the conversation; NULL when unknown
-- shown: session_label, cost_usd, last_request_at, context_tokens, requests, tokens
-- empty: No sessions yet.
-- next: `aix show SESSION` shows the conversation
-- caveat: Subagents of subagents count too, down to the tenth level.

-- Requests, with whether their log says when they were made.
with recursive dated_request as (
  select r.*, i.row_key is null as is_dated
  from v_requests r
  left join inferred_values i
    on i.table_name = 'requests' and i.row_key = r.request_id and i.column_name = 'requested_at' and i.basis = 'undated'
),
-- Each session's own requests.
own_use as (
  select
    session_label,
    max(case when is_dated then requested_at end) as last_request_at,
    count(*) as requests,
    count(case when has_usage and cost_usd is null then 1 end) as unpriced_requests,
    sum(case when has_usage then coalesce(context_tokens, 0) + coalesce(output_tokens, 0) end) as tokens,
    sum(cost_usd) as cost_usd,
    sum(cost_estimated_usd) as cost_estimated_usd
  from dated_request
  where session_label is not null
  group by session_label
),
recent_session as (
  select session_label, last_request_at
  from own_use
  where last_request_at is not null
  order by last_request_at desc, session_label
  limit 40
),
-- A session, and the subagents below it.
descent as (
  select session_label, session_label as member_label, 0 as distance from recent_session
  union all
  select d.session_label, s.label, d.distance + 1
  from descent d
  join sessions s on s.parent_session_label = d.member_label
  where s.label <> d.session_label and d.distance < 10
),
member as (
  select distinct session_label, member_label from descent
),
-- The last request of each conversation, by its place from the end.
request_from_the_end as (
  select
    r.session_label,
    r.context_tokens,
    row_number() over (partition by r.session_label order by r.requested_at desc, r.request_id desc) as place
  from dated_request r
  join recent_session s on s.session_label = r.session_label
  where r.kind = 'main' and r.has_usage
)
select
  s.session_label,
  s.last_request_at,
  cast(sum(o.requests) as bigint) as requests,
  cast(sum(o.unpriced_requests) as bigint) as unpriced_requests,
  cast(sum(o.tokens) as bigint) as tokens,
  cast(sum(o.cost_usd) as decimal(38, 12)) as cost_usd,
  cast(sum(o.cost_estimated_usd) as decimal(38, 12)) as cost_estimated_usd,
  cast(max(c.context_tokens) as bigint) as context_tokens
from recent_session s
join member m on m.session_label = s.session_label
join own_use o on o.session_label = m.member_label
left join request_from_the_end c on c.session_label = s.session_label and c.place = 1
group by s.session_label, s.last_request_at
order by s.last_request_at desc, s.session_label
