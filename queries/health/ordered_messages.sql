-- title: The messages of a turn are numbered from 0 without gaps
-- question: In which turns are messages numbered twice or not at all?
-- why: The order of a conversation is the order of these numbers.
-- grain: turn
-- invariant: I5
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
select 'turns' as table_name, turn_id as row_id,
  'It has ' || cast(count(*) as varchar) || ' messages with ' || cast(count(distinct sequence) as varchar)
    || ' numbers from ' || cast(min(sequence) as varchar) || ' to ' || cast(max(sequence) as varchar) || '.' as reason
from messages
group by turn_id
having count(distinct sequence) <> count(*) or min(sequence) <> 0 or max(sequence) <> count(*) - 1
order by row_id
