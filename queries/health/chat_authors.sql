-- title: The author of a message in a chat takes part in it
-- question: Which messages of chats have an author who does not take part in the chat, or was removed before?
-- why: The participants of a chat are those that may write in it; an author beside them got around that, or the export lacks some.
-- grain: message and chat
-- invariant: C1
-- severity: warning
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: Messages that name no author are not judged, nor authors of whom it is not known when they were removed.
with chat as (
  select label, substr(routing_key, 14) as conversation_id from sessions where routing_key like 'conversation:%'
),
chat_message as (
  select
    m.id, m.created_at, c.conversation_id,
    case when json_valid(m.metadata_json) then json_extract_string(m.metadata_json, '$.authorParticipantId') end as author
  from chat c
  join session_turns t on t.session_label = c.label
  join messages m on m.turn_id = t.turn_id
)
select 'messages' as table_name, m.id as row_id,
  case
    when p.id is null then 'Its author ' || left(m.author, 100) || ' takes part in no chat.'
    when p.conversation_id <> m.conversation_id
      then 'Its author ' || left(m.author, 100) || ' takes part in the chat ' || left(p.conversation_id, 100)
        || ', not in ' || left(m.conversation_id, 100) || '.'
    else 'Its author ' || left(m.author, 100) || ' was removed from the chat '
      || cast(m.created_at - p.removed_at as varchar) || ' ms before.'
  end as reason
from chat_message m
left join chat_participants p on p.id = m.author
where left(m.author, 1) not in ('{', '[')
  and (p.id is null or p.conversation_id <> m.conversation_id or p.removed_at < m.created_at)
order by row_id, reason
