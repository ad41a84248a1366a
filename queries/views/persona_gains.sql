-- title: The permissions that one persona has and another has not
-- question: What does each persona permit that another does not?
-- why: A thread that goes on as another persona can gain permissions that it was not begun with.
-- grain: origin, both personas, kind and what is gained
-- column origin: VARCHAR; where the calls come from: the rules are read as the tool of that origin does; NULL where no such reading is known
-- column from_persona_id: VARCHAR; the persona that does not permit it
-- column to_persona_id: VARCHAR; the persona that permits it
-- column kind: VARCHAR; NULL where nothing is gained; allow, what is allowed; ask, what is asked for; deny, what is denied no more; credential, read, write, host
-- column gained: VARCHAR; the rule, credential, folder or host; `*` where there is no bound any more
-- caveat: Rules are compared by calls that stand for all they match; where none can, by their text.
-- references: docs/personas.md#audits; how permissions are compared
-- kept: for the whole ledger
-- derived: rules are compared as the documentation of each tool says, which is no SQL
select
  cast(null as varchar) as origin,
  cast(null as varchar) as from_persona_id,
  cast(null as varchar) as to_persona_id,
  cast(null as varchar) as kind,
  cast(null as varchar) as gained
where false
