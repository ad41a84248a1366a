-- title: A session and the tool call that spawned it name each other
-- question: Which sessions name a spawning call that does not name them back, or that was made in another turn?
-- why: What a subagent did is added to the turn that asked for it through this link.
-- grain: session
-- invariant: O4
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
select 'sessions' as table_name, s.label as row_id,
  case
    when c.id is null then 'Its spawning call ' || s.spawn_tool_call_id || ' is not in the ledger.'
    when c.spawned_session_label is distinct from s.label
      then 'Its spawning call ' || c.id || ' does not name it as the session it spawned.'
    else 'Its spawning call ' || c.id || ' was made in the turn ' || c.turn_id || ', not in its parent turn.'
  end as reason
from sessions s
left join tool_calls c on c.id = s.spawn_tool_call_id
where s.spawn_tool_call_id is not null
  and (c.id is null or c.spawned_session_label is distinct from s.label or c.turn_id is distinct from s.parent_turn_id)
order by row_id
