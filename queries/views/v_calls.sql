-- title: Each tool call with its result's size and the requests that carried it on
-- question: What did each call add to the context, was it a repeat, and how often was its result sent again?
-- why: Figures of tools are sums over these rows; to find them takes longer than to add them up.
-- grain: call
-- column call_id: VARCHAR; the call
-- column turn_id: VARCHAR; its turn
-- column message_id: VARCHAR; the message that makes it
-- column request_id: VARCHAR; the request that gave this message; NULL when it is not known
-- column requested_at: BIGINT; when that request was made, in Unix ms; else when the call was
-- column model: VARCHAR; the model that the request named
-- column session_label: VARCHAR; the session it counts for: the owner of its turn
-- column origin: VARCHAR; where that session came from
-- column workspace_path: VARCHAR; the root folder of its turn's workspace
-- column session_project: VARCHAR; the project that its session names
-- column tool_name: VARCHAR; the tool
-- column status: VARCHAR; how far it came
-- column outcome: VARCHAR; what became of it, as far as the log tells: ran, failed, a kind of denial
-- column is_denied: BOOLEAN; whether the user, a rule, a mode, a hook or a directory denied it
-- column params_hash: VARCHAR; hash of its parameters
-- column result_chars: BIGINT; length of its result
-- column result_tokens: BIGINT; tokens of context that the result took; NULL when unknown
-- column is_measured: BOOLEAN; whether the context's growth shows these tokens; else they are estimated from the length
-- column is_repeat: BOOLEAN; whether the session had made the same call with the same parameters before
-- column status_before: VARCHAR; how far the same call had come the time before
-- column later_requests: BIGINT; requests of the session after it, until the next compaction
-- column later_read_usd: DECIMAL(38,12); their prices of one token read from the cache, summed; NULL when none has a price
-- caveat: What else came in between two requests, such as reminders, is counted for the results.
-- kept: by family with tool_calls
with message_request as (
  select
    message_id, request_id, requested_at, model, later_requests, later_read_usd,
    row_number() over (partition by message_id order by case when kind = 'main' then 0 else 1 end, request_id) as place
  from v_requests
  where message_id is not null
)
select
  k.id as call_id,
  k.turn_id,
  k.message_id,
  r.request_id,
  coalesce(r.requested_at, k.started_at) as requested_at,
  r.model,
  o.session_label,
  s.origin,
  n.workspace_path,
  c.project as session_project,
  k.tool_name,
  k.status,
  d.outcome,
  coalesce(
    d.outcome in ('not_granted', 'denied_directory', 'denied_mode', 'denied_hook', 'denied_rule', 'denied_user'), false
  ) as is_denied,
  f.params_hash,
  t.result_chars,
  t.result_tokens,
  coalesce(t.is_measured, false) as is_measured,
  p.call_id is not null as is_repeat,
  p.status_before,
  r.later_requests,
  r.later_read_usd
from tool_calls k
left join tool_call_facts f on f.call_id = k.id
left join v_result_tokens t on t.call_id = k.id
left join turns n on n.id = k.turn_id
left join v_turn_owner o on o.turn_id = k.turn_id
left join sessions s on s.label = o.session_label
left join session_context c on c.label = o.session_label
left join permission_decisions d on d.call_id = k.id
left join v_repeated_calls p on p.call_id = k.id
left join message_request r on r.message_id = k.message_id and r.place = 1
