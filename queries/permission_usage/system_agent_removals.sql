-- title: System agents that were removed
-- question: Which system agents were removed from a chat?
-- why: System agents, such as the one that passes messages on, belong to every chat and cannot be removed.
-- grain: conversation_id and agent_id
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column conversation_id: VARCHAR; the chat
-- column agent_id: VARCHAR; the agent
-- column agent_name: VARCHAR; its name
-- column system_agent_kind: VARCHAR; which system agent it is
-- column removed_by: VARCHAR; who removed it; NULL where the source does not say
-- column removed_at: BIGINT; when that was, in Unix ms; NULL where the source does not say
-- column session_label: VARCHAR; the session of the chat
-- shown: reason, severity, agent_name, removed_by, removed_at
-- empty: No system agent was removed from a chat.
-- next: `aix audit` shows all findings with what to do about each
-- caveat: One that was added again counts too.
-- remedy: Add the system agent to the chat again.
-- references: docs/chats.md#audits; who may remove an agent
-- rows: only with chat_participants
with removal as (
  select
    r.conversation_id, a.id as agent_id,
    max(a.name) as agent_name,
    max(a.system_agent_kind) as system_agent_kind,
    max(r.changed_by) as removed_by,
    max(r.changed_at) as removed_at,
    max(c.session_label) as session_label
  from v_membership_changes r
  join chat_agents a on a.id = r.agent_id
  join v_counted_chats c on c.conversation_id = r.conversation_id
  where r.change = 'removed'
    and (a.kind = 'system_agent' or a.system_agent_kind is not null)
    and (getvariable('since') is null or r.changed_at >= getvariable('since'))
    and (getvariable('until') is null or r.changed_at < getvariable('until'))
  group by r.conversation_id, a.id
)
select
  left(r.conversation_id || ': ' || coalesce(r.agent_name, r.agent_id), 200) as resource,
  'alarm' as status,
  'The system agent ' || left(coalesce(r.agent_name, r.agent_id), 60) || ' was removed from '
    || coalesce(c.name, left(r.conversation_id, 60)) || coalesce(' by ' || coalesce(n.name, left(r.removed_by, 60)), '') || '.' as reason,
  'medium' as severity,
  r.conversation_id, r.agent_id, r.agent_name, r.system_agent_kind, r.removed_by, r.removed_at, r.session_label
from removal r
left join v_chat_names n on n.kind = 'member' and n.id = r.removed_by
left join v_chat_names c on c.kind = 'chat' and c.id = r.conversation_id
order by r.removed_at, r.conversation_id, r.agent_id
