-- title: What the ledger holds, by origin
-- question: How many sessions, turns, messages, calls and tokens came from each tool, and from when to when?
-- why: The first look after an import: is everything there, and what is it worth looking at?
-- grain: origin
-- params: filters
-- column origin: VARCHAR; the tool whose logs were imported; NULL for side calls of no known session
-- column sessions: BIGINT; sessions, those of subagents included; under a filter, those with a turn that counts
-- column turns: BIGINT; turns; one that several sessions share counts once
-- column failed_turns: BIGINT; turns that ended without an answer, in an error, or by interruption
-- column messages: BIGINT; messages
-- column tool_calls: BIGINT; tool calls
-- column models: BIGINT; different models that answered
-- column input_tokens: BIGINT; uncached input; all tokens are NULL when unknown
-- column output_tokens: BIGINT; output as reported
-- column cache_read_tokens: BIGINT; input read from the cache
-- column cache_write_tokens: BIGINT; input written to the cache
-- column first_turn_at: BIGINT; start of the first turn, Unix ms; NULL when no log has a time
-- column last_turn_at: BIGINT; start of the last turn, Unix ms; NULL when no log has a time
-- caveat: Tokens are those of all requests, as in the queries of cost; some tools report none.
-- caveat: Where a log has no time at all, that of its file stands in the ledger; it is no activity and is left out here.
with turn_facts as (
  select c.origin, n.session_label, t.id, t.status, t.model, t.tool_call_count,
    case when i.row_key is null then t.started_at end as started_at
  from turns t
  join turn_context c on c.turn_id = t.id
  join v_counted_turns n on n.turn_id = t.id
  left join inferred_values i
    on i.table_name = 'turns' and i.row_key = t.id and i.column_name = 'started_at' and i.basis = 'undated'
  where (getvariable('since') is null or (i.row_key is null and t.started_at >= getvariable('since')))
    and (getvariable('until') is null or (i.row_key is null and t.started_at < getvariable('until')))
),
turns_by_origin as (
  select origin, count(*) as turns, count(case when status = 'failed' then 1 end) as failed_turns,
    try_cast(sum(tool_call_count) as bigint) as tool_calls, count(distinct model) as models,
    min(started_at) as first_turn_at, max(started_at) as last_turn_at
  from turn_facts
  group by origin
),
requests_by_origin as (
  select origin, cast(sum(input_tokens) as bigint) as input_tokens, cast(sum(output_tokens) as bigint) as output_tokens,
    cast(sum(cache_read_tokens) as bigint) as cache_read_tokens,
    cast(sum(cache_write_tokens) as bigint) as cache_write_tokens
  from v_counted_requests
  group by origin
),
messages_by_origin as (
  select f.origin, cast(sum(m.messages) as bigint) as messages
  from v_turn_messages m
  join turn_facts f on f.id = m.turn_id
  group by f.origin
),
session_with_turn as (
  select session_label from turn_facts group by session_label
),
sessions_by_origin as (
  select s.origin, count(*) as sessions
  from sessions s
  left join session_with_turn w on w.session_label = s.label
  where w.session_label is not null
    or (
      getvariable('since') is null and getvariable('until') is null and getvariable('project') is null
      and getvariable('origin') is null and getvariable('model') is null and getvariable('session') is null
      and getvariable('tag') is null
    )
  group by s.origin
)
select coalesce(t.origin, r.origin) as origin, coalesce(s.sessions, 0) as sessions, coalesce(t.turns, 0) as turns,
  coalesce(t.failed_turns, 0) as failed_turns, coalesce(m.messages, 0) as messages,
  coalesce(t.tool_calls, 0) as tool_calls, coalesce(t.models, 0) as models,
  r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens, t.first_turn_at, t.last_turn_at
from turns_by_origin t
full join requests_by_origin r on r.origin = t.origin
left join messages_by_origin m on m.origin = t.origin
left join sessions_by_origin s on s.origin = coalesce(t.origin, r.origin)
order by coalesce(t.origin, r.origin) nulls last
