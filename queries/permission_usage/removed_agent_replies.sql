-- title: Messages of agents that were removed
-- question: Which agents wrote in a chat that they had left?
-- why: Who was removed from a chat should no longer write in it.
-- grain: conversation_id and agent_id
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column conversation_id: VARCHAR; the chat
-- column agent_id: VARCHAR; the agent
-- column agent_name: VARCHAR; its name
-- column messages: BIGINT; messages that it wrote there
-- column is_inferred: BOOLEAN; whether it is not known that they came after the end; always, as no source tells when that was
-- column first_written_at: BIGINT; the first of them, in Unix ms
-- column last_written_at: BIGINT; the last of them, in Unix ms
-- column session_label: VARCHAR; the session of the last of them
-- column turn_id: VARCHAR; its turn
-- column message_id: VARCHAR; the message
-- shown: reason, severity, agent_name, messages, last_written_at
-- empty: No agent wrote in a chat that it had left.
-- next: `aix audit` shows all findings with what to do about each
-- caveat: No source tells when a membership ended: messages from before it count as well, so this is to note and no alarm.
-- caveat: An agent that was removed and is a member again is left out.
-- remedy: Check that the agent has no access to the chat any more.
with removed_participant as (
  select r.id as participant_id, r.conversation_id, r.agent_id, 'conversation:' || r.conversation_id as routing_key
  from chat_participants r
  left join chat_participants again
    on again.conversation_id = r.conversation_id and again.agent_id = r.agent_id and not coalesce(again.is_removed, false)
  where r.is_removed and r.agent_id is not null and again.id is null
),
affected_chat as (
  select routing_key from removed_participant group by routing_key
),
chat_message as (
  select
    case when json_valid(m.metadata_json) then json_extract_string(m.metadata_json, '$.authorParticipantId') end as participant_id,
    m.id as message_id, m.turn_id, m.created_at, n.session_label,
    right('00000000000000' || cast(m.created_at as varchar), 15) || ' ' || m.id as message_order
  from affected_chat p
  join v_counted_turns n on n.routing_key = p.routing_key
  join messages m on m.turn_id = n.turn_id
  where (getvariable('since') is null or m.created_at >= getvariable('since'))
    and (getvariable('until') is null or m.created_at < getvariable('until'))
),
reply_totals as (
  select
    r.conversation_id, r.agent_id,
    max(a.name) as agent_name,
    count(*) as messages,
    min(w.created_at) as first_written_at,
    max(w.created_at) as last_written_at,
    max_by(w.session_label, w.message_order) as session_label,
    max_by(w.turn_id, w.message_order) as turn_id,
    max_by(w.message_id, w.message_order) as message_id
  from removed_participant r
  join chat_message w on w.participant_id = r.participant_id
  left join chat_agents a on a.id = r.agent_id
  group by r.conversation_id, r.agent_id
)
select
  left(conversation_id || ': ' || coalesce(agent_name, agent_id), 200) as resource,
  'info' as status,
  cast(messages as varchar) || case when messages = 1 then ' message is' else ' messages are' end
    || ' from an agent that was removed from the chat; when that was is not known.' as reason,
  cast(null as varchar) as severity,
  conversation_id, agent_id, agent_name, messages,
  true as is_inferred,
  first_written_at, last_written_at, session_label, turn_id, message_id
from reply_totals
order by messages desc, conversation_id, agent_id
