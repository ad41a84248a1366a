-- title: Calls that repeat an earlier one
-- question: Which calls were made before, with the very same parameters, in the same session?
-- why: The same question asked twice fills the context twice.
-- grain: call; the first of several equal ones is no repeat
-- column call_id: VARCHAR; the call
-- column turn_id: VARCHAR; the turn that made it
-- column message_id: VARCHAR; the message that asked for it
-- column session_label: VARCHAR; the session it counts for
-- column tool_name: VARCHAR; the tool
-- column params_hash: VARCHAR; hash of the parameters
-- column result_chars: BIGINT; length of the result
-- column status_before: VARCHAR; how the same call ended the time before
with repeated_params as (
  -- Most parameters occur once in the whole ledger: those calls need no session.
  select params_hash from tool_call_facts where params_hash is not null group by params_hash having count(*) > 1
),
candidate_call as (
  select
    c.id as call_id, c.turn_id, c.message_id, o.session_label, c.tool_name, f.params_hash, f.result_chars, c.status,
    c.started_at, c.sequence
  from repeated_params a
  join tool_call_facts f on f.params_hash = a.params_hash
  join tool_calls c on c.id = f.call_id
  join v_turn_owner o on o.turn_id = c.turn_id
),
params_repeated_in_session as (
  select session_label, params_hash from candidate_call group by session_label, params_hash having count(*) > 1
),
placed_call as (
  select
    c.*,
    row_number() over same_call as place,
    lag(c.status) over same_call as status_before
  from params_repeated_in_session a
  join candidate_call c on c.session_label = a.session_label and c.params_hash = a.params_hash
  window same_call as (
    partition by c.session_label, c.tool_name, c.params_hash
    order by c.started_at nulls first, c.turn_id, c.sequence, c.call_id
  )
)
select call_id, turn_id, message_id, session_label, tool_name, params_hash, result_chars, status_before
from placed_call
where place > 1
