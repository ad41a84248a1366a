-- title: Removals that the owner had restricted
-- question: Who removed an agent that nobody may remove?
-- why: The owner of an agent may restrict its removal from chats; others must not end what it does there.
-- grain: conversation_id and agent_id
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column conversation_id: VARCHAR; the chat
-- column agent_id: VARCHAR; the agent
-- column agent_name: VARCHAR; its name
-- column owner_id: VARCHAR; its owner
-- column removed_by: VARCHAR; who removed it; NULL where the source does not say
-- column removed_at: BIGINT; when that was, in Unix ms; NULL where the source does not say
-- column session_label: VARCHAR; the session of the chat
-- shown: reason, severity, agent_name, removed_by, removed_at
-- empty: No agent was removed against the will of its owner.
-- next: `aix audit` shows all findings with what to do about each
-- caveat: Where the source does not say who removed an agent, this is to note and no alarm.
-- caveat: An agent acts for its owner and for those who wrote in the turn before it; where nobody is known, this is to note.
-- caveat: Where the source does not say who the owner of an agent is, nothing is concluded.
-- remedy: Ask its owner whether the agent may go, or add it to the chat again.
-- references: docs/chats.md#audits; who may remove an agent
-- rows: only with chat_participants
with changer as (
  select s.participant_id, bool_or(s.user_id = a.created_by) as is_owner
  from v_membership_changers s
  join chat_agents a on a.id = s.agent_id
  where s.change = 'removed'
  group by s.participant_id
),
removal as (
  select
    r.conversation_id, a.id as agent_id, a.name as agent_name, a.created_by as owner_id,
    r.changed_by as removed_by, r.changed_at as removed_at, c.session_label,
    -- For whom an agent did it is not known where nobody wrote before, or the time is unknown.
    coalesce(r.changer_kind = 'agent' and (s.participant_id is null or r.changed_at is null), false) as is_unclear
  from v_membership_changes r
  join chat_agents a on a.id = r.agent_id
  join v_counted_chats c on c.conversation_id = r.conversation_id
  left join changer s on s.participant_id = r.participant_id
  where r.change = 'removed'
    and a.is_removal_restricted
    and a.created_by is not null
    and not coalesce(s.is_owner, false)
    and coalesce(r.changed_by <> a.id, true)
    and (getvariable('since') is null or r.changed_at >= getvariable('since'))
    and (getvariable('until') is null or r.changed_at < getvariable('until'))
),
removal_totals as (
  select
    conversation_id, agent_id,
    max(agent_name) as agent_name,
    max(owner_id) as owner_id,
    bool_and(removed_by is null or is_unclear) as is_note,
    coalesce(max(case when not is_unclear then removed_by end), max(removed_by)) as removed_by,
    max(removed_at) as removed_at,
    max(session_label) as session_label
  from removal
  group by conversation_id, agent_id
)
select
  left(r.conversation_id || ': ' || coalesce(r.agent_name, r.agent_id), 200) as resource,
  case when r.is_note then 'info' else 'alarm' end as status,
  coalesce(n.name, left(r.removed_by, 60), 'It is not known who') || ' removed '
    || left(coalesce(r.agent_name, r.agent_id), 60) || ' from ' || coalesce(c.name, left(r.conversation_id, 60))
    || ', but only ' || coalesce(o.name, left(r.owner_id, 60))
    || case when r.is_note and r.removed_by is not null then ' may; it is not known for whom.' else ' may.' end as reason,
  case when not r.is_note then 'medium' end as severity,
  r.conversation_id, r.agent_id, r.agent_name, r.owner_id, r.removed_by, r.removed_at, r.session_label
from removal_totals r
left join v_chat_names n on n.kind = 'member' and n.id = r.removed_by
left join v_chat_names o on o.kind = 'member' and o.id = r.owner_id
left join v_chat_names c on c.kind = 'chat' and c.id = r.conversation_id
order by r.removed_at, r.conversation_id, r.agent_id
