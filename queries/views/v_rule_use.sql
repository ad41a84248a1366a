-- title: Each rule with its use in the calls that a question counts
-- question: Where does a rule hold, how many calls were made there, and how many of them did it match and decide?
-- why: What is not used can go, and what is used shows how narrow a rule could be.
-- grain: rule
-- params: filters
-- column origin: VARCHAR; whose rule it is
-- column scope: VARCHAR; whose settings hold it
-- column file: VARCHAR; the settings file
-- column kind: VARCHAR; what it does: allow, ask, deny, directory
-- column rule: VARCHAR; the rule as it is written
-- column position: BIGINT; place in its list, from 0
-- column first_seen_at: BIGINT; when it was first seen, in Unix ms
-- column folder: VARCHAR; the folder in which it holds, with all below; NULL where that is everywhere
-- column is_tool_wide: BOOLEAN; whether it speaks of all that a tool or a server can do
-- column calls_there: BIGINT; calls of its origin where it holds
-- column hits: BIGINT; calls of which it matches all or a part
-- column deciding_hits: BIGINT; calls whose decision rests on it
-- column sessions: BIGINT; sessions of these calls
-- column targets: BIGINT; different texts that it matched: commands, paths, hosts, servers
-- column first_hit_at: BIGINT; when it first matched, in Unix ms
-- column last_hit_at: BIGINT; when it last matched, in Unix ms
-- column session_label: VARCHAR; the session of the last such call
-- column turn_id: VARCHAR; its turn
-- column call_id: VARCHAR; the last such call
-- caveat: With a project, session or tag, only rules are given that hold where its calls were made, and those of settings within the project.
with counted_call as (
  select
    call_id, called_at, session_label, turn_id, origin, cwd,
    right('00000000000000' || cast(called_at as varchar), 15) || ' ' || call_id as call_order
  from v_counted_targets
  where number = 0
),
call_place as (
  select origin, cwd, count(*) as calls from counted_call group by origin, cwd
),
file_reach as (
  select r.origin, r.scope, r.file, cast(sum(p.calls) as bigint) as calls
  from v_rule_places r
  join call_place p on p.origin = r.origin and p.cwd = r.cwd
  group by r.origin, r.scope, r.file
),
hit_totals as (
  select
    m.origin, m.scope, m.file, m.kind, m.rule,
    count(*) as hits,
    count(case when m.is_deciding then 1 end) as deciding_hits,
    count(distinct c.session_label) as sessions,
    count(distinct d.raw_target) as targets,
    min(c.called_at) as first_hit_at,
    max(c.called_at) as last_hit_at,
    max(c.call_order) as last_call
  from rule_matches m
  join counted_call c on c.call_id = m.call_id
  join permission_decisions d on d.call_id = m.call_id
  group by m.origin, m.scope, m.file, m.kind, m.rule
)
select
  r.origin, r.scope, r.file, r.kind, r.rule, r.position, r.first_seen_at, r.folder, r.is_tool_wide,
  coalesce(p.calls, 0) as calls_there,
  coalesce(h.hits, 0) as hits,
  coalesce(h.deciding_hits, 0) as deciding_hits,
  coalesce(h.sessions, 0) as sessions,
  coalesce(h.targets, 0) as targets,
  h.first_hit_at, h.last_hit_at, l.session_label, l.turn_id, l.call_id
from v_rules r
left join file_reach p on p.origin = r.origin and p.scope = r.scope and p.file = r.file
left join hit_totals h
  on h.origin = r.origin and h.scope = r.scope and h.file = r.file and h.kind = r.kind and h.rule = r.rule
left join counted_call l on l.call_order = h.last_call
where (getvariable('origin') is null or r.origin = getvariable('origin'))
  and (
    (getvariable('project') is null and getvariable('session') is null and getvariable('tag') is null)
    or p.calls is not null
    or contains(lower(r.folder), lower(getvariable('project')))
  )
