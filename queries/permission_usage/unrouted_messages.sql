-- title: Messages that triage did not pass on
-- question: Which messages did triage leave unanswered?
-- why: The triage agent passes a message that mentions nobody to an agent; where it did not, nobody was asked.
-- grain: conversation_id
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column conversation_id: VARCHAR; the chat
-- column messages: BIGINT; messages of people without a mention that no agent answered or passed on
-- column unmentioned_messages: BIGINT; all messages of people without a mention, since triage takes part in the chat
-- column first_written_at: BIGINT; the first of the unanswered messages, in Unix ms
-- column last_written_at: BIGINT; the last of them, in Unix ms
-- column session_label: VARCHAR; the session of the last of them
-- column turn_id: VARCHAR; its turn
-- column message_id: VARCHAR; the message
-- shown: reason, severity, conversation_id, messages, unmentioned_messages, last_written_at
-- empty: Triage passed on every message that mentions nobody, or there is no triage.
-- next: `aix query triage_routing` shows who answered the messages that mention nobody
-- caveat: Only chats in which a triage agent takes part at the time count, and messages whose author is known.
-- caveat: A message is passed on when triage mentions another agent that is known later in its turn.
-- caveat: It is answered when an agent speaks later in the turn, unless an agent was mentioned in between.
-- caveat: Messages since which no agent spoke in the chat may still be answered, and do not count.
-- remedy: Answer the messages, or mention an agent in them; then look at the rules of the triage agent.
-- references: docs/chats.md#audits; which messages triage passes on
-- rows: only with chat_agents, chat_conversations, chat_participants, chat_users
with unmentioned_message as (
  select
    m.conversation_id, m.message_id, m.turn_id, m.created_at, m.session_label, m.message_order,
    not (m.is_passed_on or m.is_answered) as is_unanswered
  from v_unmentioned_messages m
  join v_chat_memberships p
    on p.conversation_id = m.conversation_id
    and p.is_end_known
    and coalesce(m.created_at, 0) between p.started_at and p.ended_at
  join chat_agents a on a.id = p.member_id and p.kind = 'agent'
  where lower(a.system_agent_kind) = 'triage'
    and not m.is_open
    and (getvariable('since') is null or m.created_at >= getvariable('since'))
    and (getvariable('until') is null or m.created_at < getvariable('until'))
  group by
    m.conversation_id, m.message_id, m.turn_id, m.created_at, m.session_label, m.message_order,
    m.is_passed_on, m.is_answered
),
message_totals as (
  select
    conversation_id,
    count(case when is_unanswered then 1 end) as messages,
    count(*) as unmentioned_messages,
    min(case when is_unanswered then created_at end) as first_written_at,
    max(case when is_unanswered then created_at end) as last_written_at,
    max_by(session_label, case when is_unanswered then message_order end) as session_label,
    max_by(turn_id, case when is_unanswered then message_order end) as turn_id,
    max_by(message_id, case when is_unanswered then message_order end) as message_id
  from unmentioned_message
  group by conversation_id
)
select
  left(t.conversation_id, 200) as resource,
  'alarm' as status,
  'Nobody passed on or answered ' || cast(t.messages as varchar) || ' of ' || cast(t.unmentioned_messages as varchar)
    || case when t.unmentioned_messages = 1 then ' message' else ' messages' end || ' in '
    || coalesce(c.name, left(t.conversation_id, 60)) || ' that mention'
    || case when t.unmentioned_messages = 1 then 's' else '' end || ' nobody.' as reason,
  'low' as severity,
  t.conversation_id, t.messages, t.unmentioned_messages,
  t.first_written_at, t.last_written_at, t.session_label, t.turn_id, t.message_id
from message_totals t
left join v_chat_names c on c.kind = 'chat' and c.id = t.conversation_id
where t.messages > 0
order by t.messages desc, t.conversation_id
