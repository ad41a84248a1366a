-- title: Mentions by people and agents outside the chat
-- question: Who mentions others without taking part in a chat?
-- why: Only participants of a chat may mention others in it; a mention can make an agent act.
-- grain: conversation_id and author_id
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column conversation_id: VARCHAR; the chat
-- column author_kind: VARCHAR; one of user, agent; NULL where the author is nowhere recorded
-- column author_id: VARCHAR; who mentions others, as the message states it where nobody of that id is recorded
-- column author_name: VARCHAR; the name of the author
-- column is_inferred: BOOLEAN; whether it is not known if they had left before
-- column mentions: BIGINT; messages of theirs that mention somebody
-- column first_mentioned_at: BIGINT; the first of these messages, in Unix ms
-- column last_mentioned_at: BIGINT; the last of them, in Unix ms
-- column session_label: VARCHAR; the session of the last of them
-- column turn_id: VARCHAR; its turn
-- column message_id: VARCHAR; the message
-- shown: reason, severity, author_name, mentions, last_mentioned_at
-- empty: All who mention others in a chat take part in it.
-- next: `aix audit` shows all findings with what to do about each
-- caveat: Only messages that state an author count, and only in chats of which participants are known.
-- caveat: Where the source does not say when a membership ended, this is to note and no alarm.
-- caveat: A membership without times counts as one of all times.
-- remedy: Find out how the author could write in the chat, and add them or take their access away.
-- references: docs/chats.md#audits; who may mention others
-- rows: only with chat_agents, chat_conversations, chat_participants, chat_users
with mention as (
  select message_id from v_mentions where kind in ('agent', 'user') group by message_id
),
chat_with_members as (
  select conversation_id from v_chat_memberships group by conversation_id
),
mentioning_message as (
  select
    m.message_id, m.turn_id, m.session_label, m.conversation_id, m.created_at, m.message_order,
    m.author_kind, coalesce(m.author_id, m.stated_author) as author_id, m.author_name, m.participant_id
  from v_chat_messages m
  join mention x on x.message_id = m.message_id
  join chat_with_members c on c.conversation_id = m.conversation_id
  where coalesce(m.author_id, m.stated_author) is not null
    and (getvariable('since') is null or m.created_at >= getvariable('since'))
    and (getvariable('until') is null or m.created_at < getvariable('until'))
),
judged_message as (
  select
    m.message_id, m.turn_id, m.session_label, m.conversation_id, m.created_at, m.message_order,
    m.author_kind, m.author_id,
    max(m.author_name) as author_name,
    bool_or(p.participant_id is not null) as is_member,
    coalesce(bool_or(p.ended_at < m.created_at), false) as had_left,
    coalesce(bool_or(m.created_at between p.started_at and p.ended_at and p.is_end_known), false) as takes_part,
    coalesce(bool_or(m.created_at between p.started_at and p.ended_at), false) as may_take_part
  from mentioning_message m
  left join v_chat_memberships p
    on p.conversation_id = m.conversation_id
    and (p.participant_id = m.participant_id or (p.kind = coalesce(m.author_kind, p.kind) and p.member_id = m.author_id))
  group by
    m.message_id, m.turn_id, m.session_label, m.conversation_id, m.created_at, m.message_order,
    m.author_kind, m.author_id
),
mention_totals as (
  select
    conversation_id, author_kind, author_id,
    max(author_name) as author_name,
    bool_or(is_member) as is_member,
    bool_or(had_left) as had_left,
    bool_and(may_take_part) as is_inferred,
    count(*) as mentions,
    min(created_at) as first_mentioned_at,
    max(created_at) as last_mentioned_at,
    max_by(session_label, message_order) as session_label,
    max_by(turn_id, message_order) as turn_id,
    max_by(message_id, message_order) as message_id
  from judged_message
  where not takes_part
  group by conversation_id, author_kind, author_id
)
select
  left(t.conversation_id || ': ' || coalesce(t.author_name, t.author_id), 200) as resource,
  case when t.is_inferred then 'info' else 'alarm' end as status,
  left(coalesce(t.author_name, t.author_id), 60) || ' mentions others'
    || case
      when not t.is_member then ' without taking part in '
      when t.is_inferred then ', perhaps after being removed from '
      when t.had_left then ' after leaving '
      else ' before being added to '
    end
    || coalesce(c.name, left(t.conversation_id, 60))
    || case when t.mentions = 1 then '' else ' (' || cast(t.mentions as varchar) || ' messages)' end || '.' as reason,
  case when not t.is_inferred then 'medium' end as severity,
  t.conversation_id, t.author_kind, t.author_id, t.author_name, t.is_inferred, t.mentions,
  t.first_mentioned_at, t.last_mentioned_at, t.session_label, t.turn_id, t.message_id
from mention_totals t
left join v_chat_names c on c.kind = 'chat' and c.id = t.conversation_id
order by t.mentions desc, t.conversation_id, t.author_id
