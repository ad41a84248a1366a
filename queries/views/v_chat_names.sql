-- title: Names of members and chats
-- question: What is each person, agent and chat called?
-- why: Chats name their members, and an export its chats, by ids that say nothing to a reader.
-- grain: kind and id
-- column kind: VARCHAR; one of member, chat
-- column id: VARCHAR; the user, agent or conversation
-- column name: VARCHAR; the name, cut at 60 characters; of a chat its title in quotation marks, cut at 30
-- caveat: Where a user and an agent have one id, the user's name counts.
-- caveat: Those without a name have no row.
with given_name as (
  select 'member' as kind, id, name, 1 as place from chat_users
  union all
  select 'member', id, name, 2 from chat_agents
  union all
  select 'chat', id, title, 1 from chat_conversations
),
first_name as (
  select kind, id, min_by(name, place) as name from given_name where trim(name) <> '' group by kind, id
)
select
  kind, id,
  case
    when kind = 'member' then left(name, 60)
    when length(name) > 30 then '"' || left(name, 29) || '…"'
    else '"' || name || '"'
  end as name
from first_name
