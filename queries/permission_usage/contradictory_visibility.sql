-- title: Agents that are both public and private
-- question: Which agents are marked as public and as private?
-- why: Nobody can say who may use such an agent; a program may take it for public.
-- grain: agent_id
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column agent_id: VARCHAR; the agent
-- column agent_name: VARCHAR; its name
-- column owner_id: VARCHAR; its owner
-- column last_active_at: BIGINT; when it last spoke, in Unix ms
-- column session_label: VARCHAR; the session of one of its chats
-- shown: reason, severity, agent_name, owner_id, last_active_at
-- empty: No agent is marked as both public and private.
-- next: `aix audit` shows all findings with what to do about each
-- caveat: With a limit of time, agents count that last spoke within it.
-- remedy: Let its owner choose one of the two.
-- references: docs/chats.md#audits; who may use an agent
-- rows: only with chat_agents
select
  left(coalesce(a.name, a.id), 200) as resource,
  'alarm' as status,
  left(coalesce(a.name, a.id), 60) || ' is marked as public and as private'
    || coalesce('; its owner is ' || coalesce(o.name, left(a.created_by, 60)), '') || '.' as reason,
  'medium' as severity,
  a.id as agent_id, a.name as agent_name, a.created_by as owner_id, a.last_active_at, c.session_label
from chat_agents a
join v_counted_chat_agents c on c.agent_id = a.id
left join v_chat_names o on o.kind = 'member' and o.id = a.created_by
where a.is_public and a.is_private
  and (getvariable('since') is null or a.last_active_at >= getvariable('since'))
  and (getvariable('until') is null or a.last_active_at < getvariable('until'))
order by a.id
