-- title: Calls, with what the rules decide about each
-- question: What did each call ask for, and what came of it?
-- why: Proposals and replays of settings stand on these rows, and so can your own questions.
-- grain: call
-- params: filters
-- column call_id: VARCHAR; the call
-- column called_at: BIGINT; when it was called, in Unix ms
-- column session_label: VARCHAR; the session it counts for
-- column turn_id: VARCHAR; the turn that made it
-- column origin: VARCHAR; where that session came from
-- column project: VARCHAR; the project of its turn, else of its session
-- column cwd: VARCHAR; the folder that its turn worked in
-- column is_subagent: BOOLEAN; whether a subagent made it
-- column mode: VARCHAR; the permission mode in force, in the tool's word
-- column tool_name: VARCHAR; the tool
-- column class: VARCHAR; what kind of access it was; NULL for an unknown tool
-- column target: VARCHAR; command, path, host, server or agent, as the log has it
-- column outcome: VARCHAR; what came of it, as far as the log tells
-- column is_denied: BOOLEAN; whether the outcome is a denial
-- column risks: VARCHAR; the classes of risk it falls into, with commas; NULL for none
-- column decision: VARCHAR; what the rules in force decide: allow, ask, deny, none; NULL when no rules are known
-- column rule: VARCHAR; the rule that decides
-- column reason: VARCHAR; why, in a sentence
-- column runs_by_itself: BOOLEAN; whether the tool runs it without asking when no rule decides; NULL when no rules are known
-- shown: called_at, tool_name, outcome, target, session_label, risks, decision, mode, project
-- empty: No calls yet.
-- next: --session SESSION lists those of one session; `aix audit explain CALL` explains one
-- caveat: The rules are those that an import last found, whenever the call was made.
with risks_of_call as (
  select call_id, string_agg(risk, ',' order by risk) as risks
  from (select call_id, risk from v_counted_risks group by call_id, risk) distinct_risk
  group by call_id
),
counted_call as (
  select
    call_id,
    min(called_at) as called_at,
    min(session_label) as session_label,
    min(turn_id) as turn_id,
    min(origin) as origin,
    min(project) as project,
    min(cwd) as cwd,
    bool_or(is_subagent) as is_subagent,
    min(mode) as mode,
    min(tool_name) as tool_name,
    min(class) as class,
    min(outcome) as outcome,
    bool_or(is_denied) as is_denied
  from v_counted_targets
  group by call_id
)
select
  c.call_id,
  c.called_at,
  c.session_label,
  c.turn_id,
  c.origin,
  c.project,
  c.cwd,
  c.is_subagent,
  c.mode,
  c.tool_name,
  c.class,
  d.raw_target as target,
  c.outcome,
  c.is_denied,
  r.risks,
  v.decision,
  v.rule,
  v.reason,
  v.runs_by_itself
from counted_call c
join permission_decisions d on d.call_id = c.call_id
left join risks_of_call r on r.call_id = c.call_id
left join rule_verdicts v on v.call_id = c.call_id
order by c.called_at, c.call_id
