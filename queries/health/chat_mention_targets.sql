-- title: Mentions in chats name people and agents that are there
-- question: Which messages of chats mention somebody who is not known, or who is of another kind?
-- why: A message is routed by its mentions; one that names nobody reaches nobody.
-- grain: mention
-- invariant: C2
-- severity: warning
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: Mentions outside of chats are not judged: their people and agents are in no export.
with chat_message as (
  select t.turn_id, m.id
  from sessions s
  join session_turns t on t.session_label = s.label
  join messages m on m.turn_id = t.turn_id
  where s.routing_key like 'conversation:%'
)
select distinct 'messages' as table_name, x.message_id as row_id,
  case
    when x.kind not in ('user', 'agent') then 'It mentions ' || left(x.name, 100) || ' as ' || left(x.kind, 100) || ', not as user or agent.'
    when x.kind = 'user' and a.id is not null then 'It mentions the agent ' || left(x.target_id, 100) || ' as a user.'
    when x.kind = 'agent' and u.id is not null then 'It mentions the user ' || left(x.target_id, 100) || ' as an agent.'
    else 'It mentions the ' || x.kind || ' ' || left(x.target_id, 100) || ', who is not in the ledger.'
  end as reason
from chat_message c
join chat_mentions x on x.message_id = c.id
left join chat_users u on u.id = x.target_id
left join chat_agents a on a.id = x.target_id
where x.kind not in ('user', 'agent') or (x.kind = 'user' and u.id is null) or (x.kind = 'agent' and a.id is null)
order by row_id, reason
