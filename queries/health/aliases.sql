-- title: Every alias stands for a session and is not itself the label of one
-- question: Which aliases lead nowhere, or hide a session?
-- why: A session is found by its label first, then by its aliases; an alias never leads to an alias.
-- grain: alias
-- invariant: O5
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
select 'session_aliases' as table_name, a.alias as row_id,
  'It stands for ' || a.session_label || ', which is the label of no session.' as reason
from session_aliases a
where not exists (select 1 from sessions s where s.label = a.session_label)
union all
select 'session_aliases', a.alias, 'It is the label of a session.'
from session_aliases a
where exists (select 1 from sessions s where s.label = a.alias)
order by row_id, reason
