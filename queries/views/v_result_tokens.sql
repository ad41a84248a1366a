-- title: The tokens of each tool result
-- question: How many tokens of context did the result of a call take?
-- why: No log says it; but the next request's context has grown by it.
-- grain: call
-- column call_id: VARCHAR; the call
-- column turn_id: VARCHAR; the turn that made it
-- column message_id: VARCHAR; the message that asked for it
-- column tool_name: VARCHAR; the tool
-- column status: VARCHAR; how it ended
-- column result_chars: BIGINT; length of the result's text; NULL when unknown
-- column result_tokens: BIGINT; tokens of the result; NULL when neither measured nor of known length
-- column is_measured: BOOLEAN; whether the growth of the context was measured, else a token is taken for 4 characters
-- caveat: What else came in between two requests, such as reminders, is counted for the results.
-- references: docs/economics.md#the-other-figures; tokens of a tool's result
with main_request as (
  select
    message_id,
    context_tokens,
    case
      when not coalesce(is_usage_final, false) and estimated_output_tokens > coalesce(output_tokens, 0)
        then estimated_output_tokens
      when output_tokens > 0 then output_tokens
      else 0
    end as likely_output_tokens,
    lead(context_tokens) over (partition by turn_id order by seq, requested_at, id) as next_context_tokens
  from requests
  where kind = 'main' and turn_id is not null and context_tokens between 0 and 1000000000000
),
context_growth as (
  select message_id, max(next_context_tokens - context_tokens - likely_output_tokens) as added_tokens
  from main_request
  where likely_output_tokens <= 1000000000000
    and next_context_tokens > context_tokens + likely_output_tokens
    and message_id is not null
  group by message_id
),
sized_call as (
  select
    c.id as call_id, c.turn_id, c.message_id, c.tool_name, c.status,
    case when f.result_chars between 0 and 1000000000000 then f.result_chars end as result_chars
  from tool_calls c
  join tool_call_facts f on f.call_id = c.id
),
message_results as (
  select message_id, sum(result_chars) as chars
  from sized_call
  group by message_id
  having sum(result_chars) > 0 and count(result_chars) = count(*)
),
measured_message as (
  select a.message_id, cast(g.added_tokens as double) / cast(a.chars as double) as tokens_per_char
  from message_results a
  join context_growth g on g.message_id = a.message_id
)
select
  c.call_id,
  c.turn_id,
  c.message_id,
  c.tool_name,
  c.status,
  c.result_chars,
  case
    when m.message_id is not null then cast(round(c.result_chars * m.tokens_per_char) as bigint)
    else cast(ceil(c.result_chars / 4) as bigint)
  end as result_tokens,
  m.message_id is not null as is_measured
from sized_call c
left join measured_message m on m.message_id = c.message_id
