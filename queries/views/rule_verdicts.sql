-- title: What the rules decide about each call
-- question: Would the settings in force allow a call, ask for it or deny it, and by which rule?
-- why: Compared with what happened it shows what was granted by hand, and what went past the rules.
-- grain: call for which rules are known
-- column call_id: VARCHAR; the call
-- column decision: VARCHAR; allow, ask, deny, or none where no rule decides
-- column scope: VARCHAR; whose settings hold the deciding rule
-- column file: VARCHAR; its settings file
-- column kind: VARCHAR; what it does: allow, ask, deny
-- column rule: VARCHAR; the deciding rule as it is written; the first where all parts of a call must be allowed
-- column reason: VARCHAR; why, in a sentence
-- column runs_by_itself: BOOLEAN; whether the tool runs it without asking when no rule decides
-- column rule_set: VARCHAR; hash of the rules that were in force for the call
-- caveat: The rules are those that an import last found, whenever the call was made.
-- caveat: A call without a row has no known rules: nothing can be said of it.
-- references: docs/permissions.md#how-they-decide; the order of deny, ask and allow
-- kept: by family with permission_decisions
-- derived: matching follows the documentation of each tool, which is no SQL
select
  cast(null as varchar) as call_id,
  cast(null as varchar) as decision,
  cast(null as varchar) as scope,
  cast(null as varchar) as file,
  cast(null as varchar) as kind,
  cast(null as varchar) as rule,
  cast(null as varchar) as reason,
  cast(null as boolean) as runs_by_itself,
  cast(null as varchar) as rule_set
where false
