-- title: The chats that a question counts
-- question: Which chats fall into the project, origin, model, session and tag that were asked for?
-- why: Additions and removals count where the chat does; when they happened is for the question to look at.
-- grain: conversation
-- param project: text = none; only projects with this text in their path
-- param origin: text = none; only this origin
-- param model: text = none; only models with this text in their name
-- param session: text = none; only what counts for this session
-- param tag: text = none; only turns and sessions with this tag
-- column conversation_id: VARCHAR; the chat
-- column session_label: VARCHAR; the session of its messages; NULL where it has none
-- caveat: A chat without messages counts where nothing is filtered.
-- rows: only with chat_conversations, chat_participants
with known_chat as (
  select conversation_id from chat_participants
  union
  select id from chat_conversations
),
counted_session as (
  select routing_key, max(session_label) as session_label
  from v_counted_turns
  where left(routing_key, 13) = 'conversation:'
  group by routing_key
)
select c.conversation_id, s.session_label
from known_chat c
left join counted_session s on s.routing_key = 'conversation:' || c.conversation_id
where s.session_label is not null
  or (
    getvariable('project') is null and getvariable('origin') is null and getvariable('model') is null
    and getvariable('session') is null and getvariable('tag') is null
  )
