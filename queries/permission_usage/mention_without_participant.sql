-- title: Mentions of agents that take no part
-- question: Which mentioned agents never take part in the chat?
-- why: A mention brings an agent into a chat; where it did not, a message reached nobody.
-- grain: conversation_id and agent_id
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column conversation_id: VARCHAR; the chat
-- column agent_id: VARCHAR; who is mentioned, as it is written
-- column agent_name: VARCHAR; the name as it is written
-- column is_known: BOOLEAN; whether such an agent is known at all
-- column mentions: BIGINT; messages that mention it
-- column first_mentioned_at: BIGINT; the first of these messages, in Unix ms
-- column last_mentioned_at: BIGINT; the last of them, in Unix ms
-- column session_label: VARCHAR; the session of the last of them
-- column turn_id: VARCHAR; its turn
-- column message_id: VARCHAR; the message
-- shown: reason, severity, agent_name, mentions, last_mentioned_at
-- empty: No agent was mentioned in a chat without being part of it.
-- next: `aix audit` shows all findings with what to do about each
-- caveat: The chat is that of the message's author, else the one after which its session is routed.
-- remedy: Add the agent to the chat, or correct its name in the messages.
with mention as (
  select
    coalesce(
      p.conversation_id, case when left(n.routing_key, 13) = 'conversation:' then right(n.routing_key, length(n.routing_key) - 13) end
    ) as conversation_id,
    x.target_id as agent_id, x.name as agent_name,
    m.id as message_id, m.turn_id, m.created_at, n.session_label,
    right('00000000000000' || cast(m.created_at as varchar), 15) || ' ' || m.id as message_order
  from chat_mentions x
  join messages m on m.id = x.message_id
  join v_counted_turns n on n.turn_id = m.turn_id
  left join chat_participants p
    on p.id = case when json_valid(m.metadata_json) then json_extract_string(m.metadata_json, '$.authorParticipantId') end
  where x.kind = 'agent'
    and (getvariable('since') is null or m.created_at >= getvariable('since'))
    and (getvariable('until') is null or m.created_at < getvariable('until'))
),
participating_agent as (
  select conversation_id, agent_id from chat_participants where agent_id is not null group by conversation_id, agent_id
),
mention_totals as (
  select
    x.conversation_id, x.agent_id,
    max(x.agent_name) as agent_name,
    bool_or(a.id is not null) as is_known,
    count(distinct x.message_id) as mentions,
    min(x.created_at) as first_mentioned_at,
    max(x.created_at) as last_mentioned_at,
    max_by(x.session_label, x.message_order) as session_label,
    max_by(x.turn_id, x.message_order) as turn_id,
    max_by(x.message_id, x.message_order) as message_id
  from mention x
  left join participating_agent p on p.conversation_id = x.conversation_id and p.agent_id = x.agent_id
  left join chat_agents a on a.id = x.agent_id
  where x.conversation_id is not null and p.agent_id is null
  group by x.conversation_id, x.agent_id
)
select
  left(conversation_id || ': ' || agent_name, 200) as resource,
  'alarm' as status,
  cast(mentions as varchar) || case when mentions = 1 then ' message mentions ' else ' messages mention ' end
    || left(agent_name, 100)
    || case when is_known then ', an agent that never took part in the chat.' else ', and no such agent is known.' end as reason,
  'low' as severity,
  conversation_id, agent_id, agent_name, is_known, mentions,
  first_mentioned_at, last_mentioned_at, session_label, turn_id, message_id
from mention_totals
order by mentions desc, conversation_id, agent_id
