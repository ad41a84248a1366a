-- title: The rules that settings hold
-- question: What does each rule do, how wide is it, and where does it hold?
-- why: Every audit of rules begins with these rows.
-- grain: rule
-- column origin: VARCHAR; whose rule it is
-- column scope: VARCHAR; whose settings hold it
-- column file: VARCHAR; the settings file
-- column kind: VARCHAR; what it does: allow, ask, deny, directory
-- column rule: VARCHAR; the rule as it is written
-- column position: BIGINT; place in its list, from 0
-- column first_seen_at: BIGINT; when it was first seen, in Unix ms
-- column folder: VARCHAR; the folder in which it holds, with all below; NULL where that is everywhere
-- column is_tool_wide: BOOLEAN; whether it speaks of all that a tool or a server can do
-- caveat: Rules of a project hold below the folder of their settings, those of a user below the home that holds them.
-- caveat: Default modes and switches of a tool are no rules, and are left out.
select r.origin, r.scope, r.file, r.kind, r.rule, r.position, r.first_seen_at, f.folder, f.is_tool_wide
from permission_rules r
join rules_in_force f
  on f.origin = r.origin and f.scope = r.scope and f.file = r.file and f.kind = r.kind and f.rule = r.rule
where r.kind <> 'mode'
