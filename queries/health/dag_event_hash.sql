-- title: The id of an event of an agent graph is the hash of what it says
-- question: Which events have another id than the hash of their payload?
-- why: The id makes an event the same wherever it comes from; AIX computes it, so another one is damage.
-- grain: event
-- invariant: G1
-- severity: hard
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- rows: only with dag_events
select 'dag_events' as table_name, event_id as row_id,
  'The hash of its payload is ' || sha256(payload_json) || '.' as reason
from dag_events
where sha256(payload_json) <> event_id
order by row_id
