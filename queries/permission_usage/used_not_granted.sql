-- title: Used but not granted
-- question: Which calls ran although no rule lets them run?
-- why: Either a rule does not do what its author thinks, or something goes past the rules.
-- grain: project, cause, agent, tool_name, file and rule
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column project: VARCHAR; the project
-- column cause: VARCHAR; denied, denied_later, plan_mode, plan_file, never_asked, asked, not_allowed; granted and unknown for the rest of a project
-- column agent: VARCHAR; main, or subagent with its kind; NULL for the rest of a project
-- column tool_name: VARCHAR; the tool
-- column file: VARCHAR; the settings file of the deciding rule
-- column rule: VARCHAR; the deciding rule
-- column is_inferred: BOOLEAN; whether the row rests on a conclusion rather than on what log and settings say
-- column calls: BIGINT; calls that ran
-- column sessions: BIGINT; their sessions
-- column first_called_at: BIGINT; the first of them, in Unix ms
-- column last_called_at: BIGINT; the last of them, in Unix ms
-- column session_label: VARCHAR; the session of the last such call
-- column turn_id: VARCHAR; its turn
-- column call_id: VARCHAR; the last such call
-- shown: reason, severity, calls, tool_name, cause, agent, project
-- empty: No call ran against the known rules.
-- next: `aix audit` shows all findings with what to do about each
-- caveat: Only calls with the outcome `ran` count: one that failed may never have begun.
-- caveat: What people grant by hand is not logged. A call that rules ask for, or do not allow, is to note and no alarm.
-- caveat: What the rules decide follows the documentation of each tool, and the rules are those that an import last found.
-- caveat: In plan mode a tool lets commands that only read run, and writes the plan itself to a folder of its own.
-- caveat: Where only deny rules are known, what is allowed is not known: such calls are skipped.
-- remedy: Read the call with `aix audit explain CALL`. Correct the rule that should have stopped it.
-- references: docs/permissions.md#how-they-decide; the order of deny, ask and allow
with judged_call as (
  select
    c.*,
    case
      when c.decision = 'deny' and not c.is_later_rule then 'denied'
      when c.decision = 'deny' then 'denied_later'
      when c.mode = 'plan' and c.class = 'write' and c.is_outside and regexp_matches(c.target, '/plans/[^/]+[.]md$')
        then 'plan_file'
      when c.mode = 'plan' and (c.class = 'write' or (c.class = 'exec' and not c.runs_by_itself)) then 'plan_mode'
      when c.decision = 'allow' or c.class = 'ask' or (c.decision = 'none' and c.runs_by_itself) then 'granted'
      when c.mode in ('bypassPermissions', 'auto') then 'granted'
      when c.mode = 'acceptEdits' and c.class = 'write' then 'granted'
      when c.decision is null or (c.decision = 'none' and not c.is_grant_known) then 'unknown'
      when c.mode = 'dontAsk' then 'never_asked'
      when c.decision = 'ask' then 'asked'
      else 'not_allowed'
    end as cause
  from v_judged_calls c
  where c.outcome = 'ran'
),
cause_totals as (
  select
    project, cause,
    case when cause not in ('granted', 'unknown') then agent end as agent,
    case when cause not in ('granted', 'unknown') then tool_name end as tool_name,
    case when cause in ('denied', 'denied_later', 'asked') then file end as file,
    case when cause in ('denied', 'denied_later', 'asked') then rule end as rule,
    count(*) as calls,
    count(distinct session_label) as sessions,
    min(called_at) as first_called_at,
    max(called_at) as last_called_at,
    max_by(session_label, call_order) as session_label,
    max_by(turn_id, call_order) as turn_id,
    max_by(call_id, call_order) as call_id,
    max(class) as class
  from judged_call
  group by 1, 2, 3, 4, 5, 6
),
cause_finding as (
  select
    f.*,
    case
      when f.cause in ('denied', 'plan_mode', 'never_asked') then 'alarm'
      when f.cause = 'unknown' then 'skip'
      when f.cause = 'granted' then 'ok'
      else 'info'
    end as status,
    case
      when f.cause = 'denied' and f.rule is not null then 'high'
      when f.cause in ('denied', 'plan_mode') then 'medium'
      when f.cause = 'never_asked' then 'low'
    end as severity,
    cast(f.calls as varchar) || case when f.calls = 1 then ' call' else ' calls' end as counted,
    '; the last is `' || left(coalesce(d.raw_target, f.tool_name), 200) || '`.' as shown
  from cause_totals f
  left join permission_decisions d on d.call_id = f.call_id
)
select
  left(project || coalesce(': ' || agent || ': ' || coalesce(rule, tool_name), ''), 200) as resource,
  status,
  case cause
    when 'denied' then counted || ' ran although '
      || coalesce('the deny rule ' || left(rule, 200), 'the tool by itself') || ' denies it' || shown
    when 'denied_later' then counted || ' ran that the deny rule ' || left(rule, 200)
      || ' matches, but it was first seen later' || shown
    when 'plan_mode' then counted || ' that '
      || case when class = 'write' then 'changed files' else 'may do more than read' end || ' ran in plan mode' || shown
    when 'plan_file' then counted || ' wrote a plan in plan mode, which is what it is for' || shown
    when 'never_asked' then counted || ' ran that no rule allows, in a mode that denies such calls'
      || ', but rules of the command line are not known' || shown
    when 'asked' then counted || ' ran that ' || coalesce('the rule ' || left(rule, 200), 'the tool by itself')
      || ' asks for, and a grant by hand is not logged' || shown
    when 'not_allowed' then counted || ' ran that no rule allows, and a grant by hand is not logged' || shown
    when 'granted' then counted || ' ran as a rule, a mode or the tool itself allows.'
    else counted || ' ran where no rules that allow anything are known: nothing can be said of them.'
  end as reason,
  severity, project, cause, agent, tool_name, file, rule,
  cause in ('plan_file', 'never_asked', 'asked', 'not_allowed') or (cause = 'denied' and rule is null)
    or (cause = 'plan_mode' and class <> 'write') as is_inferred,
  calls, sessions, first_called_at, last_called_at, session_label, turn_id, call_id
from cause_finding
order by
  case status when 'alarm' then 0 when 'info' then 1 when 'ok' then 2 else 3 end,
  case severity when 'high' then 0 when 'medium' then 1 else 2 end,
  calls desc, project, cause, agent, tool_name, file, rule
