-- title: Agents changed by someone other than their owner
-- question: Who changed or shared an agent of somebody else?
-- why: Only its creator may edit or delete an agent, or change who may use it.
-- grain: agent_id, action and changed_by
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column agent_id: VARCHAR; the agent
-- column agent_name: VARCHAR; its name
-- column owner_id: VARCHAR; its owner
-- column action: VARCHAR; what was done, in the word of the source
-- column changed_by: VARCHAR; who did it
-- column changes: BIGINT; how often
-- column first_changed_at: BIGINT; when that was first done, in Unix ms; NULL where the source does not say
-- column last_changed_at: BIGINT; when that was last done, in Unix ms; NULL where the source does not say
-- column session_label: VARCHAR; the session of one of the agent's chats
-- shown: reason, severity, agent_name, action, changed_by, last_changed_at
-- empty: No agent was changed by someone other than its owner, as far as sources record changes.
-- next: `aix audit` shows all findings with what to do about each
-- caveat: Where the source does not say who changed an agent, or who its owner is, nothing is concluded.
-- caveat: Every action counts but `viewed`, `read`, `listed`, `opened`, `mentioned`, `added`, `called` and the like.
-- remedy: Ask its owner whether the change was meant, and undo it if not.
-- references: docs/chats.md#audits; who may change an agent
-- rows: only with chat_agent_changes
with foreign_change as (
  select
    a.id as agent_id, x.action,
    coalesce(p.member_id, x.changed_by) as changed_by,
    max(a.name) as agent_name,
    max(a.created_by) as owner_id,
    count(*) as changes,
    min(x.changed_at) as first_changed_at,
    max(x.changed_at) as last_changed_at,
    max(c.session_label) as session_label
  from chat_agent_changes x
  join chat_agents a on a.id = x.agent_id
  join v_counted_chat_agents c on c.agent_id = a.id
  left join v_chat_memberships p on p.participant_id = x.changed_by
  where coalesce(p.member_id, x.changed_by) <> a.created_by
    -- Whole words, since those that begin alike change the agent: `opened_to_everyone`, `call_limit_raised`.
    and not regexp_matches(
      lower(x.action),
      '^(agent[ _.:-])?(view(ed)?|read|get|got|list(ed)?|sho(w|wn|wed)|fetch(ed)?|open(ed)?|mention(ed)?|add(ed)?|call(ed)?'
        || '|invoked?|reply|replied|answer(ed)?|used?|run|ran)(([ _.:-]public)?[ _.:-](agent|profile))?$'
    )
    and (getvariable('since') is null or x.changed_at >= getvariable('since'))
    and (getvariable('until') is null or x.changed_at < getvariable('until'))
  group by a.id, x.action, coalesce(p.member_id, x.changed_by)
)
select
  left(coalesce(c.agent_name, c.agent_id), 200) as resource,
  'alarm' as status,
  coalesce(n.name, left(c.changed_by, 60)) || ' '
    || case
      when regexp_matches(lower(c.action), '^made_(public|private)$')
        then 'made ' || left(coalesce(c.agent_name, c.agent_id), 60) || ' ' || substr(lower(c.action), 6)
      when regexp_matches(lower(c.action), '^[a-z]+ed$') then lower(c.action) || ' ' || left(coalesce(c.agent_name, c.agent_id), 60)
      else 'changed ' || left(coalesce(c.agent_name, c.agent_id), 60) || ' (' || left(c.action, 60) || ')'
    end
    || ', which only ' || coalesce(o.name, left(c.owner_id, 60)) || ' may change'
    || case when c.changes = 1 then '' else ' (' || cast(c.changes as varchar) || ' times)' end || '.' as reason,
  case when regexp_matches(lower(c.action), 'publi|privat|visib|delet|remov|eras|hid') then 'high' else 'medium' end as severity,
  c.agent_id, c.agent_name, c.owner_id, c.action, c.changed_by, c.changes, c.first_changed_at, c.last_changed_at,
  c.session_label
from foreign_change c
left join v_chat_names n on n.kind = 'member' and n.id = c.changed_by
left join v_chat_names o on o.kind = 'member' and o.id = c.owner_id
order by c.changes desc, c.agent_id, c.action, c.changed_by
