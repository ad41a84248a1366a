-- title: Private agents and who may use them
-- question: Which agents may not everybody use, and which users did their owners invite?
-- why: New agents are public; a private one is for its owner and for the users that its owner invited.
-- grain: agent and user
-- column agent_id: VARCHAR; the agent
-- column agent_name: VARCHAR; its name
-- column owner_id: VARCHAR; its owner
-- column user_id: VARCHAR; a user who may use it: its owner or an invited one
-- column is_shared: BOOLEAN; whether its owner invited users
-- column is_inferred: BOOLEAN; whether the source only says that the agent is not public, or says that it is both
-- column private_since: BIGINT; the last recorded change to private, in Unix ms; NULL where none is recorded
-- rows: only with chat_agents
with change_to_private as (
  select agent_id, max(changed_at) as private_since
  from chat_agent_changes
  where regexp_matches(lower(action), 'privat')
  group by agent_id
),
private_agent as (
  select
    a.id as agent_id, a.name as agent_name, a.created_by as owner_id,
    not coalesce(a.is_private, false) or coalesce(a.is_public, false) as is_inferred,
    c.private_since,
    a.invited_users,
    case when json_valid(a.invited_users) then cast(json_array_length(a.invited_users) as bigint) else 0 end as invited
  from chat_agents a
  left join change_to_private c on c.agent_id = a.id
  where (a.is_private or (a.is_private is null and not a.is_public)) and a.created_by is not null
),
invitation as (
  select
    agent_id, agent_name, owner_id, is_inferred, private_since, invited_users,
    unnest(generate_series(0, invited - 1)) as place
  from private_agent
  where invited > 0
)
select agent_id, agent_name, owner_id, owner_id as user_id, invited > 0 as is_shared, is_inferred, private_since
from private_agent
union
select agent_id, agent_name, owner_id, json_extract_string(invited_users, '$[' || place || ']'), true, is_inferred,
  private_since
from invitation
