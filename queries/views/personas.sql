-- title: The personas of the user's file
-- question: Which personas does the file of personas describe?
-- why: Who an agent is, and what it may do, stands in no log.
-- grain: persona
-- column persona_id: VARCHAR; the persona
-- column name: VARCHAR; the name that is shown
-- column soul: VARCHAR; who it is, in a few words
-- column emoji: VARCHAR; its sign
-- column model: VARCHAR; the model that it thinks with by default
-- column thinking: VARCHAR; how much it thinks by default
-- column max_tokens: BIGINT; the longest answer by default
-- column temperature: DOUBLE; the temperature by default
-- column main_session: VARCHAR; the label or an alias of its main session, as the file states it
-- column has_tool_list: BOOLEAN; whether it lists the calls that are allowed, and so allows no other
-- column has_credential_list: BOOLEAN; whether it lists the credentials that may be used
-- column has_read_list: BOOLEAN; whether it lists the folders that may be read
-- column has_write_list: BOOLEAN; whether it lists the folders that may be written to
-- column has_host_list: BOOLEAN; whether it lists the hosts that may be reached
-- column file_hash: VARCHAR; hash of the file that says so
-- references: docs/personas.md#the-file; how a persona is described
-- kept: for the whole ledger
-- derived: it is read from the user's file
select
  cast(null as varchar) as persona_id,
  cast(null as varchar) as name,
  cast(null as varchar) as soul,
  cast(null as varchar) as emoji,
  cast(null as varchar) as model,
  cast(null as varchar) as thinking,
  cast(null as bigint) as max_tokens,
  cast(null as double) as temperature,
  cast(null as varchar) as main_session,
  cast(null as boolean) as has_tool_list,
  cast(null as boolean) as has_credential_list,
  cast(null as boolean) as has_read_list,
  cast(null as boolean) as has_write_list,
  cast(null as boolean) as has_host_list,
  cast(null as varchar) as file_hash
where false
