-- title: Permission modes
-- question: How long was each mode used, and what was risked?
-- why: A mode that never asks takes the place of all rules, so it should not be where the risky calls are made.
-- grain: project and mode
-- params: filters
-- param idle_minutes: integer = 30; longer gaps than this do not count as time
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column project: VARCHAR; the project
-- column mode: VARCHAR; the permission mode, in the tool's word; NULL where no log has it
-- column sessions: BIGINT; sessions with a call in it
-- column minutes: DOUBLE; time in it
-- column calls: BIGINT; calls made in it
-- column high_risk_calls: BIGINT; of these, calls of high risk that were not denied
-- column medium_risk_calls: BIGINT; calls of medium risk that were not denied
-- column denied: BIGINT; calls that were denied
-- column first_called_at: BIGINT; the first call, in Unix ms
-- column last_called_at: BIGINT; the last call, in Unix ms
-- column session_label: VARCHAR; the session of the last of its worst calls
-- column turn_id: VARCHAR; its turn
-- column call_id: VARCHAR; the call
-- shown: reason, severity, mode, calls, high_risk_calls, medium_risk_calls, minutes, sessions, project
-- empty: No session has a known permission mode.
-- next: `aix audit` shows all findings with what to do about each
-- caveat: The marks of a session are its calls, and the start and the end of each turn with calls, which have the mode of the turn's first and last call. Time counts between a mark and the next when both have the same mode and no more than `idle_minutes` lie between them.
-- caveat: The mode is that in which a call was made, as far as the log tells. A turn without calls has none.
-- remedy: Use the mode that never asks only in containers. Elsewhere allow by rule: `aix audit propose --project PROJECT -o proposed.json` writes such rules.

-- Severities in their order.
with severity_level (severity, rank) as (
  values ('high', 3), ('medium', 2), ('low', 1)
),
-- The worst risk of each call.
worst_risk as (
  select r.call_id, max(l.rank) as rank
  from v_counted_risks r
  join severity_level l on l.severity = r.severity
  group by r.call_id
),
-- All calls, with the risk of those that were not denied.
counted_call as (
  select
    c.call_id, c.turn_id, c.session_label, c.called_at, c.mode, c.is_denied,
    coalesce(c.project, 'unknown') as project,
    case when c.is_denied then 0 else coalesce(r.rank, 0) end as rank,
    right('00000000000000' || cast(c.called_at as varchar), 15) || ' ' || c.call_id as call_order
  from v_counted_targets c
  left join worst_risk r on r.call_id = c.call_id
  where c.number = 0
),
-- When a turn began and ended, and the first and last mode that its calls show.
turn_span as (
  select
    m.turn_id,
    min(m.session_label) as session_label,
    min(m.project) as project,
    min_by(coalesce(m.mode, ''), m.call_order) as first_mode,
    max_by(coalesce(m.mode, ''), m.call_order) as last_mode,
    min(t.started_at) as started_at,
    max(coalesce(t.completed_at, m.called_at)) as ended_at
  from counted_call m
  join turns t on t.id = m.turn_id
  group by m.turn_id
),
-- Moments at which the mode is known: calls, and the beginning and end of turns.
mode_mark as (
  select session_label, project, coalesce(mode, '') as mode, called_at as marked_at, 1 as place from counted_call
  union all
  select session_label, project, first_mode, started_at, 0 from turn_span
  union all
  select session_label, project, last_mode, ended_at, 2 from turn_span
),
-- The time from each such moment to the next of its session.
mode_span as (
  select
    project, mode,
    lead(mode) over session_order as next_mode,
    marked_at,
    lead(marked_at) over session_order as next_marked_at
  from mode_mark
  window session_order as (partition by session_label order by marked_at, place, mode)
),
-- Time between moments of one mode, without pauses.
time_in_mode as (
  select project, mode, sum(next_marked_at - marked_at) as spent_ms
  from mode_span
  where next_mode = mode and next_marked_at - marked_at <= coalesce(getvariable('idle_minutes'), 30) * 60000
  group by project, mode
),
-- Calls by mode; the riskiest call is the example.
mode_totals as (
  select
    project, mode,
    count(distinct session_label) as sessions,
    count(*) as calls,
    count(case when rank = 3 then 1 end) as high_risk_calls,
    count(case when rank = 2 then 1 end) as medium_risk_calls,
    count(case when is_denied then 1 end) as denied,
    min(called_at) as first_called_at,
    max(called_at) as last_called_at,
    max_by(session_label, worst_order) as session_label,
    max_by(turn_id, worst_order) as turn_id,
    max_by(call_id, worst_order) as call_id
  from (select m.*, cast(m.rank as varchar) || m.call_order as worst_order from counted_call m) ordered
  group by project, mode
),
-- Both together, and how bad it is.
judged_mode as (
  select
    c.*,
    cast(coalesce(s.spent_ms, 0) as double) / 60000 as minutes,
    case
      when c.mode in ('bypassPermissions', 'auto', 'dontAsk') and c.high_risk_calls > 0 then 'high'
      when c.mode = 'bypassPermissions' then 'low'
    end as severity
  from mode_totals c
  left join time_in_mode s on s.project = c.project and s.mode = coalesce(c.mode, '')
)
select
  left(project || ': ' || coalesce(mode, 'permission mode unknown'), 200) as resource,
  case when severity is not null then 'alarm' when mode is null then 'skip' else 'info' end as status,
  case when mode is null then '' else 'Mode ' || left(mode, 200) || ': ' end
    || cast(calls as varchar) || case when calls = 1 then ' call in ' else ' calls in ' end
    || cast(sessions as varchar) || case when sessions = 1 then ' session' else ' sessions' end
    || ' of ' || left(coalesce(nullif(regexp_replace(replace(project, chr(92), '/'), '^.*/', ''), ''), project), 100)
    || case when mode is null then ', permission mode unknown; ' else '; ' end
    || case
      when high_risk_calls + medium_risk_calls = 0 then 'no risky call'
      when medium_risk_calls = 0 then cast(high_risk_calls as varchar) || ' high-risk'
      when high_risk_calls = 0 then cast(medium_risk_calls as varchar) || ' medium-risk'
      else cast(high_risk_calls as varchar) || ' high-risk and ' || cast(medium_risk_calls as varchar) || ' medium-risk'
    end
    || case
      when high_risk_calls + medium_risk_calls = 0 then ''
      when high_risk_calls + medium_risk_calls = 1 then ' call'
      else ' calls'
    end
    || ' got through.' as reason,
  severity, project, mode, sessions, minutes, calls, high_risk_calls, medium_risk_calls, denied,
  first_called_at, last_called_at, session_label, turn_id, call_id
from judged_mode
order by
  case when severity is not null then 0 when mode is not null then 1 else 2 end,
  case severity when 'high' then 0 when 'low' then 2 end,
  calls desc, project, mode
