-- title: The permissions of personas
-- question: What may each persona of the user's file do?
-- why: Audits compare it with what was done.
-- grain: persona, kind and position
-- column persona_id: VARCHAR; the persona
-- column kind: VARCHAR; allow, ask or deny, of a rule on tools; credential; read, write or host, of the sandbox
-- column position: BIGINT; its place in the list, from 0
-- column value: VARCHAR; the rule, the name of a credential, a folder or `workspace`, or a host
-- references: docs/personas.md#the-file; how a persona is described
-- kept: for the whole ledger
-- derived: it is read from the user's file
select
  cast(null as varchar) as persona_id,
  cast(null as varchar) as kind,
  cast(null as bigint) as position,
  cast(null as varchar) as value
where false
