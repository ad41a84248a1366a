-- title: People for whom members of chats were added and removed
-- question: For whom was a member of a chat added or removed?
-- why: An agent acts for its owner, and for the people who wrote in the turn before it; their right to do so counts.
-- grain: participant, change and user
-- param project: text = none; only projects with this text in their path
-- param origin: text = none; only this origin
-- param model: text = none; only models with this text in their name
-- param session: text = none; only what counts for this session
-- param tag: text = none; only turns and sessions with this tag
-- column participant_id: VARCHAR; the membership that began or ended
-- column agent_id: VARCHAR; the agent that was added or removed; NULL where it is a person
-- column change: VARCHAR; one of added, removed
-- column user_id: VARCHAR; the person who did it, or for whom an agent did
-- caveat: The turn of a change is the one that the last message before it belongs to.
-- rows: only with chat_participants
with change_by_agent as (
  select participant_id, agent_id, change, conversation_id, changed_by, changed_at
  from v_membership_changes
  where changer_kind = 'agent'
),
change_turn as (
  select c.participant_id, c.agent_id, c.change, c.changed_at, max_by(w.turn_id, w.message_order) as turn_id
  from change_by_agent c
  join v_chat_messages w on w.conversation_id = c.conversation_id and w.created_at <= c.changed_at
  group by c.participant_id, c.agent_id, c.change, c.changed_at
)
select participant_id, agent_id, change, changed_by as user_id
from v_membership_changes
where changed_by is not null and coalesce(changer_kind, 'user') = 'user'
union
select c.participant_id, c.agent_id, c.change, a.created_by
from change_by_agent c
join chat_agents a on a.id = c.changed_by
where a.created_by is not null
union
select t.participant_id, t.agent_id, t.change, w.author_id
from change_turn t
join v_chat_messages w on w.turn_id = t.turn_id and w.created_at <= t.changed_at
where w.author_kind = 'user' and w.author_id is not null
