-- title: Messages of people in chats that mention nobody
-- question: Which messages of people mention nobody, and were they passed on or answered?
-- why: Triage passes such messages to agents; an answer to a later mention is no answer to them.
-- grain: message
-- param project: text = none; only projects with this text in their path
-- param origin: text = none; only this origin
-- param model: text = none; only models with this text in their name
-- param session: text = none; only what counts for this session
-- param tag: text = none; only turns and sessions with this tag
-- column message_id: VARCHAR; the message
-- column turn_id: VARCHAR; its turn
-- column session_label: VARCHAR; the session of the chat
-- column conversation_id: VARCHAR; the chat
-- column created_at: BIGINT; when it was written, in Unix ms; NULL where nobody knows
-- column message_order: VARCHAR; a text by which messages sort in order of time
-- column is_passed_on: BOOLEAN; whether a triage agent mentions another agent that is known later in the turn
-- column is_answered: BOOLEAN; whether an agent that is not triage speaks later in the turn, asked by nothing else
-- column is_open: BOOLEAN; whether no agent has spoken in the chat since
with mention as (
  select message_id, bool_or(kind = 'agent') as has_agent
  from v_mentions
  where kind in ('user', 'agent')
  group by message_id
),
-- Triage that mentions itself, or an agent that does not exist, passes a message on to nobody.
passing_message as (
  select m.message_id
  from v_chat_messages m
  join v_mentions x on x.message_id = m.message_id
  join chat_agents a on a.id = x.target_id
  where m.is_triage and x.kind = 'agent' and x.target_id <> m.author_id
  group by m.message_id
),
turn_speech as (
  select
    m.turn_id,
    max(case when p.message_id is not null then m.message_order end) as passed_on,
    max(case when m.author_kind = 'agent' and not m.is_triage then m.message_order end) as answered,
    max(case when coalesce(m.author_kind, 'user') = 'user' and x.has_agent then m.message_order end) as asked
  from v_chat_messages m
  left join mention x on x.message_id = m.message_id
  left join passing_message p on p.message_id = m.message_id
  group by m.turn_id
),
chat_speech as (
  select conversation_id, max(message_order) as spoken
  from v_chat_messages
  where author_kind = 'agent'
  group by conversation_id
)
select
  m.message_id, m.turn_id, m.session_label, m.conversation_id, nullif(m.created_at, 0) as created_at, m.message_order,
  coalesce(s.passed_on > m.message_order, false) as is_passed_on,
  coalesce(s.answered > m.message_order, false)
    and (coalesce(s.passed_on > m.message_order, false) or coalesce(s.asked < m.message_order, true)) as is_answered,
  coalesce(c.spoken < m.message_order, true) as is_open
from v_chat_messages m
join turn_speech s on s.turn_id = m.turn_id
left join chat_speech c on c.conversation_id = m.conversation_id
left join mention x on x.message_id = m.message_id
where m.author_kind = 'user' and x.message_id is null
