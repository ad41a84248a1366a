-- title: Ids of events of agent graphs
-- question: Which event does an id stand for, be it computed or claimed?
-- why: Sources refer to events by the ids that they gave them, and these may be wrong.
-- grain: id
-- column name: VARCHAR; the hash of an event, or the id that the source gives it
-- column event_id: VARCHAR; the event
-- caveat: An id that is the hash of one event and that another claims stands for the first. One that several claim stands for the first by hash.
-- rows: only with dag_events
select event_id as name, event_id
from dag_events
union all
select c.claimed_event_id, min(c.event_id)
from dag_events c
where c.claimed_event_id is not null
  and not exists (select 1 from dag_events e where e.event_id = c.claimed_event_id)
group by c.claimed_event_id
