-- title: The tool calls around each compaction
-- question: Which calls were made in the turns before and after a compaction, and which on both sides?
-- why: What is asked again after a compaction, and what fills the context anew, are calls.
-- grain: compaction and call
-- column compaction_turn_id: VARCHAR; the compaction
-- column call_id: VARCHAR; a call of a turn before or after it
-- column distance: BIGINT; of its turn: -1 is the last turn before the compaction, 1 the first after
-- column call_place: BIGINT; place among the calls of its turn, from 1
-- column place: BIGINT; how many requests after the compaction, from 1; NULL before it and where the request is not known
-- column tool_name: VARCHAR; the tool
-- column params_hash: VARCHAR; hash of its parameters
-- column status: VARCHAR; how far it came
-- column result_tokens: BIGINT; tokens of context that the result took; NULL when unknown
-- column is_measured: BOOLEAN; whether the context's growth shows these tokens; else they are estimated from the length
-- column is_on_both_sides: BOOLEAN; whether the same call, with the same parameters, was made before and after it
-- kept: by family with compactions
with call_near_compaction as (
  select
    k.compaction_turn_id, c.call_id, k.distance, c.request_id, c.tool_name, c.params_hash, c.status, c.result_tokens,
    c.is_measured,
    row_number() over (
      partition by k.compaction_turn_id, k.turn_id order by c.requested_at, t.sequence, c.call_id
    ) as call_place
  from v_compaction_turns k
  join v_calls c on c.turn_id = k.turn_id
  join tool_calls t on t.id = c.call_id
),
params_on_both_sides as (
  select compaction_turn_id, tool_name, params_hash
  from call_near_compaction
  where params_hash is not null
  group by compaction_turn_id, tool_name, params_hash
  having min(distance) < 0 and max(distance) > 0
)
select
  a.compaction_turn_id,
  a.call_id,
  a.distance,
  a.call_place,
  r.place,
  a.tool_name,
  a.params_hash,
  a.status,
  a.result_tokens,
  a.is_measured,
  b.params_hash is not null as is_on_both_sides
from call_near_compaction a
left join v_compaction_requests r
  on r.compaction_turn_id = a.compaction_turn_id and r.request_id = a.request_id and a.distance > 0
left join params_on_both_sides b
  on b.compaction_turn_id = a.compaction_turn_id and b.tool_name = a.tool_name and b.params_hash = a.params_hash
