-- title: Rules that change nothing
-- question: Which rules can never decide, or only what another rule decides already?
-- why: They give a wrong picture of what is allowed, and can go.
-- grain: rule and remark
-- column origin: VARCHAR; whose rule it is
-- column scope: VARCHAR; whose settings hold it
-- column file: VARCHAR; the settings file
-- column kind: VARCHAR; what it does: allow, ask, deny
-- column rule: VARCHAR; the rule as it is written
-- column remark: VARCHAR; unreachable where it never decides, shadowed where a stronger rule comes first, redundant where another does the same
-- column by_rule: VARCHAR; the other rule
-- column by_file: VARCHAR; the settings file of the other rule
-- column reason: VARCHAR; why, in a sentence
-- caveat: A rule that several others cover together is not found.
-- caveat: Where more than 2,000 rules are in force, or more than 100,000 characters of them, they are not compared with each other.
-- kept: by family with permission_rules
-- derived: matching follows the documentation of each tool, which is no SQL
select
  cast(null as varchar) as origin,
  cast(null as varchar) as scope,
  cast(null as varchar) as file,
  cast(null as varchar) as kind,
  cast(null as varchar) as rule,
  cast(null as varchar) as remark,
  cast(null as varchar) as by_rule,
  cast(null as varchar) as by_file,
  cast(null as varchar) as reason
where false
