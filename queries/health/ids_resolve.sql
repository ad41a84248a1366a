-- title: The query and response messages of a turn are its own, and the response is the assistant's
-- question: Which turns name messages that are not theirs, or an answer that is none?
-- why: What was asked and answered is read through these ids.
-- grain: turn and message
-- invariant: O2
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
with query_part as (
  -- An array of ids, cut at its quotes: what is neither an id of the turn's messages nor punctuation is out of place.
  select id as turn_id, trim(part) as part
  from (select id, unnest(string_split(query_message_ids, '"')) as part from turns where query_message_ids is not null)
),
query_message as (
  select turn_id, part as message_id from query_part where part not in ('[', ',', ']', '[]')
)
select 'turns' as table_name, q.turn_id as row_id,
  'Its query_message_ids hold ' || q.message_id || ', which is no message of the turn.' as reason
from query_message q
where not exists (select 1 from messages m where m.id = q.message_id and m.turn_id = q.turn_id)
union all
select 'turns', t.id,
  'Its response_message_id is ' || t.response_message_id || ', which is no assistant message of the turn.'
from turns t
where t.response_message_id is not null
  and not exists (
    select 1 from messages m where m.id = t.response_message_id and m.turn_id = t.id and m.role = 'assistant'
  )
order by row_id, reason
