-- title: What the rules of personas decide about each call
-- question: Would the persona that made a call allow it, ask for it or deny it, and by which rule?
-- why: Settings say what a tool lets pass; a persona says what its agent should do.
-- grain: call of a persona with rules
-- column call_id: VARCHAR; the call
-- column persona_id: VARCHAR; the persona of its session
-- column decision: VARCHAR; allow, ask, deny; unlisted where a list of what is allowed does not name it; none where the rules cannot be held against it
-- column kind: VARCHAR; the list of the deciding rule: allow, ask, deny; NULL where no rule decides
-- column rule: VARCHAR; the deciding rule; the first where all parts of a call must be allowed
-- column reason: VARCHAR; why, in a sentence
-- caveat: The rules are those of today's file, whenever the call was made.
-- references: docs/personas.md#what-a-persona-may-do; deny before ask before allow
-- kept: by family with permission_decisions
-- derived: matching follows the documentation of each tool, which is no SQL
select
  cast(null as varchar) as call_id,
  cast(null as varchar) as persona_id,
  cast(null as varchar) as decision,
  cast(null as varchar) as kind,
  cast(null as varchar) as rule,
  cast(null as varchar) as reason
where false
