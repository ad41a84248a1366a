-- title: What the ledger holds, by origin
-- question: How much came from each tool, and of which time?
-- why: The first look after an import: is everything there, and what is it worth looking at?
-- grain: origin
-- params: filters
-- column origin: VARCHAR; the tool whose logs were imported; NULL for side calls of no known session
-- column sessions: BIGINT; sessions that people started; under a filter, those with a turn or request that counts
-- column subagents: BIGINT; sessions that other sessions spawned, in the same way
-- column turns: BIGINT; turns; one that several sessions share counts once
-- column failed_turns: BIGINT; turns that ended without an answer, in an error, or by interruption; those without a request too, which no class of `waste` counts
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
  select c.origin, t.id, t.status, t.model, t.tool_call_count, n.started_at
  from turns t
  join turn_context c on c.turn_id = t.id
  join v_turns_in_time n on n.turn_id = t.id
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
sessions_by_origin as (
  select origin, count(case when not is_subagent then 1 end) as sessions,
    count(case when is_subagent then 1 end) as subagents
  from v_counted_sessions
  group by origin
)
select coalesce(t.origin, r.origin, s.origin) as origin, coalesce(s.sessions, 0) as sessions,
  coalesce(s.subagents, 0) as subagents, coalesce(t.turns, 0) as turns,
  coalesce(t.failed_turns, 0) as failed_turns, coalesce(m.messages, 0) as messages,
  coalesce(t.tool_calls, 0) as tool_calls, coalesce(t.models, 0) as models,
  r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens, t.first_turn_at, t.last_turn_at
from turns_by_origin t
full join requests_by_origin r on r.origin = t.origin
full join sessions_by_origin s on s.origin = coalesce(t.origin, r.origin)
left join messages_by_origin m on m.origin = t.origin
order by coalesce(t.origin, r.origin, s.origin) nulls last
