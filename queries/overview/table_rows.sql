-- title: Rows by table
-- question: How many rows does each table of the ledger hold?
-- why: Shows at a glance what was imported, and what the sources did not have.
-- grain: table
-- column table_name: VARCHAR; the table
-- column row_count: BIGINT; how many rows it holds
select 'turns' as table_name, count(*) as row_count from turns
union all select 'threads', count(*) from threads
union all select 'sessions', count(*) from sessions
union all select 'messages', count(*) from messages
union all select 'tool_calls', count(*) from tool_calls
union all select 'compactions', count(*) from compactions
union all select 'session_history', count(*) from session_history
union all select 'session_aliases', count(*) from session_aliases
union all select 'message_files', count(*) from message_files
union all select 'message_lints', count(*) from message_lints
union all select 'message_codeblocks', count(*) from message_codeblocks
order by table_name
