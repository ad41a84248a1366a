-- title: Mentions of private agents by others than their owner
-- question: Who mentions an agent that only its owner may use?
-- why: A private agent can see and do what its owner can; who calls it borrows that.
-- grain: agent_id and author_id
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column agent_id: VARCHAR; the agent
-- column agent_name: VARCHAR; its name
-- column owner_id: VARCHAR; its owner
-- column author_kind: VARCHAR; one of user, agent
-- column author_id: VARCHAR; who mentions it
-- column mentions: BIGINT; messages that mention it
-- column conversations: BIGINT; chats of these
-- column is_inferred: BOOLEAN; whether the source only says that the agent is not public
-- column first_mentioned_at: BIGINT; the first of these messages, in Unix ms
-- column last_mentioned_at: BIGINT; the last of them, in Unix ms
-- column session_label: VARCHAR; the session of the last of them
-- column turn_id: VARCHAR; its turn
-- column message_id: VARCHAR; the message
-- shown: reason, severity, agent_name, author_id, mentions, last_mentioned_at
-- empty: No private agent was mentioned by others.
-- next: `aix audit` shows all findings with what to do about each
-- caveat: Only messages whose author is known as a participant of the chat count.
-- remedy: Ask its owner to share the agent, or take the mention out.
with agent_mention as (
  select message_id, target_id as agent_id from chat_mentions where kind = 'agent' group by message_id, target_id
),
foreign_mention as (
  select
    a.id as agent_id, a.name as agent_name, a.created_by as owner_id,
    coalesce(a.is_private, false) as is_stated,
    p.kind as author_kind,
    coalesce(p.user_id, p.agent_id) as author_id,
    p.conversation_id,
    m.id as message_id, m.turn_id, m.created_at, n.session_label,
    right('00000000000000' || cast(m.created_at as varchar), 15) || ' ' || m.id as message_order
  from agent_mention x
  join chat_agents a on a.id = x.agent_id
  join messages m on m.id = x.message_id
  join chat_participants p
    on p.id = case when json_valid(m.metadata_json) then json_extract_string(m.metadata_json, '$.authorParticipantId') end
  join v_counted_turns n on n.turn_id = m.turn_id
  where (a.is_private or not a.is_public)
    and coalesce(p.user_id, p.agent_id) <> a.created_by
    and coalesce(p.agent_id, '') <> a.id
    and (getvariable('since') is null or m.created_at >= getvariable('since'))
    and (getvariable('until') is null or m.created_at < getvariable('until'))
),
mention_totals as (
  select
    agent_id, author_kind, author_id,
    max(agent_name) as agent_name,
    max(owner_id) as owner_id,
    count(distinct message_id) as mentions,
    count(distinct conversation_id) as conversations,
    not bool_or(is_stated) as is_inferred,
    min(created_at) as first_mentioned_at,
    max(created_at) as last_mentioned_at,
    max_by(session_label, message_order) as session_label,
    max_by(turn_id, message_order) as turn_id,
    max_by(message_id, message_order) as message_id
  from foreign_mention
  group by agent_id, author_kind, author_id
)
select
  left(coalesce(agent_name, agent_id), 200) as resource,
  'alarm' as status,
  'The ' || author_kind || ' ' || left(author_id, 100) || ' mentions it in ' || cast(mentions as varchar)
    || case when mentions = 1 then ' message' else ' messages' end || ', but only ' || left(owner_id, 100) || ' may use it.'
    as reason,
  'medium' as severity,
  agent_id, agent_name, owner_id, author_kind, author_id, mentions, conversations, is_inferred,
  first_mentioned_at, last_mentioned_at, session_label, turn_id, message_id
from mention_totals
order by mentions desc, agent_id, author_id
