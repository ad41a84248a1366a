-- title: The events of a run are numbered without gaps, and time goes forward
-- question: Which events have a number twice, after a gap, or an earlier time than the event before?
-- why: A run is one line of events; a number that is missing or there twice shows a log that lost or doubled some.
-- grain: event
-- invariant: G2
-- severity: warning
-- column table_name: VARCHAR; the table of the offending row
-- column row_id: VARCHAR; the key of the row; the parts of a key of several columns are a JSON array
-- column reason: VARCHAR; what is wrong with it
-- rows: only with dag_events
with numbered_event as (
  select
    event_id, agent_id, run_id, seq, occurred_at,
    count(*) over (partition by agent_id, run_id, seq) as copies,
    lag(seq) over (partition by agent_id, run_id order by seq nulls last, place) as seq_before,
    -- Events without a time say nothing about time.
    lag(occurred_at) over (partition by agent_id, run_id, occurred_at is null order by place) as occurred_before
  from v_dag_events
  where run_id is not null
),
-- Numbers that edges give to one event.
stated_number as (
  select n.event_id, e.src as run_id,
    count(distinct coalesce(json_extract_string(e.payload_json, '$.seq'), json_extract_string(e.payload_json, '$.attrs.seq')))
      as numbers
  from dag_edges e
  join v_dag_event_names n on n.name = e.dst
  where e.type = 'RUN_HAS_EVENT' and e.valid_to is null
  group by n.event_id, e.src
),
judged_event as (
  select
    event_id,
    case
      when seq is not null and copies > 1
        then cast(copies as varchar) || ' events of the run ' || left(run_id, 100) || ' have the number '
          || cast(seq as varchar) || '.'
      when seq > seq_before + 1
        then 'It has the number ' || cast(seq as varchar) || ' in the run ' || left(run_id, 100)
          || ', and the one before has ' || cast(seq_before as varchar) || '.'
      when occurred_at < occurred_before
        then 'It is in the run ' || left(run_id, 100) || ' after an event that happened '
          || cast(occurred_before - occurred_at as varchar) || ' ms later.'
    end as reason
  from numbered_event
)
select 'dag_events' as table_name, event_id as row_id, reason
from judged_event
where reason is not null
union all
select 'dag_events', event_id, 'The run ' || left(run_id, 100) || ' gives it ' || cast(numbers as varchar) || ' numbers.'
from stated_number
where numbers > 1
order by row_id, reason
