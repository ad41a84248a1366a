-- title: Denials, and what the agent did next
-- question: Which calls were denied, and what happened next?
-- why: A denial that is asked for every day should become a rule, and one that is walked around protects nothing.
-- grain: project, tool_name, target and cause
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column project: VARCHAR; the project
-- column tool_name: VARCHAR; the tool
-- column target: VARCHAR; its commands with commas, else its path, host, server or agent, at most 200 characters
-- column cause: VARCHAR; one of user, not_granted, rule, mode, hook, directory, interrupted
-- column calls: BIGINT; calls that were denied
-- column sessions: BIGINT; their sessions
-- column retried_same: BIGINT; after which the agent made the very same call next
-- column another_way: BIGINT; after which it went another way round next
-- column another_way_ran: BIGINT; of these, the ways round that ran
-- column gave_up: BIGINT; after which it made no further call in the turn
-- column other: BIGINT; after which it did something else
-- column most_retries: BIGINT; how often a session made the very same call again after it was denied, at most
-- column way_round: VARCHAR; the last way round, one that ran before others, at most 200 characters
-- column evidence: VARCHAR; the text or field of the log that shows the example, at most 500 characters
-- column evidence_basis: VARCHAR; text where the log's words show it, field where a field does, inference where it was concluded
-- column is_inferred: BOOLEAN; whether the example was concluded rather than read, or the row tells of a way round
-- column first_called_at: BIGINT; the first of the calls, in Unix ms
-- column last_called_at: BIGINT; the last of them, in Unix ms
-- column session_label: VARCHAR; the session of the example: the last denial that was walked around, else the last
-- column turn_id: VARCHAR; its turn
-- column call_id: VARCHAR; its call
-- shown: target, tool_name, calls, cause, project, session_label, severity, way_round, reason
-- empty: No call was denied.
-- next: `aix audit` shows all findings with what to do about each
-- caveat: What comes next are the calls of the next message of the same turn that makes any. The same call has the same tool and parameters.
-- caveat: Another way round is a different call that names the same path, host, server, agent or command, or is of the same class of risk other than network. That it was meant so is inferred.
-- caveat: Commands that only look, and `cd`, make no way round. After a user's denial the same tool with the same target asks again, so that it ran is no alarm.
-- caveat: After a denial because of its folder, what reaches the same path outside of the project is a low alarm: people may have granted it by hand, which is not logged.
-- caveat: After a denial by a hook or a mode, or for want of a grant, a way round is no alarm: these often tell the agent to go another way.
-- caveat: An interrupted call is no denial.
-- remedy: Read the session with `aix show SESSION`. Deny the other way as well, or allow what is needed every day.
-- references: docs/permissions.md#what-became-of-it; outcomes, and a way round

-- Calls that were denied or interrupted, each once.
with refused_call as (
  select
    call_id,
    min(session_label) as session_label,
    min(turn_id) as turn_id,
    min(called_at) as called_at,
    coalesce(min(project), 'unknown') as project,
    min(tool_name) as tool_name,
    case when min(outcome) in ('interrupted', 'not_granted') then min(outcome) else replace(min(outcome), 'denied_', '') end
      as cause,
    min(left(evidence, 500)) as evidence,
    min(evidence_basis) as evidence_basis
  from v_counted_targets
  where is_denied or outcome = 'interrupted'
  group by call_id
),
-- The commands, paths, hosts and the like that such a call names, in one text.
refused_target as (
  select call_id, string_agg(target, ', ' order by target) as target
  from (
    select r.call_id, t.target
    from refused_call r
    join call_targets t on t.call_id = r.call_id
    where t.target is not null and (t.kind = 'command' or coalesce(t.class, '') <> 'exec')
    group by r.call_id, t.target
  ) distinct_target
  group by call_id
),
-- Only sessions with such a call are looked at further.
watched_session as (
  select session_label from refused_call group by session_label
),
-- All calls of these sessions, by the message that made them: one step of the agent.
session_call as (
  select
    k.call_id, k.session_label, k.turn_id, k.tool_name, k.params_hash, k.requested_at, d.outcome, d.raw_target,
    coalesce(k.message_id, k.call_id) as step
  from v_calls k
  join watched_session w on w.session_label = k.session_label
  join permission_decisions d on d.call_id = k.call_id
),
-- Each step with the one after it in its turn.
agent_step as (
  select
    turn_id, step,
    lead(step) over (partition by turn_id order by began_at, step) as next_step
  from (
    select m.turn_id, m.step, min(t.called_at) as began_at
    from session_call m
    join call_targets t on t.call_id = m.call_id and t.number = 0
    group by m.turn_id, m.step
  ) each_step
),
-- What a call touches, to compare calls by; programs that only look around say nothing about intent.
touched_target as (
  select t.call_id, t.kind, left(t.target, 500) as target
  from watched_session w
  join call_targets t on t.session_label = w.session_label
  where t.target is not null and t.kind in ('command', 'path', 'host', 'server', 'agent')
    and not (
      t.kind = 'command'
      and coalesce(t.program, '') in (
        'cd', 'ls', 'pwd', 'echo', 'cat', 'head', 'tail', 'grep', 'rg', 'find', 'wc', 'sort', 'which', 'sleep', 'true', 'test'
      )
    )
  union
  select k.call_id, 'risk', k.risk
  from watched_session w
  join call_targets t on t.session_label = w.session_label
  join call_risks k on k.call_id = t.call_id and k.number = t.number
  where k.risk <> 'network'
),
-- Paths outside of the workspace that a call was denied for.
blocked_path as (
  select call_id, left(target, 500) as target
  from v_counted_targets
  where outcome = 'denied_directory' and kind = 'path' and is_outside
  group by call_id, left(target, 500)
),
-- The calls of the step after a refused one, and whether they are the same call.
next_call as (
  select
    r.call_id, n.call_id as next_call_id, n.outcome, n.raw_target, n.tool_name = r.tool_name as is_same_tool,
    n.tool_name = r.tool_name and n.params_hash = m.params_hash as is_same
  from refused_call r
  join session_call m on m.call_id = r.call_id
  join agent_step s on s.turn_id = m.turn_id and s.step = m.step
  join session_call n on n.turn_id = m.turn_id and n.step = s.next_step
),
-- Other calls of that step that touch the same target or risk the same.
similar_next_call as (
  select
    l.call_id, l.next_call_id,
    max(case when a.kind = 'risk' then 0 else 1 end) as is_same_target,
    max(case when p.call_id is not null then 1 else 0 end) as is_blocked_path
  from next_call l
  join touched_target a on a.call_id = l.call_id
  join touched_target b on b.call_id = l.next_call_id and b.kind = a.kind and b.target = a.target
  left join blocked_path p on p.call_id = a.call_id and p.target = a.target and a.kind = 'path'
  where not coalesce(l.is_same, false)
  group by l.call_id, l.next_call_id
),
-- The agent's next step as a whole.
reaction as (
  select
    l.call_id,
    max(case when l.is_same then 1 else 0 end) as has_retry,
    max(case when a.call_id is not null then 1 else 0 end) as has_way,
    max(case when a.call_id is not null and l.outcome = 'ran' then 1 else 0 end) as has_way_that_ran,
    max(case when a.call_id is not null and l.outcome = 'ran' and (not l.is_same_tool or a.is_same_target = 0) then 1 else 0 end)
      as has_new_way_that_ran,
    max(case when a.is_blocked_path = 1 and l.outcome = 'ran' then 1 else 0 end) as has_reached_path,
    max_by(l.raw_target, case when a.call_id is null then '0' when l.outcome = 'ran' then '2' else '1' end || l.next_call_id)
      as way_round
  from next_call l
  left join similar_next_call a on a.call_id = l.call_id and a.next_call_id = l.next_call_id
  group by l.call_id
),
-- The same call made again at any time later, counted at its first denial.
retry_count as (
  select first_denied.call_id, count(*) as retries
  from (
    select
      r.call_id, r.session_label, r.called_at, m.tool_name, m.params_hash,
      row_number() over (
        partition by r.session_label, m.tool_name, m.params_hash order by r.called_at, r.call_id
      ) as place
    from refused_call r
    join session_call m on m.call_id = r.call_id
  ) first_denied
  join session_call n
    on n.session_label = first_denied.session_label and n.tool_name = first_denied.tool_name
    and n.params_hash = first_denied.params_hash and n.call_id <> first_denied.call_id
  join call_targets t on t.call_id = n.call_id and t.number = 0 and t.called_at >= first_denied.called_at
  where first_denied.place = 1
  group by first_denied.call_id
),
-- Each refused call with the name of what was done next.
judged_denial as (
  select
    r.*,
    left(coalesce(n.target, ''), 200) as target,
    case
      when f.call_id is null then 'gave_up'
      when f.has_retry = 1 then 'retried_same'
      when f.has_way = 1 then 'another_way'
      else 'other'
    end as next_done,
    coalesce(f.has_retry = 0 and f.has_way_that_ran = 1, false) as has_run,
    coalesce(
      f.has_retry = 0
        and case r.cause
          when 'rule' then f.has_way_that_ran
          when 'user' then f.has_new_way_that_ran
          when 'directory' then f.has_reached_path
        end = 1,
      false
    ) as is_walked_around,
    case when f.has_retry = 0 and f.has_way = 1 then left(f.way_round, 200) end as way_round,
    coalesce(t.retries, 0) as retries
  from refused_call r
  left join refused_target n on n.call_id = r.call_id
  left join reaction f on f.call_id = r.call_id
  left join retry_count t on t.call_id = r.call_id
),
-- The most telling denial of a group comes last in this order, and is its example.
ordered_denial as (
  select
    j.*,
    case when j.is_walked_around then '3' when j.has_run then '2' when j.next_done = 'another_way' then '1' else '0' end
      || right('00000000000000' || cast(j.called_at as varchar), 15) || ' ' || j.call_id as example_order
  from judged_denial j
),
-- One row for each project, tool, target and cause.
denial_totals as (
  select
    project, tool_name, target, cause,
    count(*) as calls,
    count(distinct session_label) as sessions,
    count(case when next_done = 'retried_same' then 1 end) as retried_same,
    count(case when next_done = 'another_way' then 1 end) as another_way,
    count(case when has_run then 1 end) as another_way_ran,
    count(case when next_done = 'gave_up' then 1 end) as gave_up,
    count(case when next_done = 'other' then 1 end) as other,
    count(case when is_walked_around then 1 end) as walked_around,
    max(retries) as most_retries,
    max_by(way_round, example_order) as way_round,
    max_by(evidence, example_order) as evidence,
    max_by(evidence_basis, example_order) as evidence_basis,
    min(called_at) as first_called_at,
    max(called_at) as last_called_at,
    max_by(session_label, example_order) as session_label,
    max_by(turn_id, example_order) as turn_id,
    max_by(call_id, example_order) as call_id
  from ordered_denial
  group by project, tool_name, target, cause
),
-- How bad it is, and the beginning of the sentence about it.
denial_finding as (
  select
    c.*,
    case
      when c.cause = 'interrupted' then null
      when c.walked_around > 0 and c.cause <> 'directory' then 'medium'
      when c.walked_around > 0 or c.most_retries >= 3 then 'low'
    end as severity,
    cast(c.calls as varchar) || case when c.calls = 1 then ' call was ' else ' calls were ' end as counted
  from denial_totals c
)
select
  left(project || ': ' || tool_name || case when target in ('', tool_name) then '' else ' ' || target end, 200) as resource,
  case when severity is null then 'info' else 'alarm' end as status,
  counted
    || case cause
      when 'interrupted' then 'interrupted, which is no denial'
      when 'user' then 'denied by the user'
      when 'not_granted' then 'denied because nobody granted it'
      when 'rule' then 'denied by a rule'
      when 'mode' then 'denied by the mode'
      when 'hook' then 'denied by a hook'
      else 'denied because of its folder'
    end
    || case
      when walked_around > 0 then '; the agent got around that ' || case when walked_around = 1 then 'once' else cast(walked_around as varchar) || ' times' end
        || ': `' || way_round || '`'
      when most_retries >= 3 then '; a session made the same call ' || cast(most_retries as varchar) || ' times more'
      when another_way > 0 then '; the agent tried another way ' || case when another_way = 1 then 'once' else cast(another_way as varchar) || ' times' end
        || ': `' || way_round || '`'
      else ''
    end || '.' as reason,
  severity, project, tool_name,
  nullif(target, '') as target,
  cause, calls, sessions, retried_same, another_way, another_way_ran, gave_up, other, most_retries, way_round, evidence,
  evidence_basis,
  coalesce(evidence_basis = 'inference', false) or another_way > 0 as is_inferred,
  first_called_at, last_called_at, session_label, turn_id, call_id
from denial_finding
order by
  case when severity is null then 1 else 0 end,
  case severity when 'medium' then 0 else 1 end,
  case when cause = 'interrupted' then 1 else 0 end,
  calls desc, project, tool_name, target nulls first, cause
