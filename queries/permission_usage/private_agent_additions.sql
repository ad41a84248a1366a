-- title: Private agents added by someone other than their owner
-- question: Who added a private agent without being allowed to?
-- why: A private agent can see and do what its owner can; who adds it to a chat shares that with all who take part.
-- grain: agent_id and added_by
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column agent_id: VARCHAR; the agent
-- column agent_name: VARCHAR; its name
-- column owner_id: VARCHAR; its owner
-- column added_by: VARCHAR; who added it; NULL where the source does not say
-- column conversations: BIGINT; chats that it was added to
-- column is_inferred: BOOLEAN; whether the source only says that the agent is not public, or says that it is both
-- column first_added_at: BIGINT; when that was first done, in Unix ms; NULL where the source does not say
-- column last_added_at: BIGINT; when that was last done, in Unix ms; NULL where the source does not say
-- column conversation_id: VARCHAR; one of the chats
-- column session_label: VARCHAR; the session of its messages
-- shown: reason, severity, agent_name, added_by, conversations, last_added_at
-- empty: No private agent was added to a chat by someone other than its owner and invited users.
-- next: `aix audit` shows all findings with what to do about each
-- caveat: Where the source does not say who added an agent, it is to note when nobody in the chat may use it.
-- caveat: An agent may add what its owner, or somebody who wrote in the turn before it, may; unknown people are to note.
-- caveat: Rights are those of the newest records; an addition before a recorded change to private is to note.
-- remedy: Ask its owner to share the agent, or remove it from the chat.
-- references: docs/chats.md#audits; who may use an agent
-- rows: only with chat_agents

-- Chats with people in them.
with peopled_chat as (
  select conversation_id from v_chat_memberships where kind = 'user' and member_id is not null group by conversation_id
),
-- Private agents that somebody in the chat may use.
chat_right as (
  select m.conversation_id, i.agent_id
  from v_chat_memberships m
  join v_private_agents i on i.user_id = m.member_id
  where m.kind = 'user'
  group by m.conversation_id, i.agent_id
),
-- Whether those for whom a member was added may use it.
changer as (
  select s.participant_id, bool_or(i.agent_id is not null) as is_permitted
  from v_membership_changers s
  left join v_private_agents i on i.agent_id = s.agent_id and i.user_id = s.user_id
  where s.change = 'added'
  group by s.participant_id
),
-- Additions of private agents by nobody who may use them.
foreign_addition as (
  select
    a.agent_id, a.agent_name, a.owner_id, a.is_inferred, a.is_shared,
    p.changed_by as added_by, p.changed_at as added_at, p.conversation_id, c.session_label,
    coalesce(p.changed_at < a.private_since, false) as is_earlier,
    -- For whom an agent did it is not known where nobody wrote before, or the time is unknown.
    p.changer_kind = 'agent' and (s.participant_id is null or p.changed_at is null) as is_unclear
  from v_membership_changes p
  join v_private_agents a on a.agent_id = p.agent_id and a.user_id = a.owner_id
  join v_counted_chats c on c.conversation_id = p.conversation_id
  left join changer s on s.participant_id = p.participant_id
  left join peopled_chat h on h.conversation_id = p.conversation_id
  left join chat_right r on r.conversation_id = p.conversation_id and r.agent_id = p.agent_id
  where p.change = 'added'
    and not coalesce(s.is_permitted, false)
    and (
      p.changed_by <> a.agent_id
      or (p.changed_by is null and h.conversation_id is not null and r.agent_id is null)
    )
    and (getvariable('since') is null or p.changed_at >= getvariable('since'))
    and (getvariable('until') is null or p.changed_at < getvariable('until'))
),
-- Those of which too little is known are notes.
judged_addition as (
  select
    agent_id, agent_name, owner_id, is_inferred, is_shared, added_by, added_at, conversation_id, session_label,
    is_earlier, coalesce(is_unclear, false) as is_unclear,
    added_by is null or is_earlier or coalesce(is_unclear, false) as is_note
  from foreign_addition
),
-- Notes count only where there is no alarm.
judged_pair as (
  select agent_id, added_by, bool_and(is_note) as is_note
  from judged_addition
  group by agent_id, added_by
),
-- Additions by agent and who added it.
addition_totals as (
  select
    a.agent_id, a.added_by, a.is_note,
    max(a.agent_name) as agent_name,
    max(a.owner_id) as owner_id,
    count(distinct a.conversation_id) as conversations,
    bool_or(a.is_inferred) as is_inferred,
    bool_or(a.is_shared) as is_shared,
    bool_and(a.is_earlier) as is_earlier,
    bool_or(a.is_unclear) as is_unclear,
    min(a.added_at) as first_added_at,
    max(a.added_at) as last_added_at,
    max(a.conversation_id) as conversation_id,
    max_by(a.session_label, a.conversation_id) as session_label
  from judged_addition a
  join judged_pair j
    on j.agent_id = a.agent_id and j.added_by is not distinct from a.added_by and j.is_note = a.is_note
  group by a.agent_id, a.added_by, a.is_note
)
select
  left(coalesce(t.agent_name, t.agent_id), 200) as resource,
  case when t.is_note then 'info' else 'alarm' end as status,
  coalesce(n.name, left(t.added_by, 60), 'It is not known who') || ' added '
    || left(coalesce(t.agent_name, t.agent_id), 60) || ' to '
    || case
      when t.conversations = 1 then coalesce(c.name, left(t.conversation_id, 60))
      else cast(t.conversations as varchar) || ' chats'
    end
    || ', but only ' || coalesce(o.name, left(t.owner_id, 60)) || case when t.is_shared then ' and invited users' else '' end
    || case
      when t.is_earlier then ' may since it became private.'
      when t.is_unclear then ' may; it is not known for whom.'
      else ' may.'
    end as reason,
  case when not t.is_note then 'medium' end as severity,
  t.agent_id, t.agent_name, t.owner_id, t.added_by, t.conversations, t.is_inferred, t.first_added_at, t.last_added_at,
  t.conversation_id, t.session_label
from addition_totals t
left join v_chat_names n on n.kind = 'member' and n.id = t.added_by
left join v_chat_names o on o.kind = 'member' and o.id = t.owner_id
left join v_chat_names c on c.kind = 'chat' and c.id = t.conversation_id
order by t.conversations desc, t.agent_id, t.added_by nulls last
