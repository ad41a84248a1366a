-- title: The rules that match each call
-- question: Which rules of the settings in force speak of a call, or of a part of it?
-- why: A rule that nothing matches is not needed; one that matches much may be wider than what it is used for.
-- grain: call and rule
-- column call_id: VARCHAR; the call
-- column origin: VARCHAR; whose rules they are
-- column scope: VARCHAR; whose settings hold the rule
-- column file: VARCHAR; the settings file
-- column kind: VARCHAR; what the rule does: allow, ask, deny
-- column rule: VARCHAR; the rule as it is written
-- column is_deciding: BOOLEAN; whether the decision about the call rests on it
-- column narrow_rule: VARCHAR; the narrow rules that would match what this one matched, each on a line; NULL when there are none
-- column rule_set: VARCHAR; hash of the rules that were in force for the call
-- caveat: The rules are those that an import last found, whenever the call was made.
-- references: docs/permissions.md#how-they-decide; when a rule matches
-- kept: by family with permission_decisions
-- derived: matching follows the documentation of each tool, which is no SQL
select
  cast(null as varchar) as call_id,
  cast(null as varchar) as origin,
  cast(null as varchar) as scope,
  cast(null as varchar) as file,
  cast(null as varchar) as kind,
  cast(null as varchar) as rule,
  cast(null as boolean) as is_deciding,
  cast(null as varchar) as narrow_rule,
  cast(null as varchar) as rule_set
where false
