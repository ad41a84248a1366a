-- title: Private agents mentioned by someone other than their owner
-- question: Who mentions a private agent, and may not?
-- why: A private agent can see and do what its owner can; who calls it borrows that.
-- grain: agent_id and author_id
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column agent_id: VARCHAR; the agent
-- column agent_name: VARCHAR; its name
-- column owner_id: VARCHAR; its owner
-- column author_kind: VARCHAR; one of user, agent
-- column author_id: VARCHAR; who mentions it
-- column mentions: BIGINT; messages that mention it
-- column conversations: BIGINT; chats of these
-- column is_inferred: BOOLEAN; whether the source only says that the agent is not public, or says that it is both
-- column first_mentioned_at: BIGINT; the first of these messages, in Unix ms
-- column last_mentioned_at: BIGINT; the last of them, in Unix ms
-- column session_label: VARCHAR; the session of the last of them
-- column turn_id: VARCHAR; its turn
-- column message_id: VARCHAR; the message
-- shown: reason, severity, agent_name, author_id, mentions, last_mentioned_at
-- empty: No private agent was mentioned by someone other than its owner and invited users.
-- next: `aix audit` shows all findings with what to do about each
-- caveat: Only messages whose author is known as a participant of a chat count.
-- caveat: An agent may mention what its owner, or somebody who wrote in the turn before it, may.
-- caveat: A mention by an agent in a turn in which nobody wrote before is to note where its owner is not known either.
-- caveat: Rights are those of the newest records; a mention before a recorded change to private is to note.
-- caveat: An agent is public unless the source marks it as private, or only says that it is not public.
-- remedy: Ask its owner to share the agent, or take the mention out.
-- references: docs/chats.md#audits; who may use an agent
-- rows: only with chat_agents

-- Messages and the agents that they mention.
with agent_mention as (
  select message_id, target_id as agent_id from v_mentions where kind = 'agent' group by message_id, target_id
),
-- Those of private agents by others than the agent.
private_mention as (
  select
    a.agent_id, a.agent_name, a.owner_id, a.is_inferred, a.is_shared,
    coalesce(m.created_at < a.private_since, false) as is_earlier,
    m.author_kind, m.author_id, m.conversation_id,
    m.message_id, m.turn_id, m.created_at, m.session_label, m.message_order
  from agent_mention x
  join v_private_agents a on a.agent_id = x.agent_id and a.user_id = a.owner_id
  join v_chat_messages m on m.message_id = x.message_id
  where m.author_id <> a.agent_id
    and (getvariable('since') is null or m.created_at >= getvariable('since'))
    and (getvariable('until') is null or m.created_at < getvariable('until'))
),
-- An agent acts for its owner, and for the people who wrote in the turn before it.
responsible_person as (
  select message_id, author_id as user_id from private_mention where author_kind = 'user'
  union
  select m.message_id, g.created_by
  from private_mention m
  join chat_agents g on g.id = m.author_id
  where m.author_kind = 'agent' and g.created_by is not null
  union
  select m.message_id, w.author_id
  from private_mention m
  join v_chat_messages w on w.turn_id = m.turn_id and w.message_order < m.message_order
  where m.author_kind = 'agent' and w.author_kind = 'user'
),
-- Those for which such a person may use the agent.
permitted_mention as (
  select m.message_id, m.agent_id
  from private_mention m
  join responsible_person s on s.message_id = m.message_id
  join v_private_agents i on i.agent_id = m.agent_id and i.user_id = s.user_id
  group by m.message_id, m.agent_id
),
-- Messages for which somebody is known.
message_with_person as (
  select message_id from responsible_person group by message_id
),
-- Mentions that nobody known permits; those of which too little is known are notes.
foreign_mention as (
  select
    m.agent_id, m.agent_name, m.owner_id, m.is_inferred, m.is_shared, m.author_kind, m.author_id, m.conversation_id,
    m.message_id, m.turn_id, m.created_at, m.session_label, m.message_order, m.is_earlier,
    m.is_earlier or p.message_id is null as is_note
  from private_mention m
  left join permitted_mention i on i.message_id = m.message_id and i.agent_id = m.agent_id
  left join message_with_person p on p.message_id = m.message_id
  where i.message_id is null
),
-- Notes count only where there is no alarm.
judged_pair as (
  select agent_id, author_kind, author_id, bool_and(is_note) as is_note
  from foreign_mention
  group by agent_id, author_kind, author_id
),
-- Mentions by agent and author.
mention_totals as (
  select
    m.agent_id, m.author_kind, m.author_id, m.is_note,
    max(m.agent_name) as agent_name,
    max(m.owner_id) as owner_id,
    count(distinct m.message_id) as mentions,
    count(distinct m.conversation_id) as conversations,
    bool_or(m.is_inferred) as is_inferred,
    bool_or(m.is_shared) as is_shared,
    bool_and(m.is_earlier) as is_earlier,
    min(m.created_at) as first_mentioned_at,
    max(m.created_at) as last_mentioned_at,
    max_by(m.session_label, m.message_order) as session_label,
    max_by(m.turn_id, m.message_order) as turn_id,
    max_by(m.message_id, m.message_order) as message_id
  from foreign_mention m
  join judged_pair j
    on j.agent_id = m.agent_id and j.author_kind = m.author_kind and j.author_id = m.author_id and j.is_note = m.is_note
  group by m.agent_id, m.author_kind, m.author_id, m.is_note
)
select
  left(coalesce(t.agent_name, t.agent_id), 200) as resource,
  case when t.is_note then 'info' else 'alarm' end as status,
  coalesce(n.name, left(t.author_id, 60)) || ' mentions ' || left(coalesce(t.agent_name, t.agent_id), 60)
    || ', which only ' || coalesce(o.name, left(t.owner_id, 60))
    || case when t.is_shared then ' and invited users' else '' end || ' may use'
    || case
      when not t.is_note then ''
      when t.is_earlier then ' since it became private'
      else ', not known for whom'
    end
    || case when t.mentions = 1 then '' else ' (' || cast(t.mentions as varchar) || ' messages)' end || '.' as reason,
  case when not t.is_note then 'medium' end as severity,
  t.agent_id, t.agent_name, t.owner_id, t.author_kind, t.author_id, t.mentions, t.conversations, t.is_inferred,
  t.first_mentioned_at, t.last_mentioned_at, t.session_label, t.turn_id, t.message_id
from mention_totals t
left join v_chat_names n on n.kind = 'member' and n.id = t.author_id
left join v_chat_names o on o.kind = 'member' and o.id = t.owner_id
order by t.mentions desc, t.agent_id, t.author_id
