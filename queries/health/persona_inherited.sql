-- title: A subagent has the persona of the session that spawned it
-- question: Which subagents have another persona than their parent?
-- why: What a persona may do holds for all that it delegates.
-- grain: session
-- invariant: O6
-- severity: warning
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: A log may name the agent that did the work as the persona; then a subagent has its own, and that is right.
-- references: docs/personas.md#which-sessions-are-its-own; the persona of a session
select 'sessions' as table_name, s.label as row_id,
  'It has the persona ' || c.persona_id || ', and its parent ' || p.label || ' has ' || f.persona_id || '.' as reason
from sessions s
join sessions p on p.label = s.parent_session_label
join v_session_personas c on c.session_label = s.label
join v_session_personas f on f.session_label = p.label
where s.is_subagent = 1 and c.persona_id <> f.persona_id
order by row_id
