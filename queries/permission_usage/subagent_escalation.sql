-- title: Subagents that did what their parents could not
-- question: Which subagents did more than they were allowed to?
-- why: What is delegated is watched less, so a subagent should never be the way round a denial.
-- grain: project, agent, cause and tool_name
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column project: VARCHAR; the project
-- column agent: VARCHAR; subagent with its kind
-- column cause: VARCHAR; denied_by_rule, denied_to_parent, plan_of_parent, wider_mode, asked, not_allowed, new_tool; within and unknown for the rest
-- column tool_name: VARCHAR; the tool; NULL for the rest
-- column rule: VARCHAR; the rule that decides about the last such call, where one does
-- column parent_mode: VARCHAR; the mode in which the parent started the last such subagent
-- column is_inferred: BOOLEAN; whether the row rests on a conclusion rather than on what log and settings say
-- column calls: BIGINT; calls that ran
-- column sessions: BIGINT; sessions of subagents that made them
-- column first_called_at: BIGINT; the first of them, in Unix ms
-- column last_called_at: BIGINT; the last of them, in Unix ms
-- column session_label: VARCHAR; the session of the last such call
-- column turn_id: VARCHAR; its turn
-- column call_id: VARCHAR; the last such call
-- shown: reason, severity, calls, agent, tool_name, cause, project
-- empty: No subagent did what its parent could not.
-- next: `aix audit` shows all findings with what to do about each
-- caveat: Only calls with the outcome `ran` count, each for the worst of its causes.
-- caveat: A subagent ran what its parent was denied when its call names the same target later; alike but not the same text is inferred.
-- caveat: In plan mode a tool lets commands that only read run; what other commands do is inferred.
-- caveat: A mode is wider than another in the order plan, default, acceptEdits, auto, bypassPermissions.
-- caveat: Calls that rules ask for or do not allow, and tools that the parent never called, are to note and no alarm.
-- remedy: Give the agent its own tools and mode in its definition, or deny the call for all agents.

-- Subagents with their parent, and the mode in which it started them.
with subagent as (
  select
    s.label as session_label,
    p.label as parent_label,
    d.mode as parent_mode
  from sessions s
  left join v_turn_owner o on o.turn_id = s.parent_turn_id
  left join sessions p on p.label = coalesce(o.session_label, s.parent_session_label)
  left join permission_decisions d on d.call_id = s.spawn_tool_call_id
  where s.is_subagent = 1
),
-- Each parent once.
parent_session as (
  select parent_label from subagent where parent_label is not null group by parent_label
),
-- Tools that a parent called itself.
parent_tool as (
  select t.session_label, t.tool_name
  from call_targets t
  join parent_session p on p.parent_label = t.session_label
  group by t.session_label, t.tool_name
),
-- Calls that were denied to a parent, with the number of their targets.
refused_call as (
  select t.call_id, t.session_label, t.called_at, d.raw_target, count(*) as parts
  from call_targets t
  join parent_session p on p.parent_label = t.session_label
  join permission_decisions d on d.call_id = t.call_id
  where t.is_denied
  group by t.call_id, t.session_label, t.called_at, d.raw_target
),
-- Each only once and from when on, so that nothing is paired with all that is alike.
refused_call_target as (
  select r.session_label, t.kind, t.access, t.target, r.raw_target, min(r.parts) as parts, min(r.called_at) as refused_at
  from refused_call r
  join call_targets t on t.call_id = r.call_id
  where t.target is not null
  group by r.session_label, t.kind, t.access, t.target, r.raw_target
),
-- Targets that alone were a whole denied call: what they stand for was denied for certain.
refused_target as (
  select session_label, kind, access, target, min(refused_at) as refused_at
  from refused_call_target
  where parts = 1
  group by session_label, kind, access, target
),
-- What subagents ran.
subagent_target as (
  select t.call_id, t.kind, t.access, t.target, t.called_at, d.raw_target, c.parent_label
  from v_counted_targets t
  join subagent c on c.session_label = t.session_label
  join permission_decisions d on d.call_id = t.call_id
  where t.is_subagent and t.outcome = 'ran' and t.target is not null and c.parent_label is not null
),
-- Calls of subagents that ran after the same, or something alike, was denied to the parent.
way_round as (
  select k.call_id, max(case when s.session_label is not null then 1 else 0 end) as is_same
  from subagent_target k
  left join refused_call_target s
    on s.session_label = k.parent_label and s.kind = k.kind and s.access = k.access and s.target = k.target
    and s.raw_target = k.raw_target and s.refused_at <= k.called_at
  left join refused_target r
    on r.session_label = k.parent_label and r.kind = k.kind and r.access = k.access and r.target = k.target
    and r.refused_at <= k.called_at
  where s.session_label is not null or r.session_label is not null
  group by k.call_id
),
-- Modes by how much they let pass.
mode_width (mode, width) as (
  values ('plan', 0), ('default', 1), ('acceptEdits', 2), ('auto', 3), ('bypassPermissions', 4)
),
-- Each call that a subagent ran, with the worst that can be said of it.
judged_call as (
  select
    j.*,
    c.parent_mode,
    w.is_same,
    case
      when j.decision = 'deny' and not j.is_later_rule then 'denied_by_rule'
      when w.call_id is not null then 'denied_to_parent'
      when c.parent_mode = 'plan' and (j.class = 'write' or (j.class = 'exec' and not j.runs_by_itself))
        then 'plan_of_parent'
      when m.width > n.width and j.class in ('write', 'exec', 'net', 'mcp') then 'wider_mode'
      when j.decision = 'ask' and not j.is_later_rule then 'asked'
      when j.is_grant_known and j.decision = 'none' and not j.runs_by_itself and coalesce(j.class, '') <> 'ask'
        then 'not_allowed'
      when c.parent_label is null and j.decision is null then 'unknown'
      when c.parent_label is not null and t.tool_name is null then 'new_tool'
      else 'within'
    end as cause
  from v_judged_calls j
  left join subagent c on c.session_label = j.session_label
  left join way_round w on w.call_id = j.call_id
  left join mode_width m on m.mode = j.mode
  left join mode_width n on n.mode = c.parent_mode
  left join parent_tool t on t.session_label = c.parent_label and t.tool_name = j.tool_name
  where j.is_subagent and j.outcome = 'ran'
),
-- One row for each project, agent, cause and tool.
cause_totals as (
  select
    project, agent, cause,
    case when cause not in ('within', 'unknown') then tool_name end as tool_name,
    max_by(rule, call_order) as rule,
    max_by(parent_mode, call_order) as parent_mode,
    max(mode) as widest_mode,
    max(is_same) as is_same,
    max(class) as class,
    count(*) as calls,
    count(distinct session_label) as sessions,
    min(called_at) as first_called_at,
    max(called_at) as last_called_at,
    max_by(session_label, call_order) as session_label,
    max_by(turn_id, call_order) as turn_id,
    max_by(call_id, call_order) as call_id
  from judged_call
  group by project, agent, cause, case when cause not in ('within', 'unknown') then tool_name end
),
-- How bad it is, and the parts of the sentence about it.
cause_finding as (
  select
    f.*,
    case
      when f.cause in ('denied_by_rule', 'denied_to_parent', 'plan_of_parent', 'wider_mode') then 'alarm'
      when f.cause = 'within' then 'ok'
      when f.cause = 'unknown' then 'skip'
      else 'info'
    end as status,
    case
      when f.cause = 'denied_by_rule' or (f.cause = 'denied_to_parent' and f.is_same = 1) then 'high'
      when f.cause in ('denied_to_parent', 'plan_of_parent') then 'medium'
      when f.cause = 'wider_mode' then case when f.widest_mode = 'bypassPermissions' then 'medium' else 'low' end
    end as severity,
    cast(f.calls as varchar) || case when f.calls = 1 then ' call' else ' calls' end as counted,
    '; the last is `' || left(coalesce(d.raw_target, f.tool_name), 200) || '`.' as shown
  from cause_totals f
  left join permission_decisions d on d.call_id = f.call_id
)
select
  left(project || ': ' || agent || coalesce(': ' || tool_name, ''), 200) as resource,
  status,
  case cause
    when 'denied_by_rule' then counted || ' ran although '
      || coalesce('the deny rule ' || left(rule, 200), 'the tool by itself') || ' denies it' || shown
    when 'denied_to_parent' then counted || ' ran after the parent was denied '
      || case when is_same = 1 then 'the same' else 'something alike' end || shown
    when 'plan_of_parent' then counted || ' that '
      || case when class = 'write' then 'changed files' else 'may do more than read' end
      || ' ran for a parent in plan mode' || shown
    when 'wider_mode' then counted || ' ran in a wider mode than that of the parent, ' || parent_mode || shown
    when 'asked' then counted || ' ran that ' || coalesce('the rule ' || left(rule, 200), 'the tool by itself')
      || ' asks for, and a grant by hand is not logged' || shown
    when 'not_allowed' then counted || ' ran that no rule allows, and a grant by hand is not logged' || shown
    when 'new_tool' then counted || ' ran of a tool that the parent never called' || shown
    when 'within' then counted || ' ran within what rules and the parent may do.'
    else counted || ' ran of which neither rules nor the parent are known.'
  end as reason,
  severity, project, agent, cause, tool_name, rule, parent_mode,
  cause in ('asked', 'not_allowed')
    or (cause = 'denied_by_rule' and rule is null)
    or (cause = 'denied_to_parent' and is_same = 0)
    or (cause = 'plan_of_parent' and class <> 'write') as is_inferred,
  calls, sessions, first_called_at, last_called_at, session_label, turn_id, call_id
from cause_finding
order by
  case status when 'alarm' then 0 when 'info' then 1 when 'ok' then 2 else 3 end,
  case severity when 'high' then 0 when 'medium' then 1 else 2 end,
  calls desc, project, agent, cause, tool_name
