-- title: The calls that a question counts, each with what the rules decide about it
-- question: What would the settings that are known decide about each call, and what became of it?
-- why: Every comparison of rules with their use is a sum over these rows.
-- grain: call
-- params: filters
-- column call_id: VARCHAR; the call
-- column called_at: BIGINT; when it was called, in Unix ms
-- column call_order: VARCHAR; orders calls by time, those of one moment by id
-- column turn_id: VARCHAR; the turn that made it
-- column session_label: VARCHAR; the session it counts for
-- column origin: VARCHAR; where that session came from
-- column project: VARCHAR; the project of its turn, else of its session; unknown when neither is known
-- column cwd: VARCHAR; the folder that its turn worked in
-- column is_subagent: BOOLEAN; whether a subagent made it
-- column agent: VARCHAR; main, or subagent with its kind
-- column mode: VARCHAR; the permission mode in force, in the tool's word
-- column tool_name: VARCHAR; the tool
-- column class: VARCHAR; what kind of access it was
-- column target: VARCHAR; its first target
-- column is_outside: BOOLEAN; whether this is a path outside the workspace; NULL when that cannot be told
-- column outcome: VARCHAR; what became of it
-- column is_denied: BOOLEAN; whether that is a denial
-- column decision: VARCHAR; allow, ask, deny, none where no rule decides; NULL when no rules are known
-- column scope: VARCHAR; whose settings hold the deciding rule
-- column file: VARCHAR; its settings file
-- column kind: VARCHAR; what it does
-- column rule: VARCHAR; the deciding rule as it is written
-- column runs_by_itself: BOOLEAN; whether the tool runs it without asking when no rule decides; NULL when no rules are known
-- column is_grant_known: BOOLEAN; whether rules that allow something are known where it was called
-- column is_later_rule: BOOLEAN; whether the deciding rule was first seen after the call
with place_with_allow_rules as (
  select origin, cwd from v_rule_places where allow_rules > 0 group by origin, cwd
)
select
  c.call_id,
  c.called_at,
  right('00000000000000' || cast(c.called_at as varchar), 15) || ' ' || c.call_id as call_order,
  c.turn_id,
  c.session_label,
  c.origin,
  coalesce(c.project, 'unknown') as project,
  c.cwd,
  c.is_subagent,
  case when c.is_subagent then 'subagent ' || coalesce(c.agent_type, 'of unknown kind') else 'main' end as agent,
  c.mode,
  c.tool_name,
  c.class,
  c.target,
  c.is_outside,
  c.outcome,
  c.is_denied,
  v.decision,
  v.scope,
  v.file,
  v.kind,
  v.rule,
  v.runs_by_itself,
  v.decision is not null and a.cwd is not null as is_grant_known,
  coalesce(r.first_seen_at > c.called_at, false) as is_later_rule
from v_counted_targets c
left join rule_verdicts v on v.call_id = c.call_id
left join permission_rules r
  on r.origin = c.origin and r.scope = v.scope and r.file = v.file and r.kind = v.kind and r.rule = v.rule
left join place_with_allow_rules a on a.origin = c.origin and a.cwd = c.cwd
where c.number = 0
