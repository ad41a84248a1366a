-- title: Additions to chats and removals from them
-- question: Who added or removed which member of a chat, and when?
-- why: Sources name the one who did it by user or agent, or by their own membership; audits compare people and agents.
-- grain: participant and change
-- column participant_id: VARCHAR; the membership that began or ended
-- column conversation_id: VARCHAR; the chat
-- column agent_id: VARCHAR; the agent that was added or removed; NULL where it is a person
-- column change: VARCHAR; one of added, removed
-- column changed_by: VARCHAR; the user or agent who did it; NULL where the source does not say
-- column changer_kind: VARCHAR; one of user, agent; NULL where nobody of that id is recorded
-- column changed_at: BIGINT; when that was, in Unix ms; NULL where the source does not say
-- rows: only with chat_participants
with membership_change as (
  select id, conversation_id, agent_id, 'added' as change, added_by as changed_by, added_at as changed_at
  from chat_participants
  union all
  select id, conversation_id, agent_id, 'removed', removed_by, removed_at
  from chat_participants
  where coalesce(is_removed, removed_at is not null)
)
select
  c.id as participant_id,
  c.conversation_id,
  c.agent_id,
  c.change,
  coalesce(m.member_id, c.changed_by) as changed_by,
  coalesce(m.kind, case when u.id is not null then 'user' when a.id is not null then 'agent' end) as changer_kind,
  c.changed_at
from membership_change c
left join v_chat_memberships m on m.participant_id = c.changed_by and m.member_id is not null
left join chat_users u on u.id = c.changed_by
left join chat_agents a on a.id = c.changed_by
