-- title: The agents of chats that a question counts
-- question: Which agents take part in a chat that falls into what was asked for?
-- why: An agent belongs to no session; it counts where one of its chats does.
-- grain: agent
-- param project: text = none; only projects with this text in their path
-- param origin: text = none; only this origin
-- param model: text = none; only models with this text in their name
-- param session: text = none; only what counts for this session
-- param tag: text = none; only turns and sessions with this tag
-- column agent_id: VARCHAR; the agent
-- column session_label: VARCHAR; the session of one of its chats; NULL where it has none
-- caveat: An agent that takes part in no chat counts where nothing is filtered.
-- rows: only with chat_agents
with agent_chat as (
  select p.agent_id, max(c.session_label) as session_label
  from chat_participants p
  join v_counted_chats c on c.conversation_id = p.conversation_id
  where p.agent_id is not null
  group by p.agent_id
)
select a.id as agent_id, c.session_label
from chat_agents a
left join agent_chat c on c.agent_id = a.id
where c.agent_id is not null
  or (
    getvariable('project') is null and getvariable('origin') is null and getvariable('model') is null
    and getvariable('session') is null and getvariable('tag') is null
  )
