-- title: The lifecycles of programs
-- question: From which state to which may a program of a type change?
-- why: A change that its type does not allow is a mistake of the writer, or of the one that changed it.
-- grain: program_type, from_state and to_state
-- column program_type: VARCHAR; the type of program
-- column from_state: VARCHAR; the state before; NULL for the state in which a program begins
-- column to_state: VARCHAR; the state after
-- references: docs/programs.md#lifecycles; states and changes of each type
with step (program_type, from_state, to_state) as (
  values
    ('code', '', 'draft'), ('code', 'draft', 'published'), ('code', 'published', 'deprecated'),
    ('provider', '', 'draft'), ('provider', 'draft', 'published'), ('provider', 'published', 'deprecated'),
    ('model', '', 'draft'), ('model', 'draft', 'published'), ('model', 'published', 'deprecated'),
    ('session', '', 'created'), ('session', 'created', 'active'), ('session', 'active', 'paused'),
    ('session', 'paused', 'active'), ('session', 'active', 'completed'), ('session', 'paused', 'completed'),
    ('agent', '', 'idle'), ('agent', 'idle', 'thinking'), ('agent', 'thinking', 'executing'),
    ('agent', 'executing', 'thinking'), ('agent', 'executing', 'waiting'), ('agent', 'thinking', 'waiting'),
    ('agent', 'waiting', 'thinking'), ('agent', 'waiting', 'executing'), ('agent', 'waiting', 'paused'),
    ('agent', 'thinking', 'paused'), ('agent', 'executing', 'paused'), ('agent', 'paused', 'thinking'),
    ('agent', 'thinking', 'error'), ('agent', 'executing', 'error'), ('agent', 'waiting', 'error'),
    ('agent', 'paused', 'error'), ('agent', 'thinking', 'idle'), ('agent', 'executing', 'idle'),
    ('agent', 'waiting', 'idle'), ('agent', 'paused', 'idle'), ('agent', 'error', 'idle'),
    ('agent', 'thinking', 'completed'), ('agent', 'executing', 'completed'), ('agent', 'waiting', 'completed'),
    ('agent', 'completed', 'idle'), ('agent', 'completed', 'thinking'),
    ('task', '', 'pending'), ('task', 'pending', 'active'), ('task', 'active', 'completed'),
    ('task', 'active', 'failed'), ('task', 'active', 'blocked'), ('task', 'blocked', 'active'),
    ('task', 'active', 'pending'), ('task', 'blocked', 'pending'),
    ('information', '', 'draft'), ('information', 'draft', 'validated'), ('information', 'validated', 'active'),
    ('information', 'active', 'archived'), ('information', 'archived', 'active'),
    ('human', '', 'available'), ('human', 'available', 'busy'), ('human', 'busy', 'available'),
    ('human', 'busy', 'away'), ('human', 'available', 'away'), ('human', 'away', 'available'),
    ('human', 'available', 'offline'), ('human', 'busy', 'offline'), ('human', 'away', 'offline'),
    ('human', 'offline', 'available')
)
select program_type, nullif(from_state, '') as from_state, to_state from step
