-- title: The requests after each compaction
-- question: How did the context grow from request to request after a compaction, and what came in between?
-- why: What fills the context again, and how fast, shows in the requests until the next compaction.
-- grain: compaction and request
-- column compaction_turn_id: VARCHAR; the compaction
-- column request_id: VARCHAR; a request of kind main with usage after it, until the next compaction
-- column message_id: VARCHAR; the message that the request gave
-- column distance: BIGINT; how many turns after the compaction, from 1
-- column place: BIGINT; how many requests after the compaction, from 1
-- column requested_at: BIGINT; when it was made, in Unix ms
-- column context_tokens: BIGINT; whole input
-- column likely_output_tokens: BIGINT; output as reported, or the estimate where that is larger and the report not final
-- column is_usage_final: BOOLEAN; whether the reported output is the final count
-- column prompt_chars: BIGINT; length of what the user wrote in its turn since the request before; NULL when nothing
-- column intake_price_usd: DECIMAL(18,12); list price of a token that it took in: written to the cache, else uncached
-- caveat: Of what the user wrote only the text counts, not images.
-- kept: by family with compactions
with request_after as (
  select
    k.compaction_turn_id, k.distance, r.turn_id, r.request_id, r.message_id, r.requested_at, r.context_tokens,
    r.likely_output_tokens, coalesce(r.is_usage_final, false) as is_usage_final,
    case
      when r.cache_write_1h_tokens > 0 then r.cache_write_1h_price_usd
      when r.cache_write_5m_tokens > 0 then r.cache_write_5m_price_usd
      else r.input_price_usd
    end as intake_price_usd,
    row_number() over (
      partition by k.compaction_turn_id order by k.distance, r.seq, r.requested_at, r.request_id
    ) as place
  from v_compaction_turns k
  join v_requests r on r.turn_id = k.turn_id
  where k.distance > 0 and r.kind = 'main' and r.has_usage
),
prompt_after as (
  select r.compaction_turn_id, min(r.place) as place, m.id as message_id, max(f.text_chars) as text_chars
  from request_after r
  join messages m on m.turn_id = r.turn_id
  join message_facts f on f.message_id = m.id
  where m.role = 'user' and m.created_at <= r.requested_at
  group by r.compaction_turn_id, m.id
),
request_prompts as (
  select compaction_turn_id, place, cast(sum(text_chars) as bigint) as prompt_chars
  from prompt_after
  group by compaction_turn_id, place
)
select
  r.compaction_turn_id,
  r.request_id,
  r.message_id,
  r.distance,
  r.place,
  r.requested_at,
  r.context_tokens,
  r.likely_output_tokens,
  r.is_usage_final,
  p.prompt_chars,
  r.intake_price_usd
from request_after r
left join request_prompts p on p.compaction_turn_id = r.compaction_turn_id and p.place = r.place
