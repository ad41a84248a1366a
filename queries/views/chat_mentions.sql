-- title: Mentions of people and agents
-- question: Which messages mention whom, and is the one mentioned known?
-- why: A mention calls a person or an agent into a chat; messages of every origin may hold one.
-- grain: message and place
-- column message_id: VARCHAR; the message
-- column idx: BIGINT; place among the mentions of the message, from 0
-- column name: VARCHAR; the name as written, without its escapes
-- column kind: VARCHAR; what is mentioned, as written: user, agent or another word
-- column target_id: VARCHAR; the id as written, without its escapes
-- column start_char: BIGINT; where the mention starts in the text, in characters from 0
-- column end_char: BIGINT; where it ends, not included
-- column is_resolved: BOOLEAN; whether a user or agent of that kind and id is known
select
  m.message_id, m.idx, m.name, m.kind, m.target_id, m.start_char, m.end_char,
  u.id is not null or a.id is not null as is_resolved
from v_mentions m
left join chat_users u on m.kind = 'user' and u.id = m.target_id
left join chat_agents a on m.kind = 'agent' and a.id = m.target_id
