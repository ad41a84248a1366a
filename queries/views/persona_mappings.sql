-- title: The sessions that personas are given to
-- question: Which sessions does the user's file give to which persona?
-- why: Logs name the tool, or the agent, and not in whose name it worked.
-- grain: mapping and combination of what it names
-- column position: BIGINT; place of the mapping in the file, from 0; the first that fits counts
-- column persona_id: VARCHAR; the persona
-- column origin: VARCHAR; where the session must come from; NULL for anywhere
-- column workspace: VARCHAR; the folder that it must have begun in, or below; NULL for any
-- column agent: VARCHAR; the persona, or the kind of subagent, that its log must name; NULL for any
-- references: docs/personas.md#which-sessions-are-its-own; how a mapping fits
-- kept: for the whole ledger
-- derived: it is read from the user's file
select
  cast(null as bigint) as position,
  cast(null as varchar) as persona_id,
  cast(null as varchar) as origin,
  cast(null as varchar) as workspace,
  cast(null as varchar) as agent
where false
