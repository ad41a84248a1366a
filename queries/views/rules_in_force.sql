-- title: The rules that are in force
-- question: Which rules did the latest readings of settings files show, where do they hold, and how wide are they?
-- why: A rule that its file no longer holds decides nothing.
-- grain: rule
-- column origin: VARCHAR; whose rule it is
-- column scope: VARCHAR; whose settings hold it
-- column file: VARCHAR; the settings file
-- column kind: VARCHAR; what it does: allow, ask, deny, directory, mode
-- column rule: VARCHAR; the rule as it is written
-- column folder: VARCHAR; the folder in which it holds, with all below; NULL where that is everywhere
-- column is_tool_wide: BOOLEAN; whether it speaks of all that a tool or a server can do
-- caveat: Of a file that is gone, or could not be read, the last known rules stay in force.
-- references: docs/permissions.md#which-are-in-force; where a rule holds
-- kept: by family with permission_rules
-- derived: where a rule holds and what it speaks of follows the documentation of each tool, which is no SQL
select
  cast(null as varchar) as origin,
  cast(null as varchar) as scope,
  cast(null as varchar) as file,
  cast(null as varchar) as kind,
  cast(null as varchar) as rule,
  cast(null as varchar) as folder,
  cast(null as boolean) as is_tool_wide
where false
