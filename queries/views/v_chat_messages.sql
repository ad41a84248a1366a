-- title: The messages of chats that a question counts
-- question: Who wrote which message in which chat?
-- why: Audits of chats are about authors; a message names its author only in the record that it came in.
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
-- column created_at: BIGINT; when it was written, in Unix ms
-- column message_order: VARCHAR; a text by which messages sort in order of time
-- column stated_author: VARCHAR; its author as the message states it: a participant, or else a user or agent
-- column participant_id: VARCHAR; the membership of its author; NULL where the author is not known
-- column author_kind: VARCHAR; one of user, agent; NULL where the author is not known
-- column author_id: VARCHAR; its author
-- column author_name: VARCHAR; the name of the author
-- column is_triage: BOOLEAN; whether the author is the agent that passes messages on
-- caveat: A chat is a session with a routing key `conversation:ID`.
with chat_message as (
  select
    m.id as message_id, m.turn_id, n.session_label,
    right(n.routing_key, length(n.routing_key) - 13) as conversation_id,
    m.created_at, coalesce(f.position, 0) as position,
    case when json_valid(m.metadata_json) then json_extract_string(m.metadata_json, '$.authorParticipantId') end as author
  from v_counted_turns n
  join messages m on m.turn_id = n.turn_id
  left join message_facts f on f.message_id = m.id
  where left(n.routing_key, 13) = 'conversation:'
),
-- An author that is not text names nobody.
authored_message as (
  select
    message_id, turn_id, session_label, conversation_id, created_at, position,
    case when left(author, 1) not in ('{', '[') then author end as stated_author
  from chat_message
)
select
  m.message_id,
  m.turn_id,
  m.session_label,
  m.conversation_id,
  m.created_at,
  right('00000000000000' || cast(m.created_at as varchar), 15)
    || right('000000000' || cast(m.position as varchar), 10) || ' ' || m.message_id as message_order,
  m.stated_author,
  p.id as participant_id,
  coalesce(p.kind, case when u.id is not null then 'user' when a.id is not null then 'agent' end) as author_kind,
  case when p.id is null then coalesce(u.id, a.id) when p.kind = 'user' then p.user_id else p.agent_id end as author_id,
  case when p.kind = 'agent' or u.id is null then a.name else u.name end as author_name,
  coalesce(lower(a.system_agent_kind) = 'triage', false) as is_triage
from authored_message m
left join chat_participants p on p.id = m.stated_author
left join chat_users u on u.id = case when p.id is null then m.stated_author else p.user_id end
left join chat_agents a on a.id = case when p.id is null then m.stated_author else p.agent_id end
