-- title: What the ledger holds, by origin
-- question: How many sessions, turns, messages, calls and tokens came from each tool, and from when to when?
-- why: The first look after an import: is everything there, and what is it worth looking at?
-- grain: origin
-- column origin: VARCHAR; the tool whose logs were imported
-- column sessions: BIGINT; sessions, those of subagents included
-- column turns: BIGINT; turns; one that several sessions share counts once
-- column failed_turns: BIGINT; turns that ended without an answer, in an error, or by interruption
-- column messages: BIGINT; messages
-- column tool_calls: BIGINT; tool calls
-- column models: BIGINT; different models that answered
-- column input_tokens: BIGINT; uncached input as reported; NULL when no turn reports any
-- column output_tokens: BIGINT; output as reported
-- column cache_read_tokens: BIGINT; input read from the cache
-- column cache_write_tokens: BIGINT; input written to the cache
-- column first_turn_at: BIGINT; start of the first turn, Unix ms
-- column last_turn_at: BIGINT; start of the last turn, Unix ms
-- caveat: Tokens are those that logs report; some tools report none.
with turn_facts as (
  select c.origin, t.id, t.status, t.model, t.started_at, t.tool_call_count, t.input_tokens, t.output_tokens,
    t.cached_input_tokens, t.cache_write_tokens
  from turns t
  join turn_context c on c.turn_id = t.id
),
by_turn as (
  select origin, count(*) as turns, count(case when status = 'failed' then 1 end) as failed_turns,
    try_cast(sum(tool_call_count) as bigint) as tool_calls, count(distinct model) as models,
    try_cast(sum(input_tokens) as bigint) as input_tokens, try_cast(sum(output_tokens) as bigint) as output_tokens,
    try_cast(sum(cached_input_tokens) as bigint) as cache_read_tokens,
    try_cast(sum(cache_write_tokens) as bigint) as cache_write_tokens,
    min(started_at) as first_turn_at, max(started_at) as last_turn_at
  from turn_facts
  group by origin
),
by_message as (
  select f.origin, cast(sum(m.messages) as bigint) as messages
  from v_turn_messages m
  join turn_facts f on f.id = m.turn_id
  group by f.origin
),
by_session as (
  select origin, count(*) as sessions
  from sessions
  group by origin
)
select t.origin, coalesce(s.sessions, 0) as sessions, t.turns, t.failed_turns, coalesce(m.messages, 0) as messages,
  t.tool_calls, t.models, t.input_tokens, t.output_tokens, t.cache_read_tokens, t.cache_write_tokens,
  t.first_turn_at, t.last_turn_at
from by_turn t
left join by_message m on m.origin = t.origin
left join by_session s on s.origin = t.origin
order by t.origin
