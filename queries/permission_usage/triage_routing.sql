-- title: Who answers messages that mention nobody
-- question: Who answers the messages that mention nobody?
-- why: Triage passes such messages to agents; this shows to whom, and how many stay without an answer.
-- grain: conversation_id and agent_id
-- params: filters
-- column conversation_id: VARCHAR; the chat
-- column title: VARCHAR; its title
-- column agent_id: VARCHAR; the agent that answered; NULL where none did
-- column agent_name: VARCHAR; its name
-- column messages: BIGINT; messages of people without a mention that it answered, or that nobody did
-- column routed_messages: BIGINT; those of them that a triage agent passed on with a message of its own
-- column unmentioned_messages: BIGINT; all messages of people without a mention in the chat
-- column message_share: DOUBLE; part of these in this row, from 0 to 1
-- column handled_share: DOUBLE; part of these that any agent answered, from 0 to 1
-- column last_written_at: BIGINT; the last message of the row, in Unix ms; NULL where nobody knows
-- column session_label: VARCHAR; the session of the chat
-- shown: conversation_id, agent_name, messages, routed_messages, message_share, handled_share
-- empty: No chat has a message of a person that mentions nobody.
-- next: `aix query unrouted_messages` shows the chats in which triage left messages unanswered
-- caveat: A message that several agents answered is in several rows, so shares of a chat may add up to more than 1.
-- caveat: An answer is an agent's message later in the turn, unless an agent was mentioned in between.
-- caveat: Only messages whose author is known count.
-- references: docs/chats.md#audits; which messages triage passes on
-- rows: only with chat_agents, chat_conversations, chat_participants, chat_users
with agent_message as (
  select turn_id, author_id, max(author_name) as author_name, max(message_order) as message_order
  from v_chat_messages
  where author_kind = 'agent' and author_id is not null and not is_triage
  group by turn_id, author_id
),
unmentioned_message as (
  select
    m.conversation_id, m.message_id, m.created_at, m.session_label, m.is_passed_on as is_routed,
    w.author_id as agent_id, w.author_name as agent_name
  from v_unmentioned_messages m
  left join agent_message w on w.turn_id = m.turn_id and w.message_order > m.message_order and m.is_answered
  where (getvariable('since') is null or m.created_at >= getvariable('since'))
    and (getvariable('until') is null or m.created_at < getvariable('until'))
),
chat_totals as (
  select
    conversation_id,
    count(distinct message_id) as unmentioned_messages,
    count(distinct case when agent_id is not null then message_id end) as handled_messages
  from unmentioned_message
  group by conversation_id
),
agent_totals as (
  select
    conversation_id, agent_id,
    max(agent_name) as agent_name,
    count(*) as messages,
    count(case when is_routed then 1 end) as routed_messages,
    max(created_at) as last_written_at,
    max(session_label) as session_label
  from unmentioned_message
  group by conversation_id, agent_id
)
select
  n.conversation_id, c.title, n.agent_id, n.agent_name, n.messages, n.routed_messages, t.unmentioned_messages,
  cast(n.messages as double) / t.unmentioned_messages as message_share,
  cast(t.handled_messages as double) / t.unmentioned_messages as handled_share,
  n.last_written_at, n.session_label
from agent_totals n
join chat_totals t on t.conversation_id = n.conversation_id
left join chat_conversations c on c.id = n.conversation_id
order by t.unmentioned_messages desc, n.conversation_id, n.messages desc, n.agent_id nulls last
