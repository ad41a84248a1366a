-- title: Denials by rule, and whether the rules predict them
-- question: Which calls were denied, and by which rule?
-- why: A denial that no known rule predicts comes from rules that nobody has looked at.
-- grain: call_id
-- params: filters
-- column resource: VARCHAR; what the row is about
-- column status: VARCHAR; one of ok, alarm, info, skip
-- column reason: VARCHAR; why, in a sentence
-- column severity: VARCHAR; of an alarm: high, medium, low
-- column project: VARCHAR; the project
-- column origin: VARCHAR; the tool whose logs tell of it
-- column agent: VARCHAR; main, or subagent with its kind
-- column tool_name: VARCHAR; the tool
-- column decision: VARCHAR; what the rules decide: allow, ask, deny, none where no rule decides; NULL when none are known
-- column scope: VARCHAR; whose settings hold the deciding rule
-- column file: VARCHAR; its settings file
-- column rule: VARCHAR; the deciding rule
-- column evidence: VARCHAR; the text or field of the log that shows the denial, at most 500 characters
-- column is_inferred: BOOLEAN; whether the denial was concluded rather than read
-- column called_at: BIGINT; when it was called, in Unix ms
-- column session_label: VARCHAR; the session of the call
-- column turn_id: VARCHAR; its turn
-- column call_id: VARCHAR; the call
-- shown: reason, severity, tool_name, rule, scope, project, called_at
-- empty: No call was denied by a rule.
-- next: `aix audit` shows all findings with what to do about each
-- caveat: Rules of an organisation that come from a server, and those built into a tool, stand in no settings file.
-- remedy: Import the settings that hold the rule: those of the user, of the machine, or of the organisation.
-- references: docs/permissions.md#do-rules-predict-what-was-denied; predictions and outcomes compared
with denial as (
  select
    c.*,
    case
      when c.decision is null then 'unknown'
      when c.decision in ('deny', 'ask') and c.is_later_rule then 'later'
      when c.decision in ('deny', 'ask') then 'predicted'
      else 'unpredicted'
    end as state
  from v_judged_calls c
  where c.outcome = 'denied_rule'
)
select
  left(n.tool_name || coalesce(' ' || d.raw_target, ''), 200) as resource,
  case n.state
    when 'predicted' then 'ok'
    when 'later' then 'info'
    when 'unknown' then 'skip'
    else 'alarm'
  end as status,
  case n.state
    when 'predicted'
      then coalesce('The ' || n.kind || ' rule ' || left(n.rule, 200), 'What the tool does by itself')
        || ' predicts it.'
    when 'later' then 'The ' || n.kind || ' rule ' || left(n.rule, 200) || ' predicts it, but was first seen later.'
    when 'unknown' then 'No rules are known where it was called.'
    else 'Denied by a rule in no imported settings file: `' || left(n.tool_name || coalesce(' ' || d.raw_target, ''), 200) || '` ('
      || case
        when n.decision = 'allow' then 'the allow rule `' || left(n.rule, 200) || '` lets it pass'
        else 'no known rule decides about it'
      end || ').'
  end as reason,
  case when n.state = 'unpredicted' then 'low' end as severity,
  n.project, n.origin, n.agent, n.tool_name, n.decision, n.scope, n.file, n.rule,
  left(d.evidence, 500) as evidence,
  coalesce(d.is_inferred, false) as is_inferred,
  n.called_at, n.session_label, n.turn_id, n.call_id
from denial n
join permission_decisions d on d.call_id = n.call_id
order by
  case n.state when 'unpredicted' then 0 when 'later' then 1 when 'predicted' then 2 else 3 end, n.called_at, n.call_id
