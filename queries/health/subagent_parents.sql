-- title: The session that spawned a subagent is in the ledger
-- question: Which subagents have no parent session?
-- why: Their parents' logs were not imported; what they cost cannot be added to whoever spawned them.
-- grain: session
-- invariant: O4
-- severity: warning
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
select 'sessions' as table_name, s.label as row_id,
  case
    when s.parent_session_label is null then 'It is a subagent, and no log says whose.'
    else 'Its parent session ' || s.parent_session_label || ' is not in the ledger.'
  end as reason
from sessions s
where (s.is_subagent = 1 and s.parent_session_label is null)
  or (
    s.parent_session_label is not null
    and not exists (select 1 from sessions p where p.label = s.parent_session_label)
  )
order by row_id
