-- title: Outside the sandbox of the persona
-- question: What was reached outside the persona's sandbox?
-- why: The sandbox says where an agent may work; nothing but the logs says where it did.
-- grain: persona, access and place
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column persona_id: VARCHAR; the persona
-- column access: VARCHAR; read, write or host
-- column place: VARCHAR; the file, folder or host; NULL for what lies within
-- column is_inferred: BOOLEAN; whether the row rests on a conclusion rather than on what log and file say
-- column calls: BIGINT; calls that ran
-- column sessions: BIGINT; their sessions
-- column first_called_at: BIGINT; the first of them, in Unix ms
-- column last_called_at: BIGINT; the last of them, in Unix ms
-- column session_label: VARCHAR; the session of the last such call
-- column turn_id: VARCHAR; its turn
-- column call_id: VARCHAR; the last such call
-- shown: severity, persona_id, access, place, calls, reason
-- empty: No call of a persona with a sandbox reached a folder or a host.
-- next: `aix audit explain CALL` shows one call
-- caveat: Only places that a call names are known; a program may reach others.
-- caveat: A path that may lie anywhere, because the folder of its call is not known, is skipped.
-- remedy: Bound the tool itself, or add the place to the sandbox in the file of personas.
-- references: docs/personas.md#what-a-persona-may-do; the sandbox

-- Places that calls of personas reached, where the persona lists such places.
with reached_place as (
  select
    p.persona_id,
    case when c.kind = 'host' then 'host' else c.access end as access,
    replace(lower(case when c.kind = 'host' then c.target end), '\', '/') as host,
    case when c.kind = 'path' then
      case when substring(c.target, 2, 1) = ':' then upper(left(c.target, 1)) else left(c.target, 1) end
      || replace(right(c.target, length(c.target) - 1), '\', '/')
    end as path,
    c.target, c.is_outside, c.session_label, c.turn_id, c.call_id, c.called_at,
    right('00000000000000' || cast(c.called_at as varchar), 15) || ' ' || c.call_id as call_order
  from v_counted_targets c
  join v_session_personas s on s.session_label = c.session_label
  join personas p on p.persona_id = s.persona_id
  where c.outcome = 'ran'
    and (
      (c.kind = 'host' and p.has_host_list)
      or (c.kind = 'path' and c.access = 'read' and p.has_read_list)
      or (c.kind = 'path' and c.access = 'write' and p.has_write_list)
    )
),
-- Whether one of the places that are listed is it, or is above it.
listed_place as (
  select distinct r.persona_id, r.access, r.target, r.is_outside
  from (select distinct persona_id, access, target, host, path, is_outside from reached_place) r
  join persona_permissions m on m.persona_id = r.persona_id and m.kind = r.access
  where r.host = m.value
    or (left(m.value, 2) = '*.' and right(r.host, length(m.value) - 1) = right(m.value, length(m.value) - 1))
    or (m.value = 'workspace' and r.path is not null and not r.is_outside)
    or r.path = m.value
    or left(r.path, length(m.value) + 1) = m.value || '/'
    or (m.value = '/' and left(r.path, 1) = '/')
),
judged_place as (
  select
    r.*,
    case
      when l.persona_id is not null then 'within'
      when r.path is not null and r.is_outside is null
        and (w.persona_id is not null or (left(r.path, 1) not in ('/', '~') and substring(r.path, 2, 1) <> ':'))
        then 'unknown'
      else 'outside'
    end as place_kind
  from reached_place r
  left join listed_place l
    on l.persona_id = r.persona_id and l.access = r.access and l.target = r.target
    and l.is_outside is not distinct from r.is_outside
  left join persona_permissions w
    on w.persona_id = r.persona_id and w.kind = r.access and w.value = 'workspace'
),
place_totals as (
  select
    persona_id, access, place_kind,
    case when place_kind = 'outside' then target end as place,
    count(distinct call_id) as calls,
    count(distinct session_label) as sessions,
    min(called_at) as first_called_at,
    max(called_at) as last_called_at,
    max_by(session_label, call_order) as session_label,
    max_by(turn_id, call_order) as turn_id,
    max_by(call_id, call_order) as call_id
  from judged_place
  group by 1, 2, 3, 4
)
select
  left(persona_id || ': ' || coalesce(place, access), 200) as resource,
  case place_kind when 'outside' then 'alarm' when 'within' then 'ok' else 'skip' end as status,
  cast(calls as varchar) || case when calls = 1 then ' call' else ' calls' end
    || case access when 'host' then ' reached ' when 'write' then ' wrote to ' else ' read ' end
    || case place_kind
      when 'outside' then left(place, 200) || ', which the sandbox of the persona ' || persona_id || ' does not list.'
      when 'within' then case access when 'host' then 'hosts' else 'places' end || ' that the sandbox of the persona '
        || persona_id || ' lists.'
      else 'paths whose folder is not known.'
    end as reason,
  case when place_kind = 'outside' then case access when 'read' then 'low' else 'medium' end end as severity,
  persona_id, access, place,
  false as is_inferred,
  calls, sessions, first_called_at, last_called_at, session_label, turn_id, call_id
from place_totals
order by
  case place_kind when 'outside' then 0 when 'within' then 1 else 2 end,
  case access when 'read' then 1 else 0 end,
  calls desc, persona_id, access, place
