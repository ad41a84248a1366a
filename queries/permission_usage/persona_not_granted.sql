-- title: Used but not granted to the persona
-- question: Which calls ran that their persona does not allow?
-- why: A persona says what an agent should do; settings let more pass than that.
-- grain: persona, cause, tool_name and rule
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column persona_id: VARCHAR; the persona
-- column cause: VARCHAR; deny, a rule denies it; unlisted, the list of what is allowed does not name it; ask, a rule asks for it; none, the rules cannot be held against it; granted for the rest
-- column tool_name: VARCHAR; the tool; NULL for what is granted
-- column rule: VARCHAR; the deciding rule
-- column is_inferred: BOOLEAN; whether the row rests on a conclusion rather than on what log and file say
-- column calls: BIGINT; calls that ran
-- column sessions: BIGINT; their sessions
-- column first_called_at: BIGINT; the first of them, in Unix ms
-- column last_called_at: BIGINT; the last of them, in Unix ms
-- column session_label: VARCHAR; the session of the last such call
-- column turn_id: VARCHAR; its turn
-- column call_id: VARCHAR; the last such call
-- shown: severity, persona_id, rule, calls, tool_name, cause, reason
-- empty: No call of a persona with rules ran.
-- next: `aix audit explain CALL` shows one call
-- caveat: Only calls with the outcome `ran` count: one that failed may never have begun.
-- caveat: The rules are those of today's file, whenever the call was made.
-- caveat: A rule that asks may have been answered with yes, which no log shows.
-- remedy: Deny in the settings of the tool what the persona does not allow, or allow it in the file of personas.
-- references: docs/personas.md#what-a-persona-may-do; deny before ask before allow
with judged_call as (
  select c.*, v.persona_id, v.decision as persona_decision, v.rule as persona_rule
  from persona_verdicts v
  join v_judged_calls c on c.call_id = v.call_id
  where c.outcome = 'ran'
),
cause_totals as (
  select
    persona_id,
    case when persona_decision = 'allow' then 'granted' else persona_decision end as cause,
    case when persona_decision <> 'allow' then tool_name end as tool_name,
    case when persona_decision <> 'allow' then persona_rule end as rule,
    count(*) as calls,
    count(distinct session_label) as sessions,
    min(called_at) as first_called_at,
    max(called_at) as last_called_at,
    max_by(session_label, call_order) as session_label,
    max_by(turn_id, call_order) as turn_id,
    max_by(call_id, call_order) as call_id
  from judged_call
  group by 1, 2, 3, 4
),
cause_finding as (
  select
    f.*,
    case f.cause
      when 'deny' then 'alarm' when 'unlisted' then 'alarm' when 'ask' then 'info' when 'none' then 'skip' else 'ok'
    end as status,
    cast(f.calls as varchar) || case when f.calls = 1 then ' call' else ' calls' end as counted,
    '; the last is `' || left(coalesce(d.raw_target, f.tool_name), 200) || '`.' as shown
  from cause_totals f
  left join permission_decisions d on d.call_id = f.call_id
)
select
  left(persona_id || coalesce(': ' || coalesce(rule, tool_name), ''), 200) as resource,
  status,
  case cause
    when 'deny' then counted || ' ran although the deny rule ' || left(coalesce(rule, ''), 200) || ' of the persona '
      || persona_id || ' forbids it' || shown
    when 'unlisted' then counted || ' of ' || tool_name || ' ran that the persona ' || persona_id
      || ' does not list as allowed' || shown
    when 'ask' then counted || ' ran that the rule ' || left(coalesce(rule, ''), 200) || ' of the persona '
      || persona_id || ' asks for, and an answer is not logged' || shown
    when 'none' then 'The rules of the persona ' || persona_id || ' could not be held against ' || counted || shown
    else counted || ' ran that the persona ' || persona_id || ' allows.'
  end as reason,
  case when status = 'alarm' then case cause when 'deny' then 'high' else 'medium' end end as severity,
  persona_id, cause, tool_name, rule,
  cause = 'ask' as is_inferred,
  calls, sessions, first_called_at, last_called_at, session_label, turn_id, call_id
from cause_finding
order by
  case status when 'alarm' then 0 when 'info' then 1 when 'ok' then 2 else 3 end,
  case cause when 'deny' then 0 else 1 end,
  calls desc, persona_id, cause, tool_name, rule
