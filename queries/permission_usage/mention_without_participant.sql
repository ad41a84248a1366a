-- title: Mentions of people and agents outside the chat
-- question: Who is mentioned in a chat without taking part?
-- why: A mention brings an agent into a chat; where it did not, a message reached nobody.
-- grain: conversation_id, agent_id and user_id
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column conversation_id: VARCHAR; the chat
-- column agent_id: VARCHAR; the agent that is mentioned, as it is written; NULL where it is a person
-- column agent_name: VARCHAR; the name of the agent as it is written
-- column user_id: VARCHAR; the person who is mentioned, as it is written; NULL where it is an agent
-- column user_name: VARCHAR; the name of the person as it is written
-- column is_known: BOOLEAN; whether such an agent or person is known at all
-- column had_left: BOOLEAN; whether the one mentioned took part before, and no longer did
-- column is_inferred: BOOLEAN; whether it is not known if they had left before
-- column mentions: BIGINT; messages that mention them
-- column first_mentioned_at: BIGINT; the first of these messages, in Unix ms
-- column last_mentioned_at: BIGINT; the last of them, in Unix ms
-- column session_label: VARCHAR; the session of the last of them
-- column turn_id: VARCHAR; its turn
-- column message_id: VARCHAR; the message
-- shown: reason, severity, agent_name, user_name, mentions, last_mentioned_at
-- empty: Everyone mentioned in a chat takes part in it.
-- next: `aix audit` shows all findings with what to do about each
-- caveat: Where the source does not say when a membership ended, this is to note and no alarm.
-- caveat: An agent or a person added after the mention takes part, since a mention adds an agent.
-- remedy: Add the one mentioned to the chat, or correct the name in the messages.
-- references: docs/chats.md#audits; when a mention reaches somebody
-- rows: only with chat_agents, chat_conversations, chat_participants, chat_users
with mention as (
  select
    m.conversation_id, x.kind, x.target_id, x.name,
    bool_or(x.is_resolved) as is_known,
    m.message_id, m.turn_id, m.created_at, m.session_label, m.message_order
  from chat_mentions x
  join v_chat_messages m on m.message_id = x.message_id
  where x.kind in ('agent', 'user')
    and (getvariable('since') is null or m.created_at >= getvariable('since'))
    and (getvariable('until') is null or m.created_at < getvariable('until'))
  group by
    m.conversation_id, x.kind, x.target_id, x.name,
    m.message_id, m.turn_id, m.created_at, m.session_label, m.message_order
),
membership as (
  select
    conversation_id, kind, member_id,
    max(case when is_end_known then ended_at end) as ended_at,
    bool_or(not is_end_known) as may_have_left
  from v_chat_memberships
  group by conversation_id, kind, member_id
),
mention_totals as (
  select
    x.conversation_id, x.kind, x.target_id,
    max(x.name) as name,
    bool_or(x.is_known) as is_known,
    bool_or(p.member_id is not null) as had_left,
    bool_and(coalesce(p.may_have_left, false)) as is_inferred,
    count(distinct x.message_id) as mentions,
    min(x.created_at) as first_mentioned_at,
    max(x.created_at) as last_mentioned_at,
    max_by(x.session_label, x.message_order) as session_label,
    max_by(x.turn_id, x.message_order) as turn_id,
    max_by(x.message_id, x.message_order) as message_id
  from mention x
  left join membership p
    on p.conversation_id = x.conversation_id and p.kind = x.kind and p.member_id = x.target_id
  where p.member_id is null or coalesce(p.ended_at < x.created_at, true)
  group by x.conversation_id, x.kind, x.target_id
)
select
  left(t.conversation_id || ': ' || t.name, 200) as resource,
  case when t.is_inferred then 'info' else 'alarm' end as status,
  'The ' || case t.kind when 'user' then 'person ' else 'agent ' end || left(t.name, 60)
    || case
      when not t.is_known then ' is not known, but mentioned in '
      when t.is_inferred then ' is mentioned, perhaps after being removed from '
      when t.had_left then ' is mentioned after leaving '
      else ' is mentioned without taking part in '
    end
    || coalesce(c.name, left(t.conversation_id, 60))
    || case when t.mentions = 1 then '' else ' (' || cast(t.mentions as varchar) || ' messages)' end || '.' as reason,
  case when not t.is_inferred then 'low' end as severity,
  t.conversation_id,
  case when t.kind = 'agent' then t.target_id end as agent_id,
  case when t.kind = 'agent' then t.name end as agent_name,
  case when t.kind = 'user' then t.target_id end as user_id,
  case when t.kind = 'user' then t.name end as user_name,
  t.is_known, t.had_left, t.is_inferred, t.mentions,
  t.first_mentioned_at, t.last_mentioned_at, t.session_label, t.turn_id, t.message_id
from mention_totals t
left join v_chat_names c on c.kind = 'chat' and c.id = t.conversation_id
order by t.mentions desc, t.conversation_id, t.target_id, t.kind
