-- title: The risks of each call
-- question: Which commands and paths fall into a class of risk?
-- why: Few of all calls can do harm; an audit begins with these.
-- grain: call, target and risk
-- column call_id: VARCHAR; the call
-- column number: BIGINT; the target, as in call_parts
-- column risk: VARCHAR; the class of risk
-- column severity: VARCHAR; how bad it can be: high, medium, low
-- column risk_rule: VARCHAR; the rule of the risk file that says so
-- column basis: VARCHAR; exact where the words of the call say so, else inferred
-- caveat: Commands are judged as they are written: what a script does is not seen.
-- references: docs/permissions.md#risks; the classes of risk
-- kept: by family with permission_decisions
-- derived: a file of rules, which is no SQL, says what is risky
select
  cast(null as varchar) as call_id,
  cast(null as bigint) as number,
  cast(null as varchar) as risk,
  cast(null as varchar) as severity,
  cast(null as varchar) as risk_rule,
  cast(null as varchar) as basis
where false
