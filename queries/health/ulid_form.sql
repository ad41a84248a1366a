-- title: The ids of turns, messages and requests have the form of a ULID
-- question: Which ids are not 26 characters of Crockford's alphabet?
-- why: An id is made of what its row stands for; one of another form was made elsewhere and will not meet its copies.
-- grain: row
-- invariant: T2
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
with checked_id as (
  select 'turns' as table_name, id as row_id from turns
  union all select 'messages', id from messages
  union all select 'requests', id from requests
)
select table_name, row_id, 'Its id is not 26 characters of Crockford''s alphabet for 128 bits.' as reason
from checked_id
where not regexp_matches(row_id, '^[0-7][0-9A-HJKMNP-TV-Z]{25}$')
order by table_name, row_id
