-- title: Every message but the assistant's says who or what sent it
-- question: Which messages have no source, and which assistant messages have one?
-- why: Whether a human or a machine asked is told by this column.
-- grain: message
-- invariant: O3
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
select 'messages' as table_name, id as row_id,
  case
    when source is null then 'It has the role ' || role || ' and no source.'
    else 'It is the assistant''s own and has the source ' || source || '.'
  end as reason
from messages
where (role = 'assistant' and source is not null) or (role <> 'assistant' and source is null)
order by row_id
