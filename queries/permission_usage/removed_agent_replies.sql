-- title: Messages of participants that were removed
-- question: Who wrote in a chat after having left it?
-- why: A removed participant should no longer write in the chat.
-- grain: conversation_id, agent_id and user_id
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column conversation_id: VARCHAR; the chat
-- column agent_id: VARCHAR; the agent; NULL where it is a person
-- column agent_name: VARCHAR; the name of the agent
-- column user_id: VARCHAR; the person; NULL where it is an agent
-- column user_name: VARCHAR; the name of the person
-- column messages: BIGINT; messages that they wrote there: those after the end, or all where its time is not known
-- column is_inferred: BOOLEAN; whether it is not known that they came after the end
-- column removed_at: BIGINT; when the membership ended, in Unix ms; NULL where the source does not say
-- column first_written_at: BIGINT; the first of these messages, in Unix ms
-- column last_written_at: BIGINT; the last of them, in Unix ms
-- column session_label: VARCHAR; the session of the last of them
-- column turn_id: VARCHAR; its turn
-- column message_id: VARCHAR; the message
-- shown: reason, severity, agent_name, user_name, messages, last_written_at
-- empty: Nobody wrote in a chat that they had left.
-- next: `aix audit` shows all findings with what to do about each
-- caveat: Where the source does not say when a membership ended, all messages count, and this is to note and no alarm.
-- caveat: Messages from the time of another membership of the same person or agent are left out.
-- remedy: Check that the one who was removed has no access to the chat any more.
-- references: docs/chats.md#audits; who may write in a chat
-- rows: only with chat_participants
with reply_totals as (
  select
    r.conversation_id, r.kind, w.author_id,
    max(w.author_name) as author_name,
    count(*) as messages,
    max(case when r.is_end_known then r.ended_at end) as removed_at,
    min(w.created_at) as first_written_at,
    max(w.created_at) as last_written_at,
    max_by(w.session_label, w.message_order) as session_label,
    max_by(w.turn_id, w.message_order) as turn_id,
    max_by(w.message_id, w.message_order) as message_id
  from v_chat_memberships r
  join v_chat_messages w on w.participant_id = r.participant_id and w.conversation_id = r.conversation_id
  left join v_chat_memberships again
    on again.conversation_id = r.conversation_id
    and again.kind = r.kind
    and again.member_id = r.member_id
    and again.is_end_known
    and w.created_at between again.started_at and again.ended_at
  where r.is_removed
    and (not r.is_end_known or w.created_at > r.ended_at)
    and again.participant_id is null
    and (getvariable('since') is null or w.created_at >= getvariable('since'))
    and (getvariable('until') is null or w.created_at < getvariable('until'))
  group by r.conversation_id, r.kind, w.author_id
)
select
  left(t.conversation_id || ': ' || coalesce(t.author_name, t.author_id), 200) as resource,
  case when t.removed_at is null then 'info' else 'alarm' end as status,
  left(coalesce(t.author_name, t.author_id), 60) || ' wrote'
    || case when t.removed_at is null then ', perhaps' else '' end
    || ' after being removed from ' || coalesce(c.name, left(t.conversation_id, 60))
    || case when t.messages = 1 then '' else ' (' || cast(t.messages as varchar) || ' messages)' end || '.' as reason,
  case when t.removed_at is not null then 'medium' end as severity,
  t.conversation_id,
  case when t.kind = 'agent' then t.author_id end as agent_id,
  case when t.kind = 'agent' then t.author_name end as agent_name,
  case when t.kind = 'user' then t.author_id end as user_id,
  case when t.kind = 'user' then t.author_name end as user_name,
  t.messages,
  t.removed_at is null as is_inferred,
  t.removed_at, t.first_written_at, t.last_written_at, t.session_label, t.turn_id, t.message_id
from reply_totals t
left join v_chat_names c on c.kind = 'chat' and c.id = t.conversation_id
order by t.messages desc, t.conversation_id, t.author_id
