-- title: Log of a session
-- question: Which turns led to a head, and what did each cost?
-- why: Shows how a session came to what it knows: where it was compacted, where others part from it, what each step took.
-- grain: session and turn
-- param session: text = none; only this session
-- param turn: text = none; only threads through this turn, up to it
-- param since: timestamp = none; turns that began from this moment on
-- param until: timestamp = none; turns that began before this moment
-- column session_label: VARCHAR; the session
-- column position: BIGINT; the turn's place on the way to the session's head, from 1
-- column turn_id: VARCHAR; the turn
-- column parent_turn_id: VARCHAR; the turn before it; NULL for the first
-- column turn_type: VARCHAR; normal or compaction
-- column status: VARCHAR; how far it came: pending, streaming, completed, failed
-- column started_at: BIGINT; when it began, in Unix ms; NULL where the log has no time
-- column completed_at: BIGINT; when it ended, in Unix ms; NULL while it goes on, or where the log has no time
-- column title: VARCHAR; the beginning of its prompt on one line; NULL without any
-- column model: VARCHAR; the model that answered
-- column tool_calls: BIGINT; its tool calls
-- column total_tokens: BIGINT; its tokens of all kinds; NULL when unknown
-- column requests: BIGINT; its requests to a model
-- column cost_usd: DECIMAL(38,12); list price of the tokens that they report; NULL when none is priced
-- column cost_estimated_usd: DECIMAL(38,12); the same with the output estimated where its count is not final
-- column unpriced_requests: BIGINT; its requests with tokens that have no price
-- column subagents: BIGINT; subagents that it started, with those that these started, at any depth
-- column subagents_cost_usd: DECIMAL(38,12); what these cost; NULL when none is priced
-- column subagents_cost_estimated_usd: DECIMAL(38,12); the same with the output estimated
-- column subagents_unpriced_requests: BIGINT; their requests with tokens that have no price
-- column children: BIGINT; turns that follow it directly, on all branches
-- column heads: BIGINT; sessions whose head it is
-- column sessions: BIGINT; sessions on whose way to the head it lies
-- column owner_label: VARCHAR; the session that it counts for in totals
-- column compaction_trigger: VARCHAR; of a compaction: context_limit, manual or periodic; NULL when unknown
-- column tokens_before: BIGINT; of a compaction: tokens of the context before; NULL when unknown
-- column tokens_after: BIGINT; of a compaction: tokens of the context after; NULL when unknown
-- shown: turn_id, title, cost_usd, started_at, tool_calls, subagents_cost_usd, turn_type, status, session_label, position
-- empty: No turn of a session matches that.
-- next: `aix log SESSION` shows one session, `aix show TURN` one turn
-- caveat: A turn that several sessions share has a row for each; it counts for owner_label.
-- caveat: Costs of a turn are those of its own requests; work of subagents is in the columns subagents_… alone.
-- references: docs/tree.md#read-a-session-as-a-log; turns as commits

-- The turns that are asked for. A turn and its depth are the same in every session.
with thread_turn as (
  select w.session_label, w.turn_id, w.position
  from v_session_turns w
  where (getvariable('session') is null or w.session_label = getvariable('session'))
    and (
      getvariable('turn') is null
      or (
        w.session_label in (select session_label from v_session_turns where turn_id = getvariable('turn'))
        and w.position <= (select depth from threads where turn_id = getvariable('turn'))
      )
    )
),
-- Each of them once, to look up what belongs to it.
wanted_turn as (
  select distinct turn_id from thread_turn
),
-- Prompts; a message that a tool sent in the name of the user comes after what people typed.
prompt as (
  select
    m.turn_id,
    trim(replace(replace(replace(left(m.content, 1000), chr(13), ' '), chr(10), ' '), chr(9), ' ')) as content,
    case when m.source = 'event' then '1' else '0' end
      || right('0000000000' || cast(m.sequence as varchar), 10) || m.id as place
  from messages m
  join wanted_turn w on w.turn_id = m.turn_id
  where m.role = 'user'
),
-- The first prompt of each turn.
first_prompt as (
  select turn_id, min_by(content, place) as content from prompt where content <> '' group by turn_id
),
-- Turns that follow a turn.
follower as (
  select t.parent_turn_id as turn_id, count(*) as children
  from turns t
  join wanted_turn w on w.turn_id = t.parent_turn_id
  group by t.parent_turn_id
),
-- Sessions through a turn, and those that end at it.
sharing as (
  select v.turn_id, count(*) as sessions, count(case when s.thread_id = v.turn_id then 1 end) as heads
  from v_session_turns v
  join wanted_turn w on w.turn_id = v.turn_id
  join sessions s on s.label = v.session_label
  group by v.turn_id
),
-- Turns whose times were made up because the log has none.
undated_turn as (
  select distinct row_key as turn_id
  from inferred_values
  where table_name = 'turns' and column_name = 'started_at' and basis = 'undated'
)
select
  w.session_label,
  w.position,
  w.turn_id,
  t.parent_turn_id,
  t.turn_type,
  t.status,
  case when u.turn_id is null then t.started_at end as started_at,
  case when u.turn_id is null then t.completed_at end as completed_at,
  p.content as title,
  t.model,
  coalesce(t.tool_call_count, 0) as tool_calls,
  t.total_tokens,
  coalesce(c.requests, 0) as requests,
  c.cost_usd,
  c.cost_estimated_usd,
  coalesce(c.unpriced_requests, 0) as unpriced_requests,
  coalesce(c.subagents, 0) as subagents,
  c.subagents_cost_usd,
  c.subagents_cost_estimated_usd,
  coalesce(c.subagents_unpriced_requests, 0) as subagents_unpriced_requests,
  coalesce(f.children, 0) as children,
  coalesce(g.heads, 0) as heads,
  coalesce(g.sessions, 0) as sessions,
  o.session_label as owner_label,
  k."trigger" as compaction_trigger,
  k.tokens_before,
  k.tokens_after
from thread_turn w
join turns t on t.id = w.turn_id
left join undated_turn u on u.turn_id = t.id
left join first_prompt p on p.turn_id = t.id
left join v_turn_costs c on c.turn_id = t.id
left join follower f on f.turn_id = t.id
left join sharing g on g.turn_id = t.id
left join v_turn_owner o on o.turn_id = t.id
left join compactions k on k.turn_id = t.id
where (getvariable('since') is null or (u.turn_id is null and t.started_at >= getvariable('since')))
  and (getvariable('until') is null or (u.turn_id is null and t.started_at < getvariable('until')))
order by w.session_label, w.position desc, w.turn_id
