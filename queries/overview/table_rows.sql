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
union all select 'requests', count(*) from requests
union all select 'prices', count(*) from prices
union all select 'model_prices', count(*) from model_prices
union all select 'turn_context', count(*) from turn_context
union all select 'session_context', count(*) from session_context
union all select 'session_turns', count(*) from session_turns
union all select 'tool_call_facts', count(*) from tool_call_facts
union all select 'message_facts', count(*) from message_facts
union all select 'file_paths', count(*) from file_paths
union all select 'inferred_values', count(*) from inferred_values
union all select 'permission_decisions', count(*) from permission_decisions
union all select 'permission_rules', count(*) from permission_rules
union all select 'import_runs', count(*) from import_runs
union all select 'import_sources', count(*) from import_sources
union all select 'import_log', count(*) from import_log
union all select 'import_problems', count(*) from import_problems
union all select 'chat_users', count(*) from chat_users
union all select 'chat_agents', count(*) from chat_agents
union all select 'chat_agent_changes', count(*) from chat_agent_changes
union all select 'chat_conversations', count(*) from chat_conversations
union all select 'chat_participants', count(*) from chat_participants
union all select 'dag_events', count(*) from dag_events
union all select 'dag_nodes', count(*) from dag_nodes
union all select 'dag_edges', count(*) from dag_edges
union all select 'programs', count(*) from programs
union all select 'program_events', count(*) from program_events
union all select 'tags', count(*) from tags
union all select 'embeddings', count(*) from embeddings
order by table_name
