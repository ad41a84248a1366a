-- title: Events of an agent graph have the ids that their sources give them
-- question: Which events did a source give an id that is not their hash?
-- why: The source made its ids otherwise, or the event was changed after it got its id.
-- grain: event
-- invariant: G1
-- severity: warning
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- caveat: Such an event is found by both ids.
-- rows: only with dag_events
select 'dag_events' as table_name, event_id as row_id,
  'Its source gives it the id ' || left(claimed_event_id, 100) || '.' as reason
from dag_events
where claimed_event_id <> event_id
order by row_id
